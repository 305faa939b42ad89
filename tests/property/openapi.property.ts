/**
 * Random requests against a started server; every answer must be one that `openapi.json` documents.
 * `bun run property [requests] [seed]` runs it: 20,000 requests and a new seed unless they are given.
 */
import fc from "fast-check";
import { type Answer, invalid, paths, read, templateOf, undocumented } from "../openapi.ts";
import { connect } from "../raw.ts";
import { catalog, start } from "../support.ts";

const requests = Number(Bun.argv[2] ?? 20_000);
const seed = Number(Bun.argv[3] ?? crypto.getRandomValues(new Int32Array(1))[0]);

const wide = start({ STACK_API_KEY: "key" });
/** Refuses nearly everything, so that 429 comes in every place. */
const narrow = start({ STACK_API_KEY: "key", LIMIT_READ: "1", LIMIT_WRITE: "1", LIMIT_GENERATE: "1" });

interface Request {
  readonly narrow: boolean;
  readonly raw: boolean;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

const serviceIds = [...catalog.services.keys()];
const packIds = [...catalog.packs.keys()];
const presetIds = [...catalog.presets.keys()];
const weighted = <T>(...entries: [number, fc.Arbitrary<T>][]) => fc.oneof(...entries.map(([weight, arbitrary]) => ({ weight, arbitrary })));
const one = <T>(...values: T[]) => fc.constantFrom(...values);

const word = fc.string({ unit: "grapheme", maxLength: 40 });
const hostName = weighted(
  [3, fc.domain()],
  [
    1,
    one(
      "localhost",
      "Stack.Example.COM",
      "a.b",
      "xn--bcher-kva.example",
      "\u212Ahost.example",
      "10.0.0.1",
      "a..b",
      "-a",
      "a-",
      "a\n",
      "1",
      "1.a",
      `${"a".repeat(64)}.example`,
      "é.example",
    ),
  ],
);
const valid = {
  name: weighted([4, fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9 ._-]{0,62}$/)], [1, one("a", "A-", "0 . _")]),
  preset: one(...presetIds),
  services: weighted([6, fc.array(one(...serviceIds), { maxLength: 6 })], [1, fc.subarray(serviceIds)]),
  skills: fc.array(one(...packIds), { maxLength: 3 }),
  proxy: one("caddy", "traefik", "nginx"),
  domain: hostName,
  gpu: fc.boolean(),
  platform: one("linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"),
  deploymentType: one("docker", "bare-metal"),
  format: one("json", "tar"),
};
const stackRequest = weighted<Record<string, unknown>>(
  [4, fc.record(valid, { requiredKeys: ["name"] })],
  [3, fc.record({ name: valid.name, services: valid.services, proxy: valid.proxy, format: valid.format }, { requiredKeys: ["name"] })],
  [
    2,
    fc.record(
      { name: valid.name, preset: valid.preset, format: valid.format, deploymentType: valid.deploymentType },
      { requiredKeys: ["name", "preset"] },
    ),
  ],
  [1, fc.record(valid, { requiredKeys: [] })],
  [1, fc.record({ name: valid.name, services: fc.shuffledSubarray(["redis", "valkey", "postgresql", "qdrant"]) })],
);
const odd = weighted<unknown>(
  [2, fc.jsonValue({ maxDepth: 2 })],
  [
    1,
    one<unknown>(
      null,
      "",
      0,
      -1,
      1e308,
      true,
      [],
      {},
      [null],
      [""],
      [[]],
      "__proto__",
      "constructor",
      "a".repeat(201),
      Array(501).fill("redis"),
      "\u0000",
      "\ud800",
    ),
  ],
  [1, word],
  [1, fc.array(weighted<unknown>([1, word], [1, one(...serviceIds)], [1, fc.jsonValue({ maxDepth: 1 })]), { maxLength: 4 })],
);
const field = weighted(
  [6, one(...Object.keys(valid))],
  [1, one("__proto__", "constructor", "toString", "", "Name", "service", "presets", "proxy ")],
  [1, word],
);
/** A stack request with one or two fields made wrong, or at least odd. */
const nearly = fc.tuple(stackRequest, fc.array(fc.tuple(field, odd), { minLength: 1, maxLength: 2 })).map(([request, changes]) => {
  const changed = new Map(Object.entries(request));
  for (const [name, value] of changes) changed.set(name, value);
  return Object.fromEntries(changed);
});

const encoder = new TextEncoder();
const body = weighted<Uint8Array>(
  [10, stackRequest.map((value) => encoder.encode(JSON.stringify(value)))],
  [8, nearly.map((value) => encoder.encode(JSON.stringify(value)))],
  [2, fc.json().map((text) => encoder.encode(text))],
  [2, fc.tuple(stackRequest, fc.nat()).map(([value, cut]) => encoder.encode(JSON.stringify(value)).slice(0, cut % 80))],
  [1, fc.uint8Array({ maxLength: 200 })],
  [1, word.map((text) => encoder.encode(text))],
  [
    1,
    one(
      "",
      " ",
      "null",
      "[]",
      "{}",
      "0",
      '"a"',
      "\ufeff{}",
      '{"name":"a","name":"b"}',
      '{"name":"a"} ',
      "{".repeat(5000),
      "[".repeat(60_000),
      `{"name":"a","services":[${'"redis",'.repeat(8000)}"redis"]}`,
      " ".repeat(65_537),
      `{"a":"${"x".repeat(100_000)}"}`,
    ).map((text) => encoder.encode(text)),
  ],
);

