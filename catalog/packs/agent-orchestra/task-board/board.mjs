// A task board and shared notes for several agents, kept in Redis. Run without arguments for the usage.
// board:<board>:tasks is a sorted set of ids by time, board:<board>:task:<id> a hash; board:<board>:notes a hash of JSON values.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { connect } from "./redis.mjs";

const usage = `usage: node board.mjs --board NAME COMMAND
  add TITLE [--brief TEXT|-] [--priority 0..9] [--needs ID,ID] [--tries 3]
  claim --as WORKER [--minutes 30] [--id ID]    takes the most urgent task whose needs are done; its lease ends by itself
  extend ID --as WORKER [--minutes 30]
  done ID --as WORKER [--result TEXT|-]
  fail ID --as WORKER [--result TEXT|-]         back to open, or to failed after its tries
  drop ID [--result TEXT]                       will not be done
  reopen ID
  list [--state open|claimed|done|failed|dropped]     show ID     summary     boards     clear
  note set KEY TEXT|- [--version N]     note get KEY     note list     note delete KEY
TEXT "-" reads standard input.`;
const fail = (message, code = 1) => {
  console.error(message);
  process.exit(code);
};
const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    board: { type: "string" },
    brief: { type: "string", default: "" },
    priority: { type: "string", default: "5" },
    needs: { type: "string", default: "" },
    tries: { type: "string", default: "3" },
    as: { type: "string" },
    minutes: { type: "string", default: "30" },
    id: { type: "string", default: "" },
    result: { type: "string", default: "" },
    state: { type: "string" },
    version: { type: "string" },
  },
});
const [command, ...rest] = positionals;
const commands = ["add", "claim", "extend", "done", "fail", "drop", "reopen", "list", "show", "summary", "boards", "clear", "note"];
if (!commands.includes(command) || (command !== "boards" && !/^[a-z0-9][a-z0-9-]{0,40}$/.test(o.board ?? ""))) fail(usage, 2);
if (["claim", "extend", "done", "fail"].includes(command) && !o.as) fail("--as WORKER is missing");
const textOf = (text) => (text === "-" ? readFileSync(0, "utf8").trim() : text);
const root = `board:${o.board}`;
const print = (value) => console.log(JSON.stringify(value, null, 1));
const now = Date.now();

// Everything that must not be done by two agents at once runs inside Redis.
const taskScript = `
local root, op, now, id, worker, lease, text = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
local function key(one) return root .. ':task:' .. one end
local function get(one, field) return redis.call('HGET', key(one), field) end
local function expire(one)
  if get(one, 'state') == 'claimed' and tonumber(get(one, 'lease')) < now then
    local state = 'open'
    if tonumber(get(one, 'attempts')) >= tonumber(get(one, 'tries')) then state = 'failed' end
    redis.call('HSET', key(one), 'state', state, 'result', 'the lease of ' .. get(one, 'worker') .. ' ran out', 'updated', now)
  end
end
for _, one in ipairs(redis.call('ZRANGE', root .. ':tasks', 0, -1)) do expire(one) end
if op == 'tidy' then return 'ok' end
if op == 'claim' then
  local best, urgency
  local candidates = redis.call('ZRANGE', root .. ':tasks', 0, -1)
  if id ~= '' then candidates = { id } end
  for _, one in ipairs(candidates) do
    if get(one, 'state') == 'open' then
      local ready = true
      for need in string.gmatch(get(one, 'needs') or '', '[^,]+') do
        if get(need, 'state') ~= 'done' then ready = false end
      end
      local priority = tonumber(get(one, 'priority'))
      if ready and (not best or priority > urgency) then best, urgency = one, priority end
    end
  end
  if not best then return false end
  redis.call('HINCRBY', key(best), 'attempts', 1)
  redis.call('HSET', key(best), 'state', 'claimed', 'worker', worker, 'lease', lease, 'updated', now)
  return best
end
local state = get(id, 'state')
if not state then return redis.error_reply('no task ' .. id) end
if op == 'extend' or op == 'done' or op == 'fail' then
  if state ~= 'claimed' then return redis.error_reply('task ' .. id .. ' is ' .. state .. ', not claimed') end
  if get(id, 'worker') ~= worker then return redis.error_reply('task ' .. id .. ' belongs to ' .. get(id, 'worker')) end
end
if op == 'extend' then redis.call('HSET', key(id), 'lease', lease, 'updated', now)
elseif op == 'done' then redis.call('HSET', key(id), 'state', 'done', 'result', text, 'updated', now)
elseif op == 'fail' then
  local to = 'open'
  if tonumber(get(id, 'attempts')) >= tonumber(get(id, 'tries')) then to = 'failed' end
  redis.call('HSET', key(id), 'state', to, 'result', text, 'updated', now)
elseif op == 'drop' then redis.call('HSET', key(id), 'state', 'dropped', 'result', text, 'updated', now)
elseif op == 'reopen' then redis.call('HSET', key(id), 'state', 'open', 'attempts', 0, 'updated', now)
end
return id`;
const noteScript = `
local old = redis.call('HGET', KEYS[1], ARGV[1])
local version = 0
if old then version = cjson.decode(old).version end
if ARGV[3] ~= '' and tonumber(ARGV[3]) ~= version then return redis.error_reply('version is ' .. version .. ', not ' .. ARGV[3] .. ': read it again') end
local note = cjson.decode(ARGV[2])
note.version = version + 1
redis.call('HSET', KEYS[1], ARGV[1], cjson.encode(note))
return note.version`;

