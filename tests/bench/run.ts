/**
 * `bun run bench [--quick] [--binary] [--root DIR]`: the service against a bare `Bun.serve` handler that returns the same bytes,
 * one process each, in the same run, over real HTTP. Prints Markdown. With `--binary`, `dist/stackwright` is measured against a
 * compiled bare handler instead of `bun server.ts` against `bun bare.ts`; with `--root`, another checkout.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { indexCatalog } from "../../lib/catalog/index.ts";
import { loadCatalog } from "../../lib/catalog/load.ts";
import { freePort, must, startProcess } from "../support.ts";
import { selections, sizeName, sizes } from "./cases.ts";
import { generator, load } from "./load.ts";

const quick = Bun.argv.includes("--quick");
const root = Bun.argv.includes("--root") ? (Bun.argv[Bun.argv.indexOf("--root") + 1] as string) : `${import.meta.dir}/../..`;
const rounds = quick ? 3 : 5;
const seconds = quick ? 1 : 2;
const connections = 32;
const index = indexCatalog(await loadCatalog(`${root}/catalog`));
const folder = await mkdtemp(`${tmpdir()}/stackwright-bench-`);
const program = Bun.argv.includes("--binary") ? [`${root}/dist/stackwright`] : ["bun", `${root}/server.ts`];
const startService = () =>
  startProcess({ LOG_LEVEL: "error", LIMIT_READ: "1000000000", LIMIT_WRITE: "1000000000", LIMIT_GENERATE: "1000000000" }, program);
const bareBinary = `${folder}/bare`;
await must(["bun", "build", "--compile", "--minify", "--bytecode", "--format=esm", `${import.meta.dir}/bare.ts`, "--outfile", bareBinary]);
const startBare = (env: Record<string, string>) =>
  startProcess(env, Bun.argv.includes("--binary") ? [bareBinary] : ["bun", `${import.meta.dir}/bare.ts`]);

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

const shown = (value: number) => (value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3));
const row = (...cells: (string | number)[]) =>
  console.log(`| ${cells.map((cell) => (typeof cell === "number" ? shown(cell) : cell)).join(" | ")} |`);

function heading(title: string, ...columns: string[]): void {
  console.log(`\n### ${title}\n`);
  row(...columns);
  row(...columns.map((_, column) => (column === 0 ? "---" : "---:")));
}

interface Case {
  readonly name: string;
  readonly path: string;
  readonly bodies?: readonly string[];
}

const stack = (services: readonly string[], more: object = {}) =>
  JSON.stringify({ name: "stack #", services, proxy: "caddy", domain: "stack.example.com", ...more });

const cases: Case[] = [
  { name: "health", path: "/api/v1/health" },
  { name: "services", path: "/api/v1/services" },
  { name: "presets/minimal", path: "/api/v1/presets/minimal" },
  { name: "validate, 20 services", path: "/api/v1/validate", bodies: selections(index, 20).map((services) => stack(services)) },
];
for (const size of sizes) {
  if (quick && size !== 20) continue;
  for (const format of ["json", "tar"]) {
    const chosen = selections(index, size);
    const bodies = chosen.map((services) => stack(services, { format }));
    cases.push({ name: `generate ${format}, ${sizeName(size)}, cold`, path: "/api/v1/generate", bodies });
    if (size === 20)
      cases.push({
        name: `generate ${format}, ${sizeName(size)}, warm`,
        path: "/api/v1/generate",
        bodies: [(bodies[0] as string).replace("#", "")],
      });
  }
}

function resident(pid: number): Promise<number> {
  return Bun.file(`/proc/${pid}/status`)
    .text()
    .then((text) => Number(/VmRSS:\s+(\d+)/.exec(text)?.[1]) / 1024);
}

console.log(
  `Bun ${Bun.version}, ${cpus().length} × ${cpus()[0]?.model}; load by ${generator}, ${connections} connections, medians of ${rounds} rounds.`,
);

heading("Requests per second, one process", "request", "bytes", "bare", "service", "ratio");
{
  await using service = await startService();
  const idle = await resident(service.process.pid);
  const memory: [string, number, number][] = [];
  for (const { name, path, bodies } of cases) {
    const first = await fetch(
      service.url + path,
      bodies ? { method: "POST", headers: { "Content-Type": "application/json" }, body: bodies[0]?.replace("#", "0") as string } : {},
    );
    const bytes = await first.bytes();
    if (!first.ok) throw new Error(`${name}: ${first.status} ${new TextDecoder().decode(bytes).slice(0, 300)}`);
    await Bun.write(`${folder}/body`, bytes);
    await using bare = await startBare({ BODY_FILE: `${folder}/body`, BODY_TYPE: first.headers.get("content-type") ?? "" });
    const found: { bare: number[]; service: number[] } = { bare: [], service: [] };
    for (let round = 0; round <= rounds; round++) {
      for (const [side, url] of [
        ["bare", bare.url],
        ["service", service.url],
      ] as const) {
        const { perSecond, failed } = await load({ url, path, bodies, connections, seconds });
        if (failed > 0) throw new Error(`${name}: ${failed} requests to ${side} failed`);
        // The first round warms both up.
        if (round > 0) found[side].push(perSecond);
      }
    }
    row(name, bytes.byteLength, median(found.bare), median(found.service), (median(found.service) / median(found.bare)).toFixed(2));
    memory.push([name, await resident(bare.process.pid), await resident(service.process.pid)]);
  }
  heading("Resident memory under load, MB", "after", "bare", "service", "ratio");
  await using bare = await startBare({});
  row("start", await resident(bare.process.pid), idle, (idle / (await resident(bare.process.pid))).toFixed(2));
  for (const [name, a, b] of memory) row(name, a, b, (b / a).toFixed(2));
}

heading(
  "CPU time of one generate without HTTP, ms",
  "services",
  "JSON bytes",
  "tar bytes",
  "packed",
  "json",
  "tar",
  "gzip -6 alone",
  "tar / gzip",
);
{
  const child = Bun.spawn(["bun", `${import.meta.dir}/cpu.ts`, root], { stdout: "pipe", stderr: "inherit" });
  for (const { size, jsonBytes, tarBytes, packed, json, tar, gzip } of (await child.stdout.json()) as Record<string, number>[]) {
    row(
      String(size),
      jsonBytes as number,
      tarBytes as number,
      packed as number,
      json as number,
      tar as number,
      gzip as number,
      ((tar as number) / (gzip as number)).toFixed(2),
    );
  }
}

heading("Time to the first answer, ms", "program", "median", "ratio");
{
  const binary = `${root}/dist/stackwright`;
  const programs: [string, string[]][] = [["bare, compiled", [bareBinary]]];
  if (await Bun.file(binary).exists()) programs.push(["Stackwright, compiled (`bun run build`)", [binary]]);
  programs.push(["`bun server.ts`", ["bun", `${root}/server.ts`]]);
  const found = programs.map((): number[] => []);
  for (let round = 0; round < (quick ? 5 : 15); round++) {
    for (const [at, [, command]] of programs.entries()) found[at]?.push(await firstAnswer(command));
  }
  const least = median(found[0] ?? []);
  for (const [at, [name]] of programs.entries()) row(name, median(found[at] ?? []), (median(found[at] ?? []) / least).toFixed(1));
}
await rm(folder, { recursive: true });

async function firstAnswer(command: string[]): Promise<number> {
  const port = freePort();
  const started = performance.now();
  const child = Bun.spawn(command, { cwd: folder, env: { ...process.env, PORT: String(port) }, stdout: "ignore", stderr: "ignore" });
  try {
    for (;;) {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/health`).catch(() => undefined);
      if (response !== undefined) {
        await response.arrayBuffer();
        return performance.now() - started;
      }
      if (performance.now() - started > 20_000) throw new Error(`${command.join(" ")} does not answer`);
      await Bun.sleep(0.5);
    }
  } finally {
    child.kill("SIGKILL");
    await child.exited;
  }
}
