// A small MQTT 3.1.1 client without dependencies.
//   node mqtt.mjs pub TOPIC MESSAGE [--retain]         MESSAGE "-" reads standard input
//   node mqtt.mjs sub FILTER [--seconds 5] [--count 50]   prints one JSON line per message
// Reads MOSQUITTO_URL (mqtt://host:port), MOSQUITTO_USER and MOSQUITTO_PASSWORD.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import net from "node:net";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { retain: { type: "boolean", default: false }, seconds: { type: "string", default: "5" }, count: { type: "string", default: "50" } },
});
const [command, topic, message] = positionals;
const fail = (text) => {
  console.error(text);
  process.exit(1);
};
if (!["pub", "sub"].includes(command) || !topic || (command === "pub" && message === undefined)) {
  fail("usage: node mqtt.mjs pub TOPIC MESSAGE [--retain] | sub FILTER [--seconds N] [--count N]");
}
if (command === "pub" && /[#+]/.test(topic)) fail("a topic to publish to holds no # or +");

const url = new URL(process.env.MOSQUITTO_URL ?? "mqtt://mosquitto:1883");
const string = (text) => {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
};
function packet(type, ...parts) {
  const body = Buffer.concat(parts);
  const length = [];
  let rest = body.length;
  do {
    const digit = rest % 128;
    rest = Math.floor(rest / 128);
    length.push(rest > 0 ? digit | 128 : digit);
  } while (rest > 0);
  return Buffer.concat([Buffer.from([type, ...length]), body]);
}

const socket = net.connect({ host: url.hostname, port: Number(url.port || 1883) });
const timer = setTimeout(() => fail(`no answer from ${url.host} within 10 s`), 10_000);
let received = Buffer.alloc(0);
let seen = 0;
const finish = () => {
  socket.end(Buffer.from([0xe0, 0]));
  socket.destroySoon();
};
socket.on("error", (error) => fail(`MQTT: ${error.message}`));
socket.on("connect", () => {
  const user = process.env.MOSQUITTO_USER;
  const password = process.env.MOSQUITTO_PASSWORD;
  const flags = 0x02 | (user ? 0x80 : 0) | (user && password ? 0x40 : 0);
  socket.write(
    packet(0x10, string("MQTT"), Buffer.from([4, flags, 0, 60]), string(`agent-${randomBytes(6).toString("hex")}`), ...(user ? [string(user)] : []), ...(user && password ? [string(password)] : [])),
  );
});
const refusals = ["", "protocol version", "client id", "server unavailable", "user name or password", "not authorised"];
function handle(type, flags, body) {
  if (type === 2) {
    clearTimeout(timer);
    if (body[1] !== 0) fail(`refused: ${refusals[body[1]] ?? body[1]}`);
    if (command === "sub") {
      socket.write(packet(0x82, Buffer.from([0, 1]), string(topic), Buffer.from([0])));
      setTimeout(finish, Math.min(Number(values.seconds) || 5, 600) * 1000);
    } else {
      const payload = message === "-" ? readFileSync(0) : Buffer.from(message);
      // Quality of service 1: the broker acknowledges.
      socket.write(packet(0x32 | (values.retain ? 1 : 0), string(topic), Buffer.from([0, 1]), payload));
      setTimeout(() => fail("the broker did not acknowledge within 10 s"), 10_000).unref();
    }
  } else if (type === 4) {
    console.log(JSON.stringify({ published: topic, retained: values.retain }));
    finish();
  } else if (type === 9 && body[2] === 0x80) {
    fail("subscription refused");
  } else if (type === 3) {
    const length = body.readUInt16BE(0);
    const start = 2 + length + (flags & 0x06 ? 2 : 0);
    console.log(JSON.stringify({ topic: body.toString("utf8", 2, 2 + length), retained: (flags & 1) === 1, message: body.toString("utf8", start, start + 4000) }));
    if (++seen >= Number(values.count)) finish();
  }
}
socket.on("data", (bytes) => {
  received = Buffer.concat([received, bytes]);
  for (;;) {
    let length = 0;
    let at = 1;
    let digit = 128;
    while (digit & 128) {
      if (at >= received.length) return;
      digit = received[at];
      length += (digit & 127) * 128 ** (at - 1);
      at++;
    }
    if (received.length < at + length) return;
    const head = received[0];
    const body = received.subarray(at, at + length);
    received = received.subarray(at + length);
    handle(head >> 4, head & 15, body);
  }
});
socket.on("close", () => {
  if (command === "sub") console.error(`${seen} messages`);
  process.exit(0);
});
