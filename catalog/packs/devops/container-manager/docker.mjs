// Containers of the host, through Portainer. Run without arguments for the usage.
import { parseArgs } from "node:util";

const usage = `usage:
  node docker.mjs list [--all]              running containers (--all: stopped ones too)
  node docker.mjs show NAME                 state, image, health, restarts, limits, mounts, networks (no variables)
  node docker.mjs logs NAME [--tail 200] [--since 30m]
  node docker.mjs stats [NAME]              CPU and memory now
  node docker.mjs restart|stop|start NAME --yes
  node docker.mjs disk                      space of images, containers, volumes
  --environment ID                          another environment of Portainer than the first`;
const fail = (message, code = 1) => {
  console.error(message);
  process.exit(code);
};
const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean", default: false },
    tail: { type: "string", default: "200" },
    since: { type: "string" },
    yes: { type: "boolean", default: false },
    environment: { type: "string" },
  },
});
const [command, name] = positionals;
const base = (process.env.PORTAINER_URL ?? fail("PORTAINER_URL is not set")).replace(/\/$/, "");
let headers = {};

async function call(path, { method = "GET", body, raw = false } = {}) {
  const response = await fetch(`${base}/api${path}`, {
    method,
    headers: { ...headers, ...(body && !(body instanceof FormData) ? { "content-type": "application/json" } : {}) },
    body: body instanceof FormData ? body : body && JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  }).catch((error) => fail(`Portainer does not answer: ${error.cause?.code ?? error.message}`));
  if (!response.ok) {
    const text = await response.text();
    let message = text;
    try {
      const answer = JSON.parse(text);
      message = [answer.message, answer.details].filter(Boolean).join(": ");
    } catch {}
    throw Object.assign(new Error(`Portainer answered ${response.status}: ${message.slice(0, 300)}`), { status: response.status });
  }
  if (response.status === 204) return undefined;
  return raw ? Buffer.from(await response.arrayBuffer()) : response.json().catch(() => undefined);
}

async function login() {
  if (process.env.PORTAINER_API_KEY) headers = { "x-api-key": process.env.PORTAINER_API_KEY };
  else {
    const { jwt } = await call("/auth", { method: "POST", body: { username: process.env.PORTAINER_USER ?? "admin", password: process.env.PORTAINER_PASSWORD } });
    headers = { authorization: `Bearer ${jwt}` };
  }
  if (o.environment) return Number(o.environment);
  const found = await call("/endpoints?limit=50");
  if (found.length > 0) return (found.find(({ URL: url }) => url?.startsWith("unix:")) ?? found[0]).Id;
  // A fresh Portainer has no environment until somebody opens its page: add the local engine, as that page does.
  const form = new FormData();
  form.append("Name", "local");
  form.append("EndpointCreationType", "1");
  return (await call("/endpoints", { method: "POST", body: form })).Id;
}

const titleOf = (container) => (container.Names?.[0] ?? container.Name ?? "").replace(/^\//, "");
const megabytes = (bytes) => Math.round((bytes ?? 0) / 2 ** 20);

async function find(docker, wanted) {
  if (!wanted) fail(usage, 2);
  const all = await docker("/containers/json?all=1");
  const exact = all.filter((one) => titleOf(one) === wanted || one.Id.startsWith(wanted) || one.Labels?.["com.docker.compose.service"] === wanted);
  const near = exact.length > 0 ? exact : all.filter((one) => titleOf(one).includes(wanted));
  if (near.length === 1) return near[0];
  return fail(near.length === 0 ? `no container "${wanted}"` : `several containers fit: ${near.map(titleOf).join(", ")}`);
}

/** Log streams of containers without a terminal come in frames of 8 bytes head and text. */
function unframe(bytes) {
  if (bytes.length < 8 || bytes[0] > 2 || bytes.readUInt32BE(0) % 0x1000000 !== 0) return bytes.toString();
  const parts = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at + 4);
    parts.push(bytes.subarray(at + 8, at + 8 + length));
    at += 8 + length;
  }
  return Buffer.concat(parts).toString();
}