const redis = await connect().catch((error) => fail(`Redis: ${error.message}`));
const lease = now + Math.max(1, Number(o.minutes)) * 60_000;
const run = (op, id = "", text = "") => redis("EVAL", taskScript, 1, root, op, now, id, o.as ?? "", lease, text);
const time = (value) => (value ? new Date(Number(value)).toISOString() : undefined);

async function task(id) {
  const flat = await redis("HGETALL", `${root}:task:${id}`);
  if (flat.length === 0) return undefined;
  const fields = {};
  for (let at = 0; at < flat.length; at += 2) fields[flat[at]] = flat[at + 1];
  return {
    id,
    title: fields.title,
    state: fields.state,
    priority: Number(fields.priority),
    needs: fields.needs ? fields.needs.split(",") : [],
    worker: fields.worker || undefined,
    lease: fields.state === "claimed" ? time(fields.lease) : undefined,
    attempts: `${fields.attempts} of ${fields.tries}`,
    brief: fields.brief,
    result: fields.result || undefined,
    updated: time(fields.updated),
  };
}
const all = async () => (await Promise.all((await redis("ZRANGE", `${root}:tasks`, 0, -1)).map(task))).filter(Boolean);

try {
  if (command === "add") {
    const title = rest.join(" ").trim();
    if (!title) fail("a task needs a title");
    const needs = o.needs.split(",").map((id) => id.trim()).filter(Boolean);
    for (const need of needs) if (!(await task(need))) fail(`no task ${need} to wait for`);
    const id = randomUUID().slice(0, 6);
    await redis("SADD", "boards", o.board);
    await redis("HSET", `${root}:task:${id}`, "title", title, "brief", textOf(o.brief), "state", "open", "priority", Number(o.priority), "needs", needs.join(","), "worker", "", "lease", 0, "attempts", 0, "tries", Math.max(1, Number(o.tries)), "result", "", "updated", now);
    await redis("ZADD", `${root}:tasks`, now, id);
    print({ id, title });
  } else if (command === "claim") {
    const id = await run("claim", o.id);
    print(id ? await task(id) : { claimed: null, reason: "nothing is open whose needs are done" });
  } else if (["extend", "done", "fail", "drop", "reopen"].includes(command)) {
    if (!rest[0]) fail("which task?");
    print(await task(await run(command, rest[0], textOf(o.result))));
  } else if (command === "note") {
    const [action, key, ...words] = rest;
    const notes = `${root}:notes`;
    if (action === "set" && key && words.length > 0) {
      await redis("SADD", "boards", o.board);
      const version = await redis("EVAL", noteScript, 1, notes, key, JSON.stringify({ text: textOf(words.join(" ")), by: o.as ?? "", at: time(now) }), o.version ?? "");
      print({ key, version });
    } else if (action === "get" && key) {
      const note = await redis("HGET", notes, key);
      if (note === null) fail(`no note ${key}`);
      print({ key, ...JSON.parse(note) });
    } else if (action === "list") {
      const flat = await redis("HGETALL", notes);
      const rows = [];
      for (let at = 0; at < flat.length; at += 2) rows.push({ key: flat[at], ...JSON.parse(flat[at + 1]) });
      print(rows.map(({ text, ...row }) => ({ ...row, text: text.length > 200 ? `${text.slice(0, 200)}...` : text })));
    } else if (action === "delete" && key) print({ key, deleted: (await redis("HDEL", notes, key)) === 1 });
    else fail(usage, 2);
  } else if (command === "boards") print(await redis("SMEMBERS", "boards"));
  else {
    await run("tidy");
    const tasks = await all();
    if (command === "show") print(tasks.find(({ id }) => id === rest[0]) ?? fail(`no task ${rest[0]}`));
    else if (command === "list") {
      for (const one of tasks.filter(({ state }) => !o.state || state === o.state)) console.log([one.id, one.state, `p${one.priority}`, one.title, one.worker && `by ${one.worker}`, one.needs.length > 0 && `needs ${one.needs.join(",")}`].filter(Boolean).join(" | "));
    } else if (command === "summary") {
      const counts = {};
      for (const { state } of tasks) counts[state] = (counts[state] ?? 0) + 1;
      const stuck = tasks.filter((one) => one.state === "open" && one.needs.some((need) => ["failed", "dropped", undefined].includes(tasks.find(({ id }) => id === need)?.state)));
      print({ tasks: tasks.length, ...counts, finished: tasks.length > 0 && tasks.every(({ state }) => state === "done" || state === "dropped"), stuck: stuck.map(({ id, title }) => `${id} ${title}`) });
    } else {
      for (const { id } of tasks) await redis("DEL", `${root}:task:${id}`);
      await redis("DEL", `${root}:tasks`, `${root}:notes`);
      await redis("SREM", "boards", o.board);
      print({ cleared: tasks.length });
    }
  }
} catch (error) {
  fail(error.message.replace(/^ERR /, "").replace(/ script: .*$/, ""));
} finally {
  redis.close();
}
