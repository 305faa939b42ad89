// Calls LiveKit's server API and makes access tokens for participants, signed with LIVEKIT_API_KEY and LIVEKIT_API_SECRET.
//   node livekit.mjs call ListRooms '{}'
//   node livekit.mjs token ROOM IDENTITY [--name TEXT] [--minutes 60] [--listen]
import { createHmac } from "node:crypto";
import { parseArgs } from "node:util";

const { LIVEKIT_URL: url, LIVEKIT_API_KEY: key, LIVEKIT_API_SECRET: secret } = process.env;
const fail = (text) => {
  console.error(text);
  process.exit(1);
};
if (!url || !key || !secret) fail("LIVEKIT_URL, LIVEKIT_API_KEY and LIVEKIT_API_SECRET are not set");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { name: { type: "string" }, minutes: { type: "string", default: "60" }, listen: { type: "boolean", default: false } },
});

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
/** A JSON web token, see https://docs.livekit.io/home/get-started/authentication/ */
function sign(claims, seconds) {
  const now = Math.floor(Date.now() / 1000);
  const text = `${part({ alg: "HS256", typ: "JWT" })}.${part({ iss: key, nbf: now - 10, exp: now + seconds, ...claims })}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

const [command, first, second] = positionals;
if (command === "token" && first && second) {
  const minutes = Math.min(Math.max(Number(values.minutes) || 60, 1), 1440);
  const video = { roomJoin: true, room: first, canPublish: !values.listen, canPublishData: !values.listen, canSubscribe: true };
  console.log(sign({ sub: second, name: values.name ?? second, video }, minutes * 60));
} else if (command === "call" && /^[A-Z][A-Za-z]+$/.test(first ?? "")) {
  const body = JSON.parse(second ?? "{}");
  const token = sign({ video: { roomCreate: true, roomList: true, roomAdmin: true, room: body.room ?? body.name ?? "" } }, 60);
  const answer = await fetch(`${url.replace(/^ws/, "http")}/twirp/livekit.RoomService/${first}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  }).catch((error) => fail(`LiveKit: ${error.cause?.message ?? error.message}`));
  const text = await answer.text();
  if (!answer.ok) fail(`HTTP ${answer.status} ${text}`);
  console.log(JSON.stringify(JSON.parse(text), null, 1));
} else {
  fail("usage: node livekit.mjs call METHOD [JSON] | token ROOM IDENTITY [--name TEXT] [--minutes N] [--listen]");
}
