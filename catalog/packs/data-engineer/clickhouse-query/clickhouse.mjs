// Runs a statement on ClickHouse by its HTTP interface. Run without arguments for the usage.
import { createReadStream } from "node:fs";
import { parseArgs } from "node:util";

const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    write: { type: "boolean", default: false },
    format: { type: "string", default: "JSONEachRow" },
    max: { type: "string", default: "1000" },
    seconds: { type: "string", default: "60" },
    data: { type: "string" },
    param: { type: "string", multiple: true, default: [] },
  },
});
const [sql] = positionals;
if (!sql || !process.env.CLICKHOUSE_URL) {
  console.error(sql ? "CLICKHOUSE_URL is not set" : `usage: node clickhouse.mjs [--write] [--format JSONEachRow|CSVWithNames|PrettyCompactNoEscapes] [--max ROWS] [--seconds N] [--param name=value]... [--data FILE] SQL
Without --write the statement may not change anything. --data FILE is the body of an INSERT ... FORMAT statement.
Parameters stand in the SQL as {name:Type}.`);
  process.exit(2);
}
const url = new URL(process.env.CLICKHOUSE_URL);
const query = new URLSearchParams({ database: decodeURIComponent(url.pathname.slice(1)) || "default", default_format: o.format, max_execution_time: o.seconds });
if (!o.write) {
  query.set("readonly", "2");
  query.set("max_result_rows", o.max);
  query.set("result_overflow_mode", "break");
}
for (const pair of o.param) query.set(`param_${pair.split("=")[0]}`, pair.slice(pair.indexOf("=") + 1));
if (o.data) query.set("query", sql);
try {
  const response = await fetch(`http://${url.host}/?${query}`, {
    method: "POST",
    headers: { "x-clickhouse-user": decodeURIComponent(url.username), "x-clickhouse-key": decodeURIComponent(url.password) },
    body: o.data ? createReadStream(o.data) : sql,
    duplex: "half",
    signal: AbortSignal.timeout((Number(o.seconds) + 15) * 1000),
  });
  const text = await response.text();
  if (!response.ok || response.headers.has("x-clickhouse-exception-code")) throw new Error(text.trim().slice(0, 1000));
  process.stdout.write(text);
  const { written_rows: written } = JSON.parse(response.headers.get("x-clickhouse-summary") ?? "{}");
  if (Number(written) > 0) console.error(`${written} rows written`);
} catch (error) {
  console.error(error.cause?.code ? `ClickHouse does not answer: ${error.cause.code}` : error.message);
  process.exitCode = 1;
}