const knownPaths = Object.keys(paths).filter((path) => !path.includes("{"));
/** Characters that a request target may have, and `fetch` sends as they are. */
const safe = fc.stringMatching(/^[A-Za-z0-9._~!$&'()*+,;=:@-]{1,30}$/).filter((text) => text !== "." && text !== "..");
const path = weighted<string>(
  [10, one(...knownPaths)],
  [8, one("/api/v1/validate", "/api/v1/generate")],
  [3, one(...presetIds).map((id) => `/api/v1/presets/${id}`)],
  [
    2,
    weighted(
      [1, safe],
      [1, word.filter((text) => text !== "" && text.isWellFormed()).map(encodeURIComponent)],
      [1, one("%", "%zz", "%00", "%2F", "%E0%A4%A", "constructor", "__proto__", "a".repeat(3000), "%2e%2e%2f")],
    ).map((name) => `/api/v1/presets/${name}`),
  ],
  [2, fc.tuple(one(...knownPaths), one("/", "//", "/x", "%20", ";a", "%2F", ".json")).map(([known, tail]) => known + tail)],
  [1, one(...knownPaths).map((known) => known.toUpperCase())],
  [1, one(...knownPaths).map((known) => `/${known}`)],
  [2, fc.array(safe, { maxLength: 5 }).map((parts) => `/${parts.join("/")}`)],
);
const query = weighted<string>(
  [6, fc.constant("")],
  [
    3,
    fc
      .tuple(one("category", "tag", "maturity"), one("database", "wiki", "stable", "beta", "old", "", "%", "%00", "a%20b", "constructor"))
      .map(([name, value]) => `?${name}=${value}`),
  ],
  [1, fc.webQueryParameters().map((text) => `?${text}`)],
  [1, one("?", "??", "?maturity=stable&maturity=beta", "?category=database&tag=sql&maturity=stable", "?category", "?&&", "?=")],
);
/** Other registered methods; Bun closes the connection on tokens that it does not know, so those tell nothing of the application. */
const otherMethod = one("PROPFIND", "MKCOL", "REPORT", "SEARCH", "LOCK", "LINK", "TRACE", "PURGE");
const method = weighted<string>(
  [8, fc.constant("GET")],
  [12, fc.constant("POST")],
  [2, fc.constant("HEAD")],
  [2, fc.constant("OPTIONS")],
  [2, one("PUT", "DELETE", "PATCH")],
);
/** Mostly a method that the path has, so that the operations themselves are reached. */
const line = weighted<{ method: string; path: string }>(
  [8, fc.record({ method: fc.constant("POST"), path: one("/api/v1/validate", "/api/v1/generate") })],
  [4, fc.record({ method: one("GET", "GET", "GET", "HEAD"), path })],
  [3, fc.record({ method, path })],
);
const optional = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: weight });
const printable = fc.stringMatching(/^[!-~]([ -~]{0,40}[!-~])?$/);
const headers = fc.record({
  Authorization: weighted<string | undefined>(
    [12, fc.constant("Bearer key")],
    [1, fc.constant(undefined)],
    [1, one("bearer key", "Bearer  key", "Bearer wrong", "Bearer", "Basic a2V5", "key")],
    [1, printable],
  ),
  "Content-Type": weighted<string | undefined>(
    [14, fc.constant("application/json")],
    [
      1,
      one(
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/merge-patch+json",
        "text/plain",
        "application/jsonp",
        ";",
        "multipart/form-data",
      ),
    ],
    [1, printable],
    [1, fc.constant(undefined)],
  ),
  "Accept-Encoding": weighted<string>(
    [2, fc.constant("identity")],
    [2, one("gzip", "zstd", "gzip, zstd", "*", "*;q=0", "gzip;q=0.5, zstd;q=0.4, identity;q=0.9", "gzip;q=x", "br", ",", "gzip;q=-1")],
    [1, printable],
  ),
  "If-None-Match": optional(3, weighted([1, one("*", '"a"', 'W/"a"', "a,b", ",", '"')], [1, printable])),
  "X-Request-Id": optional(3, weighted([1, safe], [1, printable], [1, fc.constant("a".repeat(129))])),
  Origin: optional(3, one("https://a.example", "null", "x")),
  "Access-Control-Request-Method": optional(3, weighted([2, one("GET", "POST", "PUT")], [1, printable])),
  "X-Forwarded-For": optional(2, weighted([1, one("192.0.2.1", "::1", ",,,")], [1, printable])),
  Accept: optional(2, one("*/*", "text/html", "application/json;q=0")),
  Host: weighted<string | undefined>(
    [8, fc.constant(undefined)],
    [1, one("localhost:3000", "[::1]", "a b", "a/b", "x?y", "x#y", "", "\u00e9")],
    [1, printable],
  ),
  Range: optional(1, one("bytes=0-1", "bytes=-1", "x")),
});

