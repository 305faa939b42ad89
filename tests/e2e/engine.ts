/** A real Docker Engine for proofs: images, stacks, and what is asked of them. */
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { parse } from "yaml";
import type { Container } from "../../lib/catalog/schema.ts";
import { catalog, root, run, start } from "../support.ts";

/** Runs a program; fails with its output when it fails. */
export async function must(command: string[], options: Parameters<typeof run>[1] = {}): Promise<string> {
  const { code, stdout, stderr } = await run(command, options);
  if (code !== 0) throw new Error(`${command.join(" ").slice(0, 300)} exited with ${code}\n${stdout.slice(-3000)}\n${stderr.slice(-3000)}`);
  return stdout;
}

const base = "debian:bookworm-slim";
const prefix = "stackwright-proof";
const images = `${import.meta.dir}/images`;
/** Stands for Compose's tag that empties a list. */
const reset = "(reset)";

/** Image references that this engine has. */
async function present(): Promise<Set<string>> {
  return new Set((await must(["docker", "image", "ls", "--format", "{{.Repository}}:{{.Tag}}"])).split("\n"));
}

async function build(tag: string, dockerfile: string, files: Record<string, string> = {}): Promise<void> {
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

const install = (packages: string) =>
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
  caddy: async (tag) =>
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
  traefik: async (tag) => {
    const binary = Bun.which("traefik");
    if (binary)
      await build(tag, `FROM ${base}\n${install("wget ca-certificates")}\nCOPY traefik /usr/local/bin/traefik\nENTRYPOINT ["traefik"]\n`, {
        traefik: binary,
      });
    else await standin(tag, undefined);
  },
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
  python3: "python3-minimal",
  python: "python3-minimal",
  php: "php-cli",
  ruby: "ruby",
  openssl: "openssl",
};

let standinBase: Promise<void> | undefined;

/** Makes an image that stands for an application: the stand-in program, and the tools that the catalog says are inside. */
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
  const packages = [...new Set(tools.flatMap((tool) => toolPackages[tool] ?? []))].sort();
  const node = tools.includes("node") || tools.includes("bun");
  const user = container?.image.user ?? "root";
  const named = !/^\d+$/.test(user) && !["root", "nobody", "www-data", "daemon"].includes(user);
  const folders = container?.volumes.flatMap((volume) => ("name" in volume ? [volume.target] : [])) ?? [];
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
  if (named) lines.push(`RUN id ${user} >/dev/null 2>&1 || useradd -m ${user}`);
  for (const program of programs)
    lines.push(`RUN mkdir -p ${program.replace(/\/[^/]*$/, "") || "/"} && { [ -e ${program} ] || ln -s /standin ${program}; }`);
  for (const folder of folders) lines.push(`RUN mkdir -p ${folder} && chown ${/^\d+$/.test(user) ? `${user}:${user}` : user} ${folder}`);
  const shells = [
    !tools.includes("bash") && "bash",
    !tools.includes("perl") && "perl",
    !tools.some((tool) => tool === "sh" || tool === "bash" || tool === "/bin/sh") && "sh",
  ].filter(Boolean);
  const absent = ["curl", "wget"].filter((tool) => !tools.includes(tool));
  if (shells.length + absent.length > 0)
    lines.push(`RUN ["/bin/sh", "-c", "rm -f ${[...absent, ...shells].map((name) => `/usr/bin/${name} /bin/${name}`).join(" ")}"]`);
  if (user !== "root" && !container?.image.dropsPrivileges) lines.push(`USER ${user}`);
  lines.push('ENTRYPOINT ["/standin"]');
  if (node) await build(`${prefix}-node:1`, `FROM ${base}\nCOPY node /node`, { node: await nodeBinary() });
  await build(tag, lines.join("\n"));
}

async function nodeBinary(): Promise<string> {
  const cached = `${tmpdir()}/stackwright-proof-gateway/node_modules/node/bin/node`;
  return (await Bun.file(cached).exists()) ? cached : (Bun.which("node") ?? "node");
}

/** Whether this host can pull images; asked once. */
let pulls: Promise<boolean> | undefined;
const canPull = () =>
  (pulls ??= run(["timeout", "20", "docker", "pull", "-q", "busybox:1.37"]).then(
    ({ code }) => code === 0 && Bun.env.PROOF_IMAGES !== "local",
  ));

/** An unpacked stack on a real engine. */
export interface Stack extends AsyncDisposable {
  readonly folder: string;
  readonly project: string;
  readonly script: (name: string, ...args: string[]) => Promise<{ code: number; stdout: string; stderr: string }>;
  readonly compose: (...args: string[]) => Promise<string>;
  readonly env: () => Promise<Record<string, string>>;
  readonly containers: () => Promise<{ name: string; state: string; health: string; exitCode: number }[]>;
  /** Writes further settings into `.env`. */
  readonly set: (settings: Record<string, string>) => Promise<void>;
  readonly standins: readonly string[];
}

