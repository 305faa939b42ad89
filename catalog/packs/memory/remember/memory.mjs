// Long-term notes of the agent, kept in Redis. Run without arguments for the usage.
// memory:item:<id> is a hash, memory:all a sorted set of ids by time, memory:tag:<tag> a set of ids, memory:tags the set of tags.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { connect } from "./redis.mjs";

const usage = `usage:
  node memory.mjs add [--tags a,b] [--source TEXT] [--days N] TEXT     store a note; TEXT "-" reads standard input
  node memory.mjs search [--tag TAG] [--limit N] [--since YYYY-MM-DD] WORDS...
  node memory.mjs list [--tag TAG] [--limit N]                         newest first
  node memory.mjs tags                                                 tags with their counts
  node memory.mjs show ID
  node memory.mjs update ID TEXT
  node memory.mjs delete ID...
  node memory.mjs stats`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tags: { type: "string", default: "" },
    tag: { type: "string" },
    source: { type: "string", default: "" },
    days: { type: "string" },
    limit: { type: "string", default: "10" },
    since: { type: "string" },
  },
});
const [command, ...rest] = positionals;
const maxLength = 8000;
const key = (id) => `memory:item:${id}`;
const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const words = (text) => fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];
const tagList = (text) => [...new Set(text.split(",").map((tag) => fold(tag).trim().replace(/\s+/g, "-")).filter(Boolean))];
const fail = (message) => {
  console.error(message);
  process.exit(1);
};
if (!["add", "search", "list", "tags", "show", "update", "delete", "stats"].includes(command)) fail(usage);

const redis = await connect().catch((error) => fail(`Redis: ${error.message}`));

async function read(id) {
  const flat = await redis("HGETALL", key(id));
  if (flat.length === 0) return undefined;
  const item = { id };
  for (let at = 0; at < flat.length; at += 2) item[flat[at]] = flat[at + 1];
  return { ...item, tags: item.tags ? item.tags.split(",") : [] };
}

async function unlink(id, tags) {
  await redis("DEL", key(id));
  await redis("ZREM", "memory:all", id);
  for (const tag of tags) await redis("SREM", `memory:tag:${tag}`, id);
}

/** All notes, newest first; entries of notes that have expired are cleared away. */
async function all(tag) {
  const ids = await redis("ZREVRANGE", "memory:all", 0, -1);
  const wanted = tag ? new Set(await redis("SMEMBERS", `memory:tag:${fold(tag)}`)) : undefined;
  const chosen = wanted ? ids.filter((id) => wanted.has(id)) : ids;
  const items = await Promise.all(chosen.map(read));
  const found = items.filter((item) => item !== undefined);
  const gone = chosen.filter((_, at) => items[at] === undefined);
  if (gone.length > 0) {
    await redis("ZREM", "memory:all", ...gone);
    for (const name of await redis("SMEMBERS", "memory:tags")) await redis("SREM", `memory:tag:${name}`, ...gone);
  }
  return found;
}

const bodyOf = (text) => {
  const body = (text === "-" ? readFileSync(0, "utf8") : (text ?? "")).trim();
  if (body === "") fail("nothing to store: the text is empty");
  if (body.length > maxLength) fail(`the text has ${body.length} characters; at most ${maxLength}: store a summary and where the whole is kept`);
  return body;
};
const limit = Math.max(1, Number(values.limit) || 10);
const print = (value) => console.log(JSON.stringify(value, null, 2));

try {
  if (command === "add") {
    const text = bodyOf(rest.join(" "));
    const tags = tagList(values.tags);
    const same = (await all()).find((item) => fold(item.text) === fold(text));
    if (same) {
      print({ id: same.id, stored: false, reason: "the same text is stored already" });
    } else {
      const id = randomUUID().slice(0, 8);
      const now = new Date();
      await redis("HSET", key(id), "text", text, "tags", tags.join(","), "source", values.source, "created", now.toISOString());
      await redis("ZADD", "memory:all", now.getTime(), id);
      for (const tag of tags) {
        await redis("SADD", `memory:tag:${tag}`, id);
        await redis("SADD", "memory:tags", tag);
      }
      const days = Number(values.days);
      if (days > 0) await redis("EXPIRE", key(id), Math.round(days * 86_400));
      print({ id, stored: true, tags });
    }
  } else if (command === "search") {
    const terms = [...new Set(words(rest.join(" ")))];
    if (terms.length === 0) fail("search needs at least one word");
    const since = values.since ? Date.parse(values.since) : 0;
    const items = (await all(values.tag)).filter((item) => Date.parse(item.created) >= since);
    const bags = items.map((item) => words(`${item.text} ${item.tags.join(" ")} ${item.source}`));
    const matches = (bag, term) => bag.filter((word) => word === term || (term.length > 3 && word.startsWith(term))).length;
    const weight = new Map(terms.map((term) => [term, Math.log(1 + items.length / (1 + bags.filter((bag) => matches(bag, term) > 0).length))]));
    const ranked = items
      .map((item, at) => {
        const bag = bags[at];
        const score = terms.reduce((sum, term) => {
          const count = matches(bag, term);
          return sum + (count === 0 ? 0 : (weight.get(term) * count * 2.2) / (count + 1.2));
        }, 0);
        return { score: Math.round(score * 1000) / 1000, ...item };
      })
      .filter((item) => item.score > 0)
      .sort((a, b) => b.score - a.score);
    print({ searched: items.length, found: ranked.length, results: ranked.slice(0, limit) });
  } else if (command === "list") {
    const items = await all(values.tag);
    print({ total: items.length, results: items.slice(0, limit) });
  } else if (command === "tags") {
    const counts = {};
    for (const item of await all()) for (const tag of item.tags) counts[tag] = (counts[tag] ?? 0) + 1;
    print(counts);
  } else if (command === "show") {
    const item = await read(rest[0] ?? "");
    if (!item) fail(`no note ${rest[0] ?? ""}`);
    print({ ...item, secondsLeft: await redis("TTL", key(item.id)) });
  } else if (command === "update") {
    const item = await read(rest[0] ?? "");
    if (!item) fail(`no note ${rest[0] ?? ""}`);
    await redis("HSET", key(item.id), "text", bodyOf(rest.slice(1).join(" ")), "updated", new Date().toISOString());
    print(await read(item.id));
  } else if (command === "delete") {
    if (rest.length === 0) fail("delete needs ids");
    const deleted = [];
    const missing = [];
    for (const id of rest) {
      const item = await read(id);
      if (item) {
        await unlink(id, item.tags);
        deleted.push(id);
      } else missing.push(id);
    }
    print({ deleted, missing });
  } else {
    const items = await all();
    print({ notes: items.length, characters: items.reduce((sum, item) => sum + item.text.length, 0), oldest: items.at(-1)?.created, newest: items[0]?.created });
  }
} catch (error) {
  fail(`Redis: ${error.message}`);
} finally {
  redis.close();
}