const request: fc.Arbitrary<Request> = fc
  .record({
    narrow: weighted([19, fc.constant(false)], [1, fc.constant(true)]),
    raw: weighted([4, fc.constant(false)], [1, fc.constant(true)]),
    line,
    strange: weighted<string | undefined>([9, fc.constant(undefined)], [1, otherMethod]),
    query,
    headers,
    body: fc.option(body, { nil: undefined, freq: 8 }),
  })
  .map(({ strange, line, query, headers, body, ...rest }) => {
    const method = (rest.raw ? strange : undefined) ?? line.method;
    const given = Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined));
    // `fetch` makes the Host itself.
    if (!rest.raw) delete given.Host;
    return { ...rest, method, target: line.path + query, headers: given, body: method === "GET" || method === "HEAD" ? undefined : body };
  });

async function ask({ narrow: few, raw, method, target, headers, body }: Request): Promise<Answer> {
  const { url } = few ? narrow : wide;
  if (!raw)
    return read(await fetch(url + target, { method, headers, decompress: false, ...(body === undefined ? {} : { body }) } as RequestInit));
  const connection = await connect(url);
  try {
    const length = body === undefined ? {} : { "Content-Length": String(body.length) };
    const fields = Object.entries({ Host: "localhost", ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
    connection.write(`${method} ${target} HTTP/1.1\r\n${fields.join("")}\r\n`);
    if (body !== undefined && body.length > 0) connection.write(body);
    return await connection.response(method);
  } finally {
    connection.close();
  }
}

/** The path that the server sees: dots are resolved as in URLs, and `fetch` drops a leading slash that is doubled. */
function seenPath({ raw, target }: Request): string {
  const { pathname } = new URL(`http://localhost${target}`);
  return raw ? pathname : pathname.replace(/^\/+/, "/");
}

const schemas: Readonly<Record<string, object>> = Object.fromEntries(
  ["/api/v1/validate", "/api/v1/generate"].map((path) => [path, paths[path]?.post?.requestBody?.content["application/json"]?.schema ?? {}]),
);
/** Complaints about the catalog rather than the shape of a request. */
const aboutCatalog = /^(services|skills|preset|platform|gpu|deploymentType|proxy|domain): (unknown |(?!is .*; it must ))/;

/** Whether what the document says of the body is what the server thinks of it. */
function bodyProblems(request: Request, path: string, answer: Answer): string[] {
  const schema = schemas[path];
  if (schema === undefined || request.method !== "POST" || (answer.status !== 400 && answer.status !== 200 && answer.status !== 409))
    return [];
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(request.body));
  } catch {
    return answer.status === 400 ? [] : [`${answer.status} for a body that is not JSON`];
  }
  const problems = invalid(schema, value);
  if (problems.length > 0)
    return answer.status === 400 ? [] : [`${answer.status} for a body that the document does not allow: ${problems.join("; ")}`];
  if (answer.status !== 400) return [];
  const { error } = JSON.parse(new TextDecoder().decode(answer.body)) as { error: { details: { errors: string[] } } };
  return error.details.errors
    .filter((problem) => !aboutCatalog.test(problem))
    .map((problem) => `the document allows what is refused: ${problem}`);
}

const statuses = new Map<number, number>();
const operations = new Set<string>();
let sent = 0;

const started = performance.now();
const result = await fc.check(
  fc.asyncProperty(request, async (given) => {
    const answer = await ask(given);
    sent++;
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const path = seenPath(given);
    const template = templateOf(path);
    if (template !== undefined) operations.add(`${given.method} ${template} ${answer.status}`);
    const problems = [...undocumented(given.method, path, answer), ...bodyProblems(given, path, answer)];
    if (problems.length > 0) throw new Error(`${problems.join("\n")}\n${new TextDecoder().decode(answer.body.subarray(0, 600))}`);
  }),
  { numRuns: requests, seed },
);
const seconds = (performance.now() - started) / 1000;
await Promise.all([wide.server.stop(), narrow.server.stop()]);
console.log(`seed ${seed}: ${sent} requests in ${seconds.toFixed(1)} s, ${operations.size} combinations of method, path and status`);
console.log(
  [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
    .join(", "),
);
if (result.failed) {
  const [failing] = result.counterexample ?? [];
  console.error(`\n${result.errorInstance}`);
  console.error(failing && { ...failing, body: failing.body && new TextDecoder().decode(failing.body).slice(0, 2000) });
  console.error(`path ${result.counterexamplePath}`);
  process.exit(1);
}
console.log("Every answer is documented.");
process.exit(0);
