// Queries Prometheus. usage: node prom.mjs QUERY [--range 6h] [--step 5m] [--limit 30]
import { parseArgs } from "node:util";

const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: { range: { type: "string" }, step: { type: "string" }, limit: { type: "string", default: "30" } },
});
const [query] = positionals;
const fail = (message, code = 1) => {
  console.error(message);
  process.exit(code);
};
if (!query) fail("usage: node prom.mjs QUERY [--range 6h] [--step 5m] [--limit 30]", 2);
const seconds = (text) => {
  const found = /^(\d+)([smhdw])$/.exec(text) ?? fail(`"${text}" is no span such as 30m, 6h or 7d`);
  return Number(found[1]) * { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }[found[2]];
};
const base = (process.env.PROMETHEUS_URL ?? fail("PROMETHEUS_URL is not set")).replace(/\/$/, "");
const form = new URLSearchParams({ query });
if (o.range) {
  const end = Math.floor(Date.now() / 1000);
  const span = seconds(o.range);
  form.set("start", String(end - span));
  form.set("end", String(end));
  form.set("step", String(o.step ? seconds(o.step) : Math.max(15, Math.ceil(span / 200))));
}
const response = await fetch(`${base}/api/v1/${o.range ? "query_range" : "query"}`, { method: "POST", body: form, signal: AbortSignal.timeout(60_000) }).catch((error) => fail(`Prometheus does not answer: ${error.cause?.code ?? error.message}`));
const answer = await response.json().catch(() => fail(`Prometheus answered ${response.status}`));
if (answer.status !== "success") fail(`${answer.errorType}: ${answer.error}`);
for (const warning of [...(answer.warnings ?? []), ...(answer.infos ?? [])]) console.error(`note: ${warning}`);
const { resultType: type, result } = answer.data;
const title = (metric) => Object.entries(metric).map(([name, value]) => `${name}=${value}`).join(" ") || "(no labels)";
const number = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(5))) : String(value));
if (type === "scalar" || type === "string") console.log(result[1]);
else if (type === "vector") {
  const rows = result.map(({ metric, value }) => [Number(value[1]), title(metric)]);
  for (const [value, name] of rows.slice(0, Number(o.limit))) console.log(`${number(value)}\t${name}`);
  if (rows.length > Number(o.limit)) console.log(`... ${rows.length - Number(o.limit)} more (--limit)`);
  if (rows.length === 0) console.log("no series");
} else {
  for (const { metric, values } of result.slice(0, Number(o.limit))) {
    const numbers = values.map(([, value]) => Number(value)).filter(Number.isFinite);
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    const at = (value) => new Date((values.find(([, one]) => Number(one) === value)?.[0] ?? 0) * 1000).toISOString().slice(5, 16).replace("T", " ");
    const picked = Array.from({ length: Math.min(60, numbers.length) }, (_, n) => numbers[Math.floor((n * numbers.length) / Math.min(60, numbers.length))]);
    const line = picked.map((value) => "▁▂▃▄▅▆▇█"[high > low ? Math.min(7, Math.floor(((value - low) / (high - low)) * 8)) : 0]).join("");
    console.log(`${title(metric)}\n  ${line}\n  first ${number(numbers[0])}  last ${number(numbers.at(-1))}  lowest ${number(low)} (${at(low)})  highest ${number(high)} (${at(high)})  mean ${number(numbers.reduce((a, b) => a + b, 0) / numbers.length)}  times in UTC`);
  }
  if (result.length === 0) console.log("no series");
}
