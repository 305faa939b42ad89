/**
 * CPU time of one generate inside a process, without HTTP: from the request's body to the body of the answer.
 * `bun tests/bench/cpu.ts [ROOT]` prints JSON; ROOT is the checkout that is measured.
 */
import { selections, sizeName, sizes } from "./cases.ts";

const root = Bun.argv[2] ?? `${import.meta.dir}/../..`;
const { apiRoutes } = (await import(`${root}/lib/api/index.ts`)) as typeof import("../../lib/api/index.ts");
const { embeddedCatalog } = (await import(`${root}/lib/embedded.ts`)) as typeof import("../../lib/embedded.ts");

const index = embeddedCatalog.index();
const generate = apiRoutes(embeddedCatalog, 0).find((route) => route.path.endsWith("/generate"));
if (generate === undefined) throw new Error("no generate");

let count = 0;
async function once(services: string[], format: "json" | "tar"): Promise<string | Uint8Array> {
  const body = JSON.stringify({ name: `stack ${count++}`, services, format, proxy: "caddy", domain: "stack.example.com" });
  const request = new Request("http://localhost/", { method: "POST", headers: { "Content-Type": "application/json" }, body });
  const reply = await generate?.handle({ request, query: "", params: {} });
  return reply?.body as string | Uint8Array;
}

/**
 * Milliseconds of CPU that `work` takes, the lower quartile of several batches: other work on the machine only ever adds. Ten
 * batches before are not counted: the time of the compiler, which a server spends once, is counted to the process, too.
 */
async function cost(work: (turn: number) => unknown, batch: number): Promise<number> {
  const found: number[] = [];
  let turn = 0;
  while (turn < batch * 10) await work(turn++);
  for (let round = 0; round < 12; round++) {
    const before = process.cpuUsage();
    for (let step = 0; step < batch; step++) await work(turn++);
    const { user, system } = process.cpuUsage(before);
    found.push((user + system) / 1000 / batch);
  }
  found.sort((a, b) => a - b);
  return found[3] as number;
}

const results = [];
for (const size of sizes) {
  const chosen = selections(index, size);
  const pick = (turn: number) => chosen[turn % chosen.length] as string[];
  const batch = size <= 5 ? 300 : size <= 20 ? 100 : 25;
  const text = (await once(pick(0), "json")) as string;
  const archives = await Promise.all(
    chosen.slice(0, 16).map(async (services) => Bun.gunzipSync((await once(services, "tar")) as Uint8Array<ArrayBuffer>)),
  );
  const packed = ((await once(pick(0), "tar")) as Uint8Array).byteLength;
  const json = await cost((turn) => once(pick(turn), "json"), batch);
  const tar = await cost((turn) => once(pick(turn), "tar"), batch);
  const gzip = async (level: 1 | 2 | 3 | 4 | 5 | 6) =>
    cost((turn) => Bun.gzipSync(archives[turn % archives.length] as Uint8Array<ArrayBuffer>, { level }), batch);
  results.push({
    size: sizeName(size),
    jsonBytes: Buffer.byteLength(text),
    tarBytes: archives[0]?.byteLength,
    packed,
    json,
    tar,
    gzip: await gzip(6),
    gzipByLevel: Bun.argv.includes("--levels")
      ? await Promise.all(
          [1, 2, 3, 4, 5, 6].map(async (level) => [
            level,
            Bun.gzipSync(archives[0] as Uint8Array<ArrayBuffer>, { level: level as 1 }).byteLength,
          ]),
        )
      : undefined,
  });
}
console.log(JSON.stringify(results));