/** Generates a stack through the real server, unpacks its archive with tar, and makes its images (those of `only`). */
export async function unpack(request: Record<string, unknown>, into?: string, only?: readonly string[]): Promise<Stack> {
  await using server = start();
  const response = await server.post("/api/v1/generate", { ...request, format: "tar" });
  if (response.status !== 200) throw new Error(await response.text());
  const folder = into ?? (await mkdtemp(`${tmpdir()}/stackwright-stack-`));
  await must(["tar", "-xzf", "-", "-C", folder, "--strip-components", "1"], { stdin: await response.bytes() });
  const compose = parse(await Bun.file(`${folder}/docker-compose.yml`).text(), { merge: true, maxAliasCount: -1 }) as {
    name: string;
    services: Record<string, { image: string }>;
  };
  const standins: string[] = [];
  if (!(await canPull())) {
    const override: Record<string, object> = {};
    const known = new Map(
      [...catalog.services.values(), ...catalog.catalog.proxies].flatMap((service) => Object.entries(service.containers)),
    );
    for (const [name, { image }] of Object.entries(compose.services)) {
      if (only && !only.includes(name)) continue;
      const repository = image.slice(0, image.lastIndexOf(":"));
      const make = real[repository];
      if (make && !(repository === "traefik" && !Bun.which("traefik"))) {
        await make(image);
        continue;
      }
      const container = known.get(name);
      await standin(image, container);
      standins.push(name);
      const ports = container?.ports ?? [];
      const check = container?.healthcheck;
      const probed = check && "http" in check ? [check.port] : [];
      const http = [
        ...new Set([...probed, ...ports.filter((port) => port.scheme === "http" || port.scheme === "https").map((port) => port.container)]),
      ];
      const tcp = [
        ...new Set([
          ...(check && "tcp" in check ? [check.tcp] : []),
          ...ports.filter((port) => port.scheme === "tcp").map((port) => port.container),
        ]),
      ].filter((port) => !http.includes(port));
      const writable =
        container && !container.image.dropsPrivileges && container.user === undefined
          ? container.volumes.flatMap((volume) => ("name" in volume && !volume.readOnly ? [volume.target] : []))
          : [];
      override[name] = {
        // Start scripts and checks that know the application's own words say nothing about a stand-in.
        entrypoint: ["/standin"],
        command: [],
        ...(check && "shell" in check ? { healthcheck: { test: ["CMD", "/standin-probe"] } } : {}),
        environment: {
          STANDIN_NAME: name,
          STANDIN_PORTS: http.join(" "),
          STANDIN_TCP: tcp.join(" "),
          STANDIN_WRITABLE: writable.join(" "),
          ...(container?.oneShot ? { STANDIN_ONESHOT: "1" } : {}),
        },
        // What the host may not be able to give is not what the proofs are about.
        ...(container?.privileged ? { privileged: false } : {}),
        ...(container && container.devices.length > 0 ? { devices: reset } : {}),
      };
    }
    if (Object.keys(override).length > 0)
      await Bun.write(
        `${folder}/docker-compose.override.yml`,
        JSON.stringify({ services: override }).replaceAll(JSON.stringify(reset), "!reset []"),
      );
    else await rm(`${folder}/docker-compose.override.yml`, { force: true });
  }
  const stack: Stack = {
    folder,
    project: compose.name,
    standins,
    script: (name, ...args) => run([`${folder}/scripts/${name}.sh`, ...args], { cwd: "/", env: { START_TIMEOUT: "420" } }),
    compose: (...args) => must(["docker", "compose", ...args], { cwd: folder }),
    async env() {
      const text = await Bun.file(`${folder}/.env`).text();
      return Object.fromEntries(
        text
          .split("\n")
          .flatMap((line) => (/^[A-Z]/.test(line) ? [[line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]] : [])),
      );
    },
    async containers() {
      const ids = (await must(["docker", "compose", "ps", "-aq"], { cwd: folder })).split("\n").filter(Boolean);
      if (ids.length === 0) return [];
      const details = JSON.parse(await must(["docker", "inspect", ...ids])) as {
        Config: { Labels: Record<string, string> };
        State: { Status: string; ExitCode: number; Health?: { Status: string } };
      }[];
      return details.map(({ Config, State }) => ({
        name: Config.Labels["com.docker.compose.service"] ?? "",
        state: State.Status,
        health: State.Health?.Status ?? "none",
        exitCode: State.ExitCode,
      }));
    },
    async set(settings) {
      const path = `${folder}/.env`;
      let text = (await Bun.file(path).exists()) ? await Bun.file(path).text() : "";
      for (const [name, value] of Object.entries(settings))
        text = `${text.replace(new RegExp(`^${name}=.*\n`, "m"), "")}${name}=${value}\n`;
      await Bun.write(path, text);
      await chmod(path, 0o600);
    },
    async [Symbol.asyncDispose]() {
      if (Bun.env.PROOF_KEEP) return;
      await run(["docker", "compose", "down", "-v", "--remove-orphans", "-t", "3"], { cwd: folder });
      await rm(folder, { recursive: true, force: true });
    },
  };
  return stack;
}

export { root };
