// A knowledge base in Meilisearch: one document per section of an article. Run without arguments for the usage.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";

const usage = `usage:
  node kb.mjs put BASE --title TITLE [--tags a,b] [--source TEXT] [--article ID] FILE     store or replace an article; FILE "-" reads standard input
  node kb.mjs sync BASE FOLDER [--tags a,b]                 store every .md and .txt of a folder, remove what is gone
  node kb.mjs search BASE WORDS... [--tag TAG] [--limit N]
  node kb.mjs show BASE ARTICLE
  node kb.mjs list BASE [--tag TAG] [--older DAYS]
  node kb.mjs delete BASE ARTICLE
  node kb.mjs bases`;
const fail = (message, code = 1) => {
  console.error(message);
  process.exit(code);
};
const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    title: { type: "string" },
    tags: { type: "string", default: "" },
    tag: { type: "string" },
    source: { type: "string", default: "" },
    article: { type: "string" },
    limit: { type: "string", default: "8" },
    older: { type: "string" },
  },
});
const [command, base, ...rest] = positionals;
if (!["put", "sync", "search", "show", "list", "delete", "bases"].includes(command)) fail(usage, 2);
if (command !== "bases" && !/^[\w-]{1,100}$/.test(base ?? "")) fail(usage, 2);
const print = (value) => console.log(JSON.stringify(value, null, 2));
const server = (process.env.MEILISEARCH_URL ?? "http://meilisearch:7700").replace(/\/$/, "");

async function call(method, path, body) {
  const response = await fetch(server + path, {
    method,
    headers: { "content-type": "application/json", authorization: `Bearer ${process.env.MEILISEARCH_API_KEY ?? ""}` },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  }).catch((error) => fail(`Meilisearch does not answer: ${error.cause?.code ?? error.message}`));
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw Object.assign(new Error(answer.message ?? `HTTP ${response.status}`), { status: response.status, code: answer.code });
  return answer;
}

/** Writes are tasks: waits until one has been done. */
async function done({ taskUid }) {
  for (let pause = 50; ; pause = Math.min(pause * 2, 1000)) {
    const task = await call("GET", `/tasks/${taskUid}`);
    if (task.status === "failed") throw new Error(task.error.message);
    if (task.status === "succeeded" || task.status === "canceled") return task;
    await new Promise((resume) => setTimeout(resume, pause));
  }
}

async function prepare() {
  const exists = await call("GET", `/indexes/${base}`).then(() => true, (error) => (error.status === 404 ? false : Promise.reject(error)));
  if (exists) return;
  await done(await call("POST", "/indexes", { uid: base, primaryKey: "id" }));
  await done(
    await call("PATCH", `/indexes/${base}/settings`, {
      searchableAttributes: ["title", "heading", "tags", "text"],
      filterableAttributes: ["article", "tags", "updated", "position", "folder"],
      sortableAttributes: ["updated", "position"],
      pagination: { maxTotalHits: 10_000 },
    }),
  );
}

const short = (text) => createHash("sha256").update(text).digest("hex").slice(0, 12);
const tagsOf = (text) => text.split(",").map((tag) => tag.trim().toLowerCase()).filter(Boolean);
const quote = (text) => `"${text.replace(/(["\\])/g, "\\$1")}"`;

