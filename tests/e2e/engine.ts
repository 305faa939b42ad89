/** A real Docker Engine for proofs: images, stacks, and what is asked of them. */
import { expect } from "bun:test";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { parse } from "yaml";
import type { Container } from "../../lib/catalog/schema.ts";
import type { Addresses, PlannedProxy } from "../../lib/stack/routes.ts";
import { catalog, must, run, start } from "../support.ts";
import { makeImage } from "./images/build.ts";

/** Stands for Compose's tag that takes a value away. */
const reset = "(reset)";

/** Whether this host can pull images; asked once. */
let pulls: Promise<boolean> | undefined;
const canPull = () =>
  (pulls ??= run(["timeout", "20", "docker", "pull", "-q", "busybox:1.37"]).then(
    ({ code }) => code === 0 && Bun.env.PROOF_IMAGES !== "local",
  ));

const containers = new Map(
  [...catalog.services.values(), ...catalog.catalog.proxies].flatMap((service) => Object.entries(service.containers)),
);

type Override = { healthcheck?: object } & Record<string, unknown>;

/** What a stand-in is told in place of what its application would be. */
function asStandin(name: string, container: Container | undefined, job: boolean): Override {
  const ports = container?.ports ?? [];
  const check = container?.healthcheck;
  const web = ports.filter((port) => port.scheme === "http" || port.scheme === "https").map((port) => port.container);
  const http = new Set([...(check && "http" in check ? [check.port] : []), ...web]);
  const tcp = new Set([
    ...(check && "tcp" in check ? [check.tcp] : []),
    ...ports.filter((port) => port.scheme === "tcp").map((port) => port.container),
  ]);
  const writable =
    container && !container.image.dropsPrivileges && container.user === undefined
      ? container.volumes.flatMap((volume) => ("name" in volume && !volume.readOnly ? [volume.target] : []))
      : [];
  return {
    // Start scripts and checks that know the application's own words say nothing about a stand-in.
    entrypoint: ["/standin"],
    command: [],
    ...(check && "shell" in check ? { healthcheck: { test: ["CMD", "/standin-probe"] } } : {}),
    environment: {
      STANDIN_NAME: name,
      STANDIN_PORTS: [...http].join(" "),
      STANDIN_TCP: [...tcp.difference(http)].join(" "),
      STANDIN_WRITABLE: writable.join(" "),
      ...(job ? { STANDIN_ONESHOT: "1" } : {}),
    },
    // What the host may not be able to give.
    ...(container?.privileged ? { privileged: false } : {}),
    ...(container && container.devices.length > 0 ? { devices: reset } : {}),
  };
}

/** An unpacked stack on a real engine. */
export interface Stack extends AsyncDisposable {
  readonly folder: string;
  readonly project: string;
  readonly script: (name: string, ...args: string[]) => Promise<{ code: number; stdout: string; stderr: string }>;
  readonly compose: (...args: string[]) => Promise<string>;
  /** Removes the containers, and with `-v` the volumes; an engine that holds on to the empty network is in nobody's way. */
  readonly down: (...args: string[]) => Promise<void>;
  readonly env: () => Promise<Record<string, string>>;
  readonly containers: () => Promise<{ name: string; state: string; health: string; exitCode: number }[]>;
  /** Writes further settings into `.env`. */
  readonly set: (settings: Record<string, string>) => Promise<void>;
  readonly standins: readonly string[];
}

/** How `unpack` prepares a stack. */
export interface Unpacking {
  /** The folder to unpack into; a new one unless given. */
  readonly into?: string;
  /** The containers whose images are needed; all unless given. */
  readonly only?: readonly string[];
  /** Seconds between health checks, in place of those of the stack. */
  readonly interval?: number;
}