async function statsOf(docker, container) {
  const s = await docker(`/containers/${container.Id}/stats?stream=false`);
  const used = s.cpu_stats.cpu_usage.total_usage - (s.precpu_stats.cpu_usage?.total_usage ?? 0);
  const total = s.cpu_stats.system_cpu_usage - (s.precpu_stats.system_cpu_usage ?? 0);
  const memory = (s.memory_stats.usage ?? 0) - (s.memory_stats.stats?.inactive_file ?? 0);
  return { name: titleOf(container), cpuPercent: total > 0 ? Math.round((used / total) * (s.cpu_stats.online_cpus ?? 1) * 1000) / 10 : null, memoryMB: megabytes(memory), limitMB: megabytes(s.memory_stats.limit), processes: s.pids_stats?.current };
}

try {
  if (!["list", "show", "logs", "stats", "restart", "stop", "start", "disk"].includes(command)) fail(usage, 2);
  const environment = await login();
  const docker = (path, options) => call(`/endpoints/${environment}/docker${path}`, options);
  if (command === "list") {
    const rows = await docker(`/containers/json?all=${o.all ? 1 : 0}`);
    for (const one of rows.sort((a, b) => titleOf(a).localeCompare(titleOf(b)))) console.log([titleOf(one), one.State, one.Status, one.Image].join(" | "));
  } else if (command === "show") {
    const c = await docker(`/containers/${(await find(docker, name)).Id}/json`);
    console.log(
      JSON.stringify(
        {
          name: titleOf(c),
          image: c.Config.Image,
          state: c.State.Status,
          health: c.State.Health?.Status ?? null,
          lastHealthOutput: c.State.Health?.Log?.at(-1)?.Output?.slice(0, 300),
          started: c.State.StartedAt,
          finished: c.State.FinishedAt,
          exitCode: c.State.ExitCode,
          outOfMemory: c.State.OOMKilled,
          error: c.State.Error || undefined,
          restarts: c.RestartCount,
          memoryLimitMB: megabytes(c.HostConfig.Memory) || null,
          command: c.Config.Cmd,
          mounts: c.Mounts.map((mount) => `${mount.Name ?? mount.Source} -> ${mount.Destination}${mount.RW ? "" : " (read-only)"}`),
          ports: Object.entries(c.NetworkSettings.Ports ?? {}).flatMap(([port, hosts]) => (hosts ?? []).map((host) => `${host.HostIp}:${host.HostPort} -> ${port}`)),
          networks: Object.keys(c.NetworkSettings.Networks),
        },
        null,
        1,
      ),
    );
  } else if (command === "logs") {
    const container = await find(docker, name);
    const span = /^(\d+)([smhd])$/.exec(o.since ?? "");
    if (o.since && !span) fail("--since takes 45s, 30m, 2h or 1d");
    const since = span ? Math.floor(Date.now() / 1000) - Number(span[1]) * { s: 1, m: 60, h: 3600, d: 86_400 }[span[2]] : 0;
    console.log(unframe(await docker(`/containers/${container.Id}/logs?stdout=1&stderr=1&timestamps=1&tail=${encodeURIComponent(o.tail)}&since=${since}`, { raw: true })));
  } else if (command === "stats") {
    const chosen = name ? [await find(docker, name)] : await docker("/containers/json");
    const rows = await Promise.all(chosen.map((one) => statsOf(docker, one).catch((error) => ({ name: titleOf(one), error: error.message }))));
    console.table(rows.sort((a, b) => (b.memoryMB ?? 0) - (a.memoryMB ?? 0)));
  } else if (command === "disk") {
    const d = await docker("/system/df");
    const sum = (list, field) => megabytes(list?.reduce((total, one) => total + Math.max(0, field(one) ?? 0), 0));
    console.log(JSON.stringify({ imagesMB: megabytes(d.LayersSize), unusedImagesMB: sum(d.Images?.filter((image) => image.Containers === 0), (image) => image.Size - (image.SharedSize > 0 ? image.SharedSize : 0)), containersMB: sum(d.Containers, (one) => one.SizeRw), volumesMB: sum(d.Volumes, (one) => one.UsageData?.Size), buildCacheMB: sum(d.BuildCache, (one) => one.Size), largestVolumes: (d.Volumes ?? []).map((one) => ({ name: one.Name, MB: megabytes(one.UsageData?.Size) })).sort((a, b) => b.MB - a.MB).slice(0, 10) }, null, 1));
  } else {
    const container = await find(docker, name);
    if (!o.yes) fail(`would ${command} ${titleOf(container)}; add --yes after the user has agreed`);
    await docker(`/containers/${container.Id}/${command}${command === "start" ? "" : "?t=30"}`, { method: "POST" });
    console.log(`${command}: ${titleOf(container)}`);
  }
} catch (error) {
  fail(error.message);
}
