// Rooms of a Matrix homeserver. Run without arguments for the usage.
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const usage = `usage:
  node matrix.mjs whoami | rooms | invites
  node matrix.mjs join ROOM | leave ROOM
  node matrix.mjs read ROOM [--limit 50]
  node matrix.mjs send ROOM TEXT|- [--reply EVENT_ID]
  node matrix.mjs create NAME [--topic TEXT] [--invite @a:server,@b:server]
ROOM is an id (!...), an alias (#...:server) or the name of a joined room. TEXT "-" reads standard input.`;
const fail = (message, code = 1) => {
  console.error(message);
  process.exit(code);
};
const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: { limit: { type: "string", default: "50" }, reply: { type: "string" }, topic: { type: "string" }, invite: { type: "string" } },
});
const [command, target, ...words] = positionals;
const needs = { join: 1, leave: 1, read: 1, send: 2, create: 1, whoami: 0, rooms: 0, invites: 0 }[command];
if (needs === undefined || positionals.length - 1 < needs) fail(usage, 2);
const base = `${(process.env.MATRIX_SYNAPSE_URL ?? fail("MATRIX_SYNAPSE_URL is not set")).replace(/\/$/, "")}/_matrix/client/v3`;
const store = join(homedir(), ".cache", "agent-matrix.json");
let token;

async function request(method, path, body) {
  const response = await fetch(base + path, {
    method,
    headers: { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  }).catch((error) => fail(`the homeserver does not answer: ${error.cause?.code ?? error.message}`));
  return { status: response.status, answer: await response.json().catch(() => ({})) };
}
async function login() {
  token = undefined;
  const { status, answer } = await request("POST", "/login", {
    type: "m.login.password",
    identifier: { type: "m.id.user", user: process.env.MATRIX_SYNAPSE_USER ?? "admin" },
    password: process.env.MATRIX_SYNAPSE_PASSWORD,
    device_id: "OPENCLAWAGENT",
    initial_device_display_name: "OpenClaw agent",
  });
  if (status !== 200) fail(`login refused (${status} ${answer.errcode}): ${answer.error}${answer.retry_after_ms ? `; again in ${Math.ceil(answer.retry_after_ms / 1000)} s` : ""}`);
  token = answer.access_token;
  // Logging in is limited by the server, so the token is kept; only its owner can read it.
  mkdirSync(join(homedir(), ".cache"), { recursive: true });
  writeFileSync(store, JSON.stringify({ token }), { mode: 0o600 });
}
async function call(method, path, body) {
  let { status, answer } = await request(method, path, body);
  if (status === 401) {
    await login();
    ({ status, answer } = await request(method, path, body));
  }
  if (status >= 200 && status < 300) return answer;
  throw Object.assign(new Error(`${status} ${answer.errcode ?? ""}: ${answer.error ?? ""}${answer.retry_after_ms ? `; again in ${Math.ceil(answer.retry_after_ms / 1000)} s` : ""}`), { status });
}
try {
  ({ token } = JSON.parse(readFileSync(store, "utf8")));
} catch {
  await login();
}

const part = encodeURIComponent;
const state = (room, kind) => call("GET", `/rooms/${part(room)}/state/${kind}/`).catch(() => ({}));
async function describe(room) {
  const [{ name }, { alias }, { topic }, { algorithm }] = await Promise.all(["m.room.name", "m.room.canonical_alias", "m.room.topic", "m.room.encryption"].map((kind) => state(room, kind)));
  const { joined } = await call("GET", `/rooms/${part(room)}/joined_members`).catch(() => ({ joined: {} }));
  return { room, name: name ?? alias ?? Object.values(joined).map((one) => one.display_name).join(", "), alias, topic, members: Object.keys(joined).length, encrypted: algorithm !== undefined };
}
const joinedRooms = async () => Promise.all((await call("GET", "/joined_rooms")).joined_rooms.map(describe));
async function roomOf(text) {
  if (text.startsWith("!")) return text;
  if (text.startsWith("#")) return (await call("GET", `/directory/room/${part(text)}`)).room_id;
  const found = (await joinedRooms()).filter(({ name }) => name?.toLowerCase() === text.toLowerCase());
  return found.length === 1 ? found[0].room : fail(`${found.length === 0 ? "no joined" : "more than one"} room named "${text}"`);
}
const print = (value) => console.log(JSON.stringify(value, null, 1));

try {
  if (command === "whoami") print(await call("GET", "/account/whoami"));
  else if (command === "rooms") print(await joinedRooms());
  else if (command === "invites") {
    const filter = JSON.stringify({ room: { timeline: { limit: 0 }, state: { lazy_load_members: true } }, presence: { types: [] } });
    const { rooms } = await call("GET", `/sync?timeout=0&filter=${part(filter)}`);
    print(Object.entries(rooms?.invite ?? {}).map(([room, { invite_state }]) => ({ room, name: invite_state.events.find(({ type }) => type === "m.room.name")?.content.name, from: invite_state.events.find(({ type, content }) => type === "m.room.member" && content.membership === "invite")?.sender })));
  } else if (command === "join") print(await call("POST", `/join/${part(target)}`, {}));
  else if (command === "leave") {
    const room = await roomOf(target);
    await call("POST", `/rooms/${part(room)}/leave`, {});
    print({ left: room });
  } else if (command === "create") print(await call("POST", "/createRoom", { name: [target, ...words].join(" "), topic: o.topic, preset: "private_chat", invite: o.invite?.split(",") }));
  else if (command === "read") {
    const room = await roomOf(target);
    const { chunk } = await call("GET", `/rooms/${part(room)}/messages?dir=b&limit=${Number(o.limit)}`);
    for (const event of chunk.reverse()) {
      const at = new Date(event.origin_server_ts).toISOString().slice(0, 16);
      if (event.type === "m.room.message") console.log(`${at} ${event.sender} ${event.event_id}\n    ${(event.content["m.new_content"]?.body ?? event.content.body ?? "(removed)").replaceAll("\n", "\n    ")}${event.content.url ? ` [${event.content.msgtype} ${event.content.url}]` : ""}`);
      else if (event.type === "m.room.encrypted") console.log(`${at} ${event.sender} (encrypted, cannot be read here)`);
    }
  } else {
    const room = await roomOf(target);
    if ((await describe(room)).encrypted) fail("this room is encrypted; this program can neither read nor write there");
    const body = words[0] === "-" ? readFileSync(0, "utf8").trim() : words.join(" ");
    if (body === "") fail("nothing to send");
    const content = { msgtype: "m.text", body, ...(o.reply ? { "m.relates_to": { "m.in_reply_to": { event_id: o.reply } } } : {}) };
    print(await call("PUT", `/rooms/${part(room)}/send/m.room.message/${randomUUID()}`, content));
  }
} catch (error) {
  fail(error.message);
}