/** Generates a stack through the real server, unpacks its archive with tar, and makes the images that cannot be pulled. */
export async function unpack(request: Record<string, unknown>, { into, only, interval }: Unpacking = {}): Promise<Stack> {
  await using server = start();
  const response = await server.post("/api/v1/generate", { ...request, format: "tar" });
  if (response.status !== 200) throw new Error(await response.text());
  const folder = into ?? (await mkdtemp(`${tmpdir()}/stackwright-stack-`));
  await must(["tar", "-xzf", "-", "-C", folder, "--strip-components", "1"], { stdin: await response.bytes() });
  const compose = parse(await Bun.file(`${folder}/docker-compose.yml`).text(), { merge: true, maxAliasCount: -1 }) as {
    name: string;
    services: Record<string, { image: string; healthcheck?: object; restart?: string }>;
  };
  const standins: string[] = [];
  const override: Record<string, Override> = {};
  const local = !(await canPull());
  for (const [name, { image, healthcheck, restart }] of Object.entries(compose.services)) {
    if (only && !only.includes(name)) continue;
    const own: Override = {};
    const container = containers.get(name);
    if (local) {
      if (await makeImage(image, container)) {
        standins.push(name);
        Object.assign(own, asStandin(name, container, restart === "no"));
      }
      // A host that can pull nothing may not be able to give what servers ask for, and it is not what the proofs are about.
      if (container && Object.keys(container.ulimits).length > 0) own.ulimits = reset;
    }
    if (interval !== undefined && healthcheck) own.healthcheck = { ...own.healthcheck, interval: `${interval}s` };
    if (Object.keys(own).length > 0) override[name] = own;
  }
  const path = `${folder}/docker-compose.override.yml`;
  if (Object.keys(override).length > 0)
    await Bun.write(path, JSON.stringify({ services: override }).replaceAll(JSON.stringify(reset), "!reset null"));
  else await rm(path, { force: true });
  const stack: Stack = {
    folder,
    project: compose.name,
    standins,
    script: (name, ...args) => run([`${folder}/scripts/${name}.sh`, ...args], { cwd: "/", env: { START_TIMEOUT: "420" } }),
    compose: (...args) => must(["docker", "compose", ...args], { cwd: folder }),
    async down(...args) {
      const command = ["docker", "compose", "down", ...args];
      if ((await run(command, { cwd: folder })).code === 0) return;
      await Bun.sleep(1000);
      const { code, stderr } = await run(command, { cwd: folder });
      if (code === 0) return;
      const mine = ["-q", "--filter", `label=com.docker.compose.project=${compose.name}`];
      const left = await must(["docker", "ps", "-a", ...mine]);
      const kept = args.includes("-v") ? await must(["docker", "volume", "ls", ...mine]) : "";
      if (left || kept) throw new Error(stderr);
    },
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

/** Host ports of the proxy in proofs; a certificate authority of its own, as no public one can see this host. */
export const httpPort = "18080";
export const httpsPort = "18443";
export const localPorts = { HTTP_PORT: httpPort, HTTPS_PORT: httpsPort, CADDY_GLOBAL_OPTIONS: "local_certs" };

/** Asks through the proxy of a stack, as a client that knows the name would. Status 0: no answer. */
export async function ask(scheme: string, host: string, path = "/", ...more: string[]) {
  const port = scheme === "https" ? httpsPort : httpPort;
  const { stdout, code } = await run([
    "curl",
    "-sk",
    "--max-time",
    "20",
    "--resolve",
    `${host}:${port}:127.0.0.1`,
    "-w",
    "\n%{http_code}",
    ...more,
    `${scheme}://${host}:${port}${path}`,
  ]);
  const end = stdout.lastIndexOf("\n");
  return { status: code === 0 || code === 28 ? Number(stdout.slice(end + 1)) : 0, body: stdout.slice(0, end) };
}

/** Asks for a name that is routed: just after the start, a proxy may still be making the certificate of the name. */
export async function askRouted(scheme: string, host: string, path = "/") {
  const deadline = Date.now() + 15_000;
  for (;;) {
    const answer = await ask(scheme, host, path);
    if (answer.status !== 0 || Date.now() > deadline) return answer;
    await Bun.sleep(500);
  }
}

/** What makes curl ask for a WebSocket; it stays open until the time is over. */
export const upgrade = [
  "--http1.1",
  "-H",
  "Connection: Upgrade",
  "-H",
  "Upgrade: websocket",
  "-H",
  "Sec-WebSocket-Version: 13",
  "-H",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "--max-time",
  "3",
  "-o",
  "/dev/null",
];

/** Whether this host can connect. */
async function connects(host: string, port: number): Promise<boolean> {
  const { code } = await run(["timeout", "2", "bash", "-c", `: </dev/tcp/${host}/${port}`]);
  return code === 0;
}

/** Runs `start.sh` and sees that every container is well; seconds that it took. */
export async function startedWell(stack: Stack): Promise<number> {
  const started = performance.now();
  const { code, stdout, stderr } = await stack.script("start");
  if (code !== 0) {
    const sick = (await stack.containers()).filter(
      ({ state, health, exitCode }) => health === "unhealthy" || state === "restarting" || exitCode !== 0 || health === "starting",
    );
    const logs = await Promise.all(
      sick.map(
        async ({ name }) =>
          `--- ${name}\n${(await run(["docker", "compose", "logs", "--tail", "25", name], { cwd: stack.folder })).stdout}`,
      ),
    );
    throw new Error(`start.sh exited with ${code}\n${stdout.slice(-1500)}\n${stderr.slice(-1500)}\n${logs.join("\n")}`);
  }
  for (const { name, state, health, exitCode } of await stack.containers()) {
    if (state === "exited") expect({ name, exitCode }).toEqual({ name, exitCode: 0 });
    else expect({ name, state, sick: health === "unhealthy" || health === "starting" }).toEqual({ name, state: "running", sick: false });
  }
  return (performance.now() - started) / 1000;
}

/**
 * Sees that every published port takes connections on loopback, and that from elsewhere only the proxy does. Elsewhere is a
 * container on another network: the host's neighbour.
 */
export async function exposesNoMore(addresses: Addresses, proxy: PlannedProxy | undefined): Promise<void> {
  const published = addresses.all.flatMap(({ kind, hostPort, port }) =>
    kind === "published" && hostPort !== undefined && port.scheme !== "udp" ? [hostPort] : [],
  );
  for (const port of published) expect({ port, open: await connects("127.0.0.1", port) }).toEqual({ port, open: true });
  const proxyPorts = [Number(httpPort), Number(httpsPort)];
  const tried = [...published, ...proxyPorts];
  const open = proxy && proxy.reach !== "local" ? proxyPorts : [];
  const script = `hex=$(awk '$2 == "00000000" { print $3; exit }' /proc/net/route)
host=$((16#\${hex:6:2})).$((16#\${hex:4:2})).$((16#\${hex:2:2})).$((16#\${hex:0:2}))
for port in ${tried.join(" ")}; do if timeout 2 bash -c ": </dev/tcp/$host/$port" 2>/dev/null; then echo $port; fi; done`;
  const answered = await must(["docker", "run", "--rm", "--network", "bridge", "debian:bookworm-slim", "bash", "-c", script]);
  expect(answered.split("\n").filter(Boolean).map(Number)).toEqual(open);
}
