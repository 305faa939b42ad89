/** Images for hosts that cannot pull any: made of Debian and npm packages, with the interface of those they stand for. */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import type { Container } from "../../../lib/catalog/schema.ts";
import { must } from "../../support.ts";

const base = "debian:bookworm-slim";
const prefix = "stackwright-proof";
const images = import.meta.dir;
/** Image references that this engine has. */
async function present(): Promise<Set<string>> {
  return new Set((await must(["docker", "image", "ls", "--format", "{{.Repository}}:{{.Tag}}"])).split("\n"));
}

/** Builds an image unless the engine has it. `files`: what the Dockerfile copies, by name. */
export async function build(tag: string, dockerfile: string, files: Record<string, string> = {}): Promise<void> {
  if ((await present()).has(tag)) return;
  const context = await mkdtemp(`${tmpdir()}/stackwright-image-`);
  try {
    for (const [name, source] of Object.entries(files)) await must(["cp", "-a", source, `${context}/${name}`]);
    await Bun.write(`${context}/Dockerfile`, dockerfile);
    await must(["docker", "build", "-q", "-t", tag, context], { env: { DOCKER_BUILDKIT: "0" } });
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}

/** A Dockerfile that adds lines to the base image. */
export const fromBase = (...lines: string[]) => [`FROM ${base}`, ...lines].join("\n");
/** The line that installs packages of Debian. */
export const install = (packages: string) =>
  `RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ${packages} >/dev/null && rm -rf /var/lib/apt/lists/*`;
const hide = (...programs: string[]) => `RUN for p in ${programs.join(" ")}; do rm -f /usr/bin/$p /bin/$p /usr/local/bin/$p; done`;
const entrypoint =
  'COPY entrypoint.sh /usr/local/bin/docker-entrypoint.sh\nRUN chmod 755 /usr/local/bin/docker-entrypoint.sh\nENTRYPOINT ["docker-entrypoint.sh"]';

/**
 * Images that Debian has the real software for, made to honour the interface of the official ones: entrypoint, variables, user,
 * folders, and the tools inside and only those.
 */
const real: Record<string, (tag: string) => Promise<void>> = {
  redis: (tag) =>
    build(
      tag,
      `FROM ${base}\n${install("redis-server")}\nRUN mkdir -p /data && chown redis:redis /data\n${hide("bash", "perl", "curl")}\nVOLUME /data\nWORKDIR /data\n${entrypoint}\nCMD ["redis-server"]`,
      { "entrypoint.sh": `${images}/redis.sh` },
    ),
  "valkey/valkey": (tag) =>
    build(
      tag,
      `FROM ${base}\n${install("redis-server")}\nRUN mkdir -p /data && chown redis:redis /data && ln -s redis-server /usr/bin/valkey-server && ln -s redis-cli /usr/bin/valkey-cli\n${hide("bash", "perl", "curl")}\nWORKDIR /data\n${entrypoint}\nCMD ["valkey-server"]`,
      { "entrypoint.sh": `${images}/redis.sh` },
    ),
  postgres: (tag) => postgres(tag, ""),
  "pgvector/pgvector": (tag) =>
    postgres(
      tag,
      `RUN cd /usr/share/postgresql/15/extension && printf "comment = 'stands for pgvector'\\ndefault_version = '1'\\nrelocatable = true\\ntrusted = true\\n" > vector.control && printf 'select 1;\\n' > vector--1.sql\n`,
    ),
  mariadb: (tag) =>
    build(
      tag,
      `FROM ${base}\n${install("mariadb-server mariadb-client")}\nCOPY healthcheck.sh /usr/local/bin/healthcheck.sh\nRUN rm -rf /var/lib/mysql && install -d -o mysql -g mysql /var/lib/mysql /run/mysqld && chmod 755 /usr/local/bin/healthcheck.sh\n${hide("curl", "wget")}\n${entrypoint}\nCMD ["mariadbd"]`,
      {
        "entrypoint.sh": `${images}/mariadb.sh`,
        "healthcheck.sh": `${images}/mariadb-healthcheck.sh`,
      },
    ),
  caddy: (tag) =>
    build(
      tag,
      `FROM ${base}\n${install("wget ca-certificates")}\nCOPY caddy /usr/bin/caddy\nENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data\nRUN mkdir -p /config/caddy /data/caddy /etc/caddy /srv\n${hide("bash", "curl", "perl")}\nWORKDIR /srv\nCMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]`,
      {
        caddy: Bun.which("caddy") ?? "caddy",
      },
    ),
  nginx: (tag) =>
    build(
      tag,
      `FROM ${base}\n${install("nginx-light curl openssl")}\nRUN useradd -r nginx && mkdir -p /docker-entrypoint.d && rm -f /etc/nginx/sites-enabled/*\n${hide("wget", "perl")}\n${entrypoint}\nSTOPSIGNAL SIGQUIT\nCMD ["nginx", "-g", "daemon off;"]`,
      {
        "entrypoint.sh": `${images}/nginx.sh`,
      },
    ),
  traefik: (tag) =>
    build(tag, `FROM ${base}\n${install("wget ca-certificates")}\nCOPY traefik /usr/local/bin/traefik\nENTRYPOINT ["traefik"]\n`, {
      traefik: Bun.which("traefik") ?? "traefik",
    }),
  "certbot/certbot": (tag) => build(tag, `FROM ${base}\n${install("certbot")}\n${hide("bash", "curl", "perl")}\nENTRYPOINT ["certbot"]`),
  // For jobs that hand volumes over; they run as they stand in the catalog.
  busybox: (tag) => build(tag, fromBase(install("busybox"), 'CMD ["sh"]')),
  "prom/prometheus": (tag) =>
    build(
      tag,
      `FROM ${base}\n${install("prometheus wget")}\nRUN ln -s /usr/bin/prometheus /bin/prometheus 2>/dev/null; install -d -o nobody -g nogroup /prometheus /etc/prometheus && mkdir -p /usr/share/prometheus\n${hide("bash", "curl", "perl")}\nUSER nobody\nWORKDIR /prometheus\nENTRYPOINT ["/bin/prometheus"]\nCMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]`,
    ),
  "eclipse-mosquitto": (tag) =>
    build(
      tag,
      `FROM ${base}\n${install("mosquitto mosquitto-clients")}\nRUN mkdir -p /mosquitto/config /mosquitto/data /mosquitto/log && chown -R mosquitto:mosquitto /mosquitto\n${hide("bash", "curl", "perl", "wget")}\nCOPY entrypoint.sh /docker-entrypoint.sh\nRUN chmod 755 /docker-entrypoint.sh\nENTRYPOINT ["/docker-entrypoint.sh"]\nCMD ["/usr/sbin/mosquitto", "-c", "/mosquitto/config/mosquitto.conf"]`,
      {
        "entrypoint.sh": `${images}/mosquitto.sh`,
      },
    ),
  rabbitmq: (tag) =>
    build(
      tag,
      `FROM ${base}\n${install("rabbitmq-server wget")}\nENV PATH=/usr/lib/rabbitmq/bin:$PATH HOME=/var/lib/rabbitmq RABBITMQ_LOGS=-\nRUN printf '[rabbitmq_management,rabbitmq_prometheus].\\n' > /etc/rabbitmq/enabled_plugins && rm -rf /var/lib/rabbitmq && install -d -o rabbitmq -g rabbitmq /var/lib/rabbitmq\n${hide("curl")}\n${entrypoint}\nCMD ["rabbitmq-server"]`,
      { "entrypoint.sh": `${images}/rabbitmq.sh` },
    ),
  "ghcr.io/openclaw/openclaw": gateway,
};

function postgres(tag: string, more: string): Promise<void> {
  return build(
    tag,
    `FROM ${base}\n${install("postgresql-15 postgresql-contrib")}\nENV PATH=/usr/lib/postgresql/15/bin:$PATH PGDATA=/var/lib/postgresql/data\n${more}RUN rm -rf /var/lib/postgresql/15 && install -d -o postgres -g postgres -m 700 /var/lib/postgresql/data\n${hide("curl")}\nSTOPSIGNAL SIGINT\n${entrypoint}\nCMD ["postgres"]`,
    { "entrypoint.sh": `${images}/postgres.sh` },
  );
}

/** The real gateway: the npm package on a Node that it accepts, both from the package registry. */
async function gateway(tag: string): Promise<void> {
  if ((await present()).has(tag)) return;
  const cache = `${tmpdir()}/stackwright-proof-gateway`;
  const version = tag.slice(tag.lastIndexOf(":") + 1);
  const quiet = { npm_config_fund: "false", npm_config_audit: "false", npm_config_update_notifier: "false", npm_config_loglevel: "error" };
  if (!(await Bun.file(`${cache}/node_modules/openclaw/package.json`).exists())) {
    await mkdir(cache, { recursive: true });
    await Bun.write(`${cache}/package.json`, "{}");
    await must(["npm", "install", "--prefix", cache, "node@26"], { cwd: cache, env: quiet });
    await must(["npm", "install", "--prefix", cache, `openclaw@${version}`], {
      cwd: cache,
      env: { ...quiet, PATH: `${cache}/node_modules/.bin:${process.env.PATH}` },
    });
  }
  await build(
    tag,
    `FROM ${base}
${install("ca-certificates curl git libatomic1")}
RUN useradd -u 1000 -m node && install -d -o node -g node /home/node/.openclaw
COPY --chown=node:node node_modules /app/node_modules
RUN ln -s /app/node_modules/node/bin/node /usr/local/bin/node && ln -s node_modules/openclaw/openclaw.mjs /app/openclaw.mjs && printf '#!/bin/sh\\nexec node /app/openclaw.mjs "$@"\\n' > /usr/local/bin/openclaw && chmod 755 /usr/local/bin/openclaw
WORKDIR /app
USER node
CMD ["node", "openclaw.mjs", "gateway", "--allow-unconfigured"]`,
    { node_modules: `${cache}/node_modules` },
  );
}

/** Packages that bring a tool that a catalog entry says is in an image. */
const toolPackages: Record<string, string> = {
  curl: "curl",
  wget: "wget",
  nc: "netcat-openbsd",
  python3: "python3",
  python: "python3",
  php: "php-cli",
  ruby: "ruby",
  openssl: "openssl",
};

let standinBase: Promise<void> | undefined;

/**
 * Makes an image that stands for an application: the stand-in program, and the tools that the catalog says are inside.
 * Layers that images share come first; what is an image's own is one layer, as each takes the engine about a second.
 */
async function standin(tag: string, container: Container | undefined): Promise<void> {
  standinBase ??= (async () => {
    if ((await present()).has(`${prefix}-standin:2`)) return;
    const binary = `${tmpdir()}/stackwright-standin`;
    await must(["bun", "build", "--compile", `${images}/standin.ts`, "--outfile", binary]);
    await build(`${prefix}-standin:2`, `FROM ${base}\nCOPY standin /standin\nRUN chmod 755 /standin && ln -s /standin /standin-probe`, {
      standin: binary,
    });
  })();
  await standinBase;
  const tools = container?.image.tools ?? ["sh"];
  const node = tools.includes("node") || tools.includes("bun");
  const packages = [...new Set([...tools.flatMap((tool) => toolPackages[tool] ?? []), ...(node ? ["libatomic1"] : [])])].sort();
  const user = container?.image.user ?? "root";
  const users = [user, container?.user?.split(":")[0] ?? "root"].filter((name) => !/^\d+$/.test(name));
  // A path that the image is not known to have belongs to root when a volume is mounted there.
  const folders = container?.image.writable ?? [];
  const programs = new Set<string>();
  for (const tool of tools)
    if (!(tool in toolPackages) && !["sh", "bash", "node", "bun", "perl"].includes(tool))
      programs.add(tool.startsWith("/") ? tool : `/usr/local/bin/${tool}`);
  const check = container?.healthcheck;
  const probe = check && "command" in check ? check.command[0] : undefined;
  if (probe?.startsWith("/")) programs.add(probe);
  const lines = [`FROM ${prefix}-standin:2`];
  if (packages.length > 0) lines.push(install(packages.join(" ")));
  if (node) lines.push("COPY --from=stackwright-proof-node:1 /node /usr/local/bin/node", "RUN ln -sf node /usr/local/bin/bun");
  const own: string[] = [];
  for (const name of users) own.push(`{ id ${name} >/dev/null 2>&1 || useradd -m ${name}; }`);
  for (const program of programs)
    own.push(`mkdir -p ${program.replace(/\/[^/]*$/, "") || "/"} && { [ -e ${program} ] || ln -s /standin ${program}; }`);
  for (const folder of folders) own.push(`mkdir -p ${folder} && chown ${/^\d+$/.test(user) ? `${user}:${user}` : user} ${folder}`);
  const absent = [
    ...["curl", "wget", "bash", "perl"].filter((tool) => !tools.includes(tool)),
    ...(tools.some((tool) => tool === "sh" || tool === "bash" || tool === "/bin/sh") ? [] : ["sh"]),
  ];
  own.push(`rm -f ${absent.map((name) => `/usr/bin/${name} /bin/${name}`).join(" ")}`);
  lines.push(`RUN ${own.join(" && ")}`);
  if (user !== "root" && !container?.image.dropsPrivileges) lines.push(`USER ${user}`);
  lines.push('ENTRYPOINT ["/standin"]');
  if (node) await build(`${prefix}-node:1`, `FROM ${base}\nCOPY node /node`, { node: await nodeBinary() });
  await build(tag, lines.join("\n"));
}

/** Makes the image of a container of a stack. True: only a stand-in could be made. */
export async function makeImage(image: string, container: Container | undefined): Promise<boolean> {
  const repository = image.slice(0, image.lastIndexOf(":"));
  const make = repository === "traefik" && Bun.which("traefik") === null ? undefined : real[repository];
  if (make) await make(image);
  else await standin(image, container);
  return make === undefined;
}

async function nodeBinary(): Promise<string> {
  const cached = `${tmpdir()}/stackwright-proof-gateway/node_modules/node/bin/node`;
  return (await Bun.file(cached).exists()) ? cached : (Bun.which("node") ?? "node");
}
