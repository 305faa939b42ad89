// Passages of documents in Qdrant, embedded by Ollama. Run without arguments for the usage.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

const usage = `usage:
  node rag.mjs ingest COLLECTION FILE_OR_FOLDER... [--model bge-m3] [--source NAME] [--size 1200] [--dry]
  node rag.mjs query COLLECTION QUESTION [--limit 6] [--source NAME] [--min 0.0]
  node rag.mjs sources COLLECTION
  node rag.mjs remove COLLECTION SOURCE
Reads .md .markdown .txt .text .rst .org .html .htm .csv .json .jsonl; other files are named and left out.`;
const fail = (message, code = 1) => {
  console.error(message);
  process.exit(code);
};
const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: "string", default: "bge-m3" },
    source: { type: "string" },
    size: { type: "string", default: "1200" },
    limit: { type: "string", default: "6" },
    min: { type: "string", default: "0" },
    dry: { type: "boolean", default: false },
  },
});
const [command, collection, ...rest] = positionals;
if (!["ingest", "query", "sources", "remove"].includes(command) || !/^[\w.-]+$/.test(collection ?? "")) fail(usage, 2);
const readable = new Set([".md", ".markdown", ".txt", ".text", ".rst", ".org", ".html", ".htm", ".csv", ".json", ".jsonl"]);
const print = (value) => console.log(JSON.stringify(value, null, 2));

async function call(base, path, { method = "POST", body, headers = {} } = {}) {
  const response = await fetch(base.replace(/\/$/, "") + path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(300_000),
  }).catch((error) => fail(`${base} does not answer: ${error.cause?.code ?? error.message}`));
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const error = new Error(answer.status?.error ?? answer.error ?? `HTTP ${response.status}`);
  error.status = response.status;
  throw error;
}
const qdrant = (path, method, body) => call(process.env.QDRANT_URL ?? "http://qdrant:6333", `/collections/${collection}${path}`, { method, body, headers: process.env.QDRANT_API_KEY ? { "api-key": process.env.QDRANT_API_KEY } : {} });
const exists = () => qdrant("", "GET").then(() => true, (error) => (error.status === 404 ? false : Promise.reject(error)));

/** Vectors of texts; models of the nomic family want to be told which side a text is on. */
async function embed(model, texts, side) {
  const input = model.startsWith("nomic-embed-text") ? texts.map((text) => `search_${side}: ${text}`) : texts;
  return (await call(process.env.OLLAMA_URL ?? "http://ollama:11434", "/api/embed", { body: { model, input, truncate: true } })).embeddings;
}