/** Sections of a Markdown text, at most about 4,000 characters each. */
function sections(text) {
  const found = [{ heading: "", lines: [] }];
  let fenced = false;
  for (const line of text.replace(/^---\n[\s\S]*?\n---\n/, "").split("\n")) {
    if (/^(```|~~~)/.test(line)) fenced = !fenced;
    const heading = fenced ? null : /^#{1,4}\s+(.+?)\s*#*$/.exec(line);
    if (heading) found.push({ heading: heading[1], lines: [] });
    else {
      if (found.at(-1).lines.join("\n").length > 4000 && line.trim() === "") found.push({ heading: found.at(-1).heading, lines: [] });
      found.at(-1).lines.push(line);
    }
  }
  return found.map(({ heading, lines }) => ({ heading, text: lines.join("\n").trim() })).filter((part) => part.text !== "" || part.heading !== "");
}

function documents({ article, title, text, tags, source, folder, hash }) {
  const updated = Math.floor(Date.now() / 1000);
  return sections(text).map((part, position) => ({ id: `${article}-${position}`, article, title, ...part, position, tags, source, folder, hash, updated }));
}

async function remove(article) {
  return done(await call("POST", `/indexes/${base}/documents/delete`, { filter: `article = ${quote(article)}` }));
}

async function* every(filter, fields) {
  for (let offset = 0; ; offset += 1000) {
    const { results, total } = await call("POST", `/indexes/${base}/documents/fetch`, { limit: 1000, offset, filter, fields });
    yield* results;
    if (offset + 1000 >= total) return;
  }
}

const filesOf = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith(".") && entry.name !== "node_modules")
    .flatMap((entry) => (entry.isDirectory() ? filesOf(join(folder, entry.name)) : /\.(md|markdown|txt)$/i.test(entry.name) ? [join(folder, entry.name)] : []));

try {
  if (command === "put") {
    if (!o.title || rest.length !== 1) fail(usage, 2);
    const text = rest[0] === "-" ? readFileSync(0, "utf8") : readFileSync(rest[0], "utf8");
    const article = o.article ?? short(o.title.toLowerCase());
    if (!/^[\w-]{1,80}$/.test(article)) fail("--article takes letters, digits, - and _");
    const parts = documents({ article, title: o.title, text, tags: tagsOf(o.tags), source: o.source, folder: "", hash: short(text) });
    if (parts.length === 0) fail("the text is empty");
    await prepare();
    await remove(article);
    await done(await call("POST", `/indexes/${base}/documents`, parts));
    print({ article, sections: parts.length });
  } else if (command === "sync") {
    const folder = resolve(rest[0] ?? fail(usage, 2));
    if (!statSync(folder).isDirectory()) fail(`${folder} is no folder`);
    await prepare();
    const known = new Map();
    for await (const { article, hash } of every(`folder = ${quote(folder)}`, ["article", "hash"])) known.set(article, hash);
    const report = { stored: 0, unchanged: 0, removed: 0 };
    for (const file of filesOf(folder)) {
      const text = readFileSync(file, "utf8");
      const article = short(file);
      const hash = short(text + o.tags);
      const same = known.get(article) === hash;
      known.delete(article);
      if (same) {
        report.unchanged++;
        continue;
      }
      const title = /^#\s+(.+)$/m.exec(text)?.[1].trim() ?? relative(folder, file);
      const parts = documents({ article, title, text, tags: tagsOf(o.tags), source: file, folder, hash });
      await remove(article);
      if (parts.length > 0) await done(await call("POST", `/indexes/${base}/documents`, parts));
      report.stored++;
    }
    for (const article of known.keys()) {
      await remove(article);
      report.removed++;
    }
    print(report);
  } else if (command === "search") {
    const answer = await call("POST", `/indexes/${base}/search`, {
      q: rest.join(" "),
      limit: Number(o.limit),
      filter: o.tag ? `tags = ${quote(o.tag.toLowerCase())}` : undefined,
      attributesToCrop: ["text"],
      cropLength: 60,
      attributesToRetrieve: ["article", "title", "heading", "tags", "source", "updated", "text"],
      showRankingScore: true,
    });
    print({
      about: answer.estimatedTotalHits,
      results: answer.hits.map(({ _formatted, _rankingScore, text, updated, ...hit }) => ({ score: Math.round(_rankingScore * 100) / 100, ...hit, updated: new Date(updated * 1000).toISOString().slice(0, 10), excerpt: _formatted.text })),
    });
  } else if (command === "show") {
    const parts = [];
    for await (const part of every(`article = ${quote(rest[0] ?? "")}`)) parts.push(part);
    if (parts.length === 0) fail(`no article ${rest[0] ?? ""}`);
    parts.sort((a, b) => a.position - b.position);
    console.log(`${parts[0].title}\narticle: ${parts[0].article}\ntags: ${parts[0].tags.join(", ")}\nsource: ${parts[0].source}\nupdated: ${new Date(parts[0].updated * 1000).toISOString()}\n`);
    for (const part of parts) console.log(`${part.heading ? `## ${part.heading}\n\n` : ""}${part.text}\n`);
  } else if (command === "list") {
    const filters = ["position = 0"];
    if (o.tag) filters.push(`tags = ${quote(o.tag.toLowerCase())}`);
    if (o.older) filters.push(`updated < ${Math.floor(Date.now() / 1000) - Number(o.older) * 86_400}`);
    const rows = [];
    for await (const { article, title, tags, source, updated } of every(filters, ["article", "title", "tags", "source", "updated"])) rows.push({ article, title, tags, source, updated: new Date(updated * 1000).toISOString().slice(0, 10) });
    print(rows.sort((a, b) => a.updated.localeCompare(b.updated)));
  } else if (command === "delete") {
    const task = await remove(rest[0] ?? fail(usage, 2));
    print({ article: rest[0], sections: task.details?.deletedDocuments ?? 0 });
  } else {
    const { indexes } = await call("GET", "/stats");
    print(Object.fromEntries(Object.entries(indexes).map(([name, { numberOfDocuments }]) => [name, numberOfDocuments])));
  }
} catch (error) {
  fail(error.code === "index_not_found" ? `there is no base "${base}"; see: node kb.mjs bases` : error.message);
}
