/** `bun tests/bench/soak.ts [SECONDS]`: every operation at once at full speed, with the resident memory as it goes. Uses `dist/stackwright` where it is built. */
import { indexCatalog } from "../../lib/catalog/index.ts";
import { loadCatalog } from "../../lib/catalog/load.ts";
import { startProcess } from "../support.ts";
import { selections } from "./cases.ts";
import { load } from "./load.ts";

const seconds = Number(Bun.argv[2] ?? 600);
const root = `${import.meta.dir}/../..`;
const binary = `${root}/dist/stackwright`;
const wide = "1000000000";
await using service = await startProcess(
  { LIMIT_READ: wide, LIMIT_WRITE: wide, LIMIT_GENERATE: wide },
  (await Bun.file(binary).exists()) ? [binary] : ["bun", `${root}/server.ts`],
);
const { url } = service;
const chosen = selections(indexCatalog(await loadCatalog(`${root}/catalog`)), 20);
const bodies = (format: string) =>
  chosen.map((services) => JSON.stringify({ name: "soak #", services, format, proxy: "nginx", domain: "soak.example.com" }));

const timer = setInterval(async () => {
  const status = await Bun.file(`/proc/${service.process.pid}/status`).text();
  console.log(`${Math.round(performance.now() / 1000)} s: ${Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)} MB`);
}, 10_000);
const results = await Promise.all([
  load({ url, path: "/api/v1/services", bodies: undefined, connections: 4, seconds }),
  load({ url, path: "/api/v1/validate", bodies: bodies("json"), connections: 4, seconds }),
  load({ url, path: "/api/v1/generate", bodies: bodies("json"), connections: 8, seconds }),
  load({ url, path: "/api/v1/generate", bodies: bodies("tar"), connections: 8, seconds }),
]);
clearInterval(timer);
for (const [at, name] of ["services", "validate", "generate json", "generate tar"].entries()) {
  const { perSecond, failed } = results[at] ?? { perSecond: 0, failed: -1 };
  console.log(`${name}: ${Math.round(perSecond)} requests/s, ${Math.round(perSecond * seconds)} in all, ${failed} failed`);
}
console.log(service.errors().trim());