const entities = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };
function plain(html) {
  return html
    .replace(/<(script|style|nav|footer|head)\b[\s\S]*?<\/\1>/gi, "")
    .replace(/<h([1-6])[^>]*>([\s\S]*?)<\/h\1>/gi, (_, level, text) => `\n\n${"#".repeat(Number(level))} ${text.replace(/<[^>]+>/g, "")}\n\n`)
    .replace(/<(p|div|br|li|tr|section|article|table|ul|ol)\b[^>]*>/gi, "\n\n")
    .replace(/<[^>]+>/g, " ")
    .replace(/&(?:#(\d+)|(\w+));/g, (whole, code, name) => (code ? String.fromCodePoint(Number(code)) : (entities[name] ?? whole)));
}

/** Passages of about `size` characters, cut at paragraphs, else at sentences; each knows the headings above it. */
function passages(text, size) {
  const result = [];
  const headings = [];
  let current = "";
  const flush = () => {
    if (current.trim() !== "") result.push({ heading: headings.filter(Boolean).join(" > "), text: current.trim() });
    current = "";
  };
  for (const block of text.replace(/\r/g, "").split(/\n\s*\n/)) {
    const heading = /^(#{1,6})\s+(.+)$/m.exec(block.trim().split("\n")[0] ?? "");
    if (heading) {
      flush();
      headings.length = heading[1].length - 1;
      headings[heading[1].length - 1] = heading[2].trim();
    }
    const pieces = block.length <= size ? [block] : (block.match(/[^.!?\n]+[.!?\n]*\s*/g) ?? [block]).flatMap((sentence) => sentence.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? []);
    for (const piece of pieces) {
      if (current !== "" && current.length + piece.length > size) {
        const tail = current.slice(-Math.floor(size / 8)).replace(/^\S*\s/, "");
        flush();
        if (pieces.length > 1) current = tail;
      }
      current += pieces.length > 1 ? piece : `${piece}\n\n`;
    }
  }
  flush();
  return result;
}

const uuid = (text) => createHash("sha256").update(text).digest("hex").replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-5$3-a$4-$5");
const ofSource = (source) => ({ must: [{ key: "source", match: { value: source } }] });
async function* scroll(filter, fields) {
  let offset = null;
  do {
    const { result } = await qdrant("/points/scroll", "POST", { limit: 500, offset, filter, with_payload: fields });
    yield* result.points;
    offset = result.next_page_offset;
  } while (offset !== null && offset !== undefined);
}

function filesOf(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith(".") && entry.name !== "node_modules")
    .flatMap((entry) => (entry.isDirectory() ? filesOf(join(path, entry.name)) : entry.isFile() ? [join(path, entry.name)] : []));
}

try {
  if (command === "ingest") {
    if (rest.length === 0) fail(usage, 2);
    const files = rest.flatMap((path) => filesOf(resolve(path)));
    if (o.source && files.length !== 1) fail("--source is for a single file");
    const report = { files: 0, unchanged: 0, passages: 0, leftOut: [] };
    let ready = false;
    for (const file of files) {
      const kind = extname(file).toLowerCase();
      if (!readable.has(kind)) {
        report.leftOut.push(file);
        continue;
      }
      const text = readFileSync(file, "utf8");
      const source = o.source ?? file;
      const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
      const parts = passages(/^\.html?$/.test(kind) ? plain(text) : text, Math.max(200, Number(o.size)));
      if (o.dry) {
        print({ source, passages: parts.length, first: parts[0] });
        continue;
      }
      if (!ready && !(await exists())) {
        const [vector] = await embed(o.model, ["size"], "document");
        await qdrant("", "PUT", { vectors: { size: vector.length, distance: "Cosine" } });
        await qdrant("/index?wait=true", "PUT", { field_name: "source", field_schema: "keyword" });
      }
      ready = true;
      const { result } = await qdrant("/points/scroll", "POST", { limit: 1, filter: ofSource(source), with_payload: ["hash", "model"] });
      if (result.points[0]?.payload.hash === hash && result.points[0]?.payload.model === o.model) {
        report.unchanged++;
        continue;
      }
      const points = [];
      for (let at = 0; at < parts.length; at += 16) {
        const chosen = parts.slice(at, at + 16);
        const vectors = await embed(o.model, chosen.map((part) => `${part.heading}\n${part.text}`.trim()), "document");
        chosen.forEach((part, n) => points.push({ id: uuid(`${source}\n${at + n}`), vector: vectors[n], payload: { ...part, source, position: at + n, hash, model: o.model, added: new Date().toISOString() } }));
      }
      await qdrant("/points/delete?wait=true", "POST", { filter: ofSource(source) });
      for (let at = 0; at < points.length; at += 128) await qdrant("/points?wait=true", "PUT", { points: points.slice(at, at + 128) });
      report.files++;
      report.passages += points.length;
      console.error(`${source}: ${points.length} passages`);
    }
    if (!o.dry) print(report);
  } else if (command === "query") {
    const question = rest.join(" ").trim();
    if (question === "") fail(usage, 2);
    const { result: some } = await qdrant("/points/scroll", "POST", { limit: 1, with_payload: ["model"] });
    if (some.points.length === 0) fail(`the collection ${collection} is empty`);
    const model = some.points[0].payload.model ?? o.model;
    const [vector] = await embed(model, [question], "query");
    const { result } = await qdrant("/points/query", "POST", { query: vector, limit: Number(o.limit), score_threshold: Number(o.min) || undefined, with_payload: true, filter: o.source ? ofSource(o.source) : undefined });
    print(result.points.map(({ score, payload }, at) => ({ n: at + 1, score: Math.round(score * 1000) / 1000, source: payload.source, heading: payload.heading, position: payload.position, text: payload.text })));
  } else if (command === "sources") {
    const counts = {};
    for await (const { payload } of scroll(undefined, ["source", "model", "added"])) {
      counts[payload.source] ??= { passages: 0, model: payload.model, added: payload.added };
      counts[payload.source].passages++;
    }
    print(counts);
  } else {
    const source = rest.join(" ");
    const { result } = await qdrant("/points/count", "POST", { filter: ofSource(source), exact: true });
    if (result.count === 0) fail(`no passages of "${source}"; see: node rag.mjs sources ${collection}`);
    await qdrant("/points/delete?wait=true", "POST", { filter: ofSource(source) });
    print({ source, removed: result.count });
  }
} catch (error) {
  fail(error.status === 404 && !/model/.test(error.message) ? `no collection ${collection}` : error.message);
}
