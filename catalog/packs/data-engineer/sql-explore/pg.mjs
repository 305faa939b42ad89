// A small PostgreSQL client (protocol 3.0, SCRAM-SHA-256) without dependencies. Run without arguments for the usage.
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import net from "node:net";
import { parseArgs } from "node:util";

const usage = `usage: node pg.mjs [options] SQL [PARAMETER...]     parameters are $1, $2, ... of the SQL
  --file FILE         take the SQL from a file ("-": standard input)
  --write             allow changes; without it the session is read-only
  --max N             print at most N rows (default 200)
  --csv               print CSV instead of JSON
  --seconds N         longest time of a statement (default 60)
  --copy FILE.csv     send a file into "COPY ... FROM STDIN" (needs --write)
  --database NAME     another database of the same server`;
const fail = (message, code = 1) => {
  console.error(message);
  process.exit(code);
};
const { values: o, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    file: { type: "string" },
    write: { type: "boolean", default: false },
    max: { type: "string", default: "200" },
    csv: { type: "boolean", default: false },
    seconds: { type: "string", default: "60" },
    copy: { type: "string" },
    database: { type: "string" },
  },
});
const sql = o.file ? readFileSync(o.file === "-" ? 0 : o.file, "utf8") : positionals.shift();
if (!sql?.trim()) fail(usage, 2);
const parameters = positionals;
if (!process.env.POSTGRESQL_URL) fail("POSTGRESQL_URL is not set");
const url = new URL(process.env.POSTGRESQL_URL);
const user = decodeURIComponent(url.username);
const password = decodeURIComponent(url.password);
const database = o.database ?? decodeURIComponent(url.pathname.slice(1));

const socket = net.connect({ host: url.hostname, port: Number(url.port || 5432) });
let finished = false;
socket.on("error", (error) => finished || fail(`PostgreSQL does not answer: ${error.code ?? error.message}`));
socket.setNoDelay(true);

const text = (value) => Buffer.from(`${value}\0`);
const int16 = (value) => Buffer.from([value >> 8, value & 255]);
const int32 = (value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const message = (kind, ...parts) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(kind), int32(body.length + 4), body]);
};

/** Messages of the server, one after the other. */
async function* messages() {
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket) {
    bytes = bytes.length ? Buffer.concat([bytes, chunk]) : chunk;
    let at = 0;
    while (bytes.length - at >= 5) {
      const end = at + 1 + bytes.readInt32BE(at + 1);
      if (bytes.length < end) break;
      yield { kind: String.fromCharCode(bytes[at]), body: bytes.subarray(at + 5, end) };
      at = end;
    }
    bytes = bytes.subarray(at);
  }
}

function errorOf(body) {
  const fields = Object.fromEntries(body.toString().split("\0").filter(Boolean).map((field) => [field[0], field.slice(1)]));
  return [`${fields.S} ${fields.C}: ${fields.M}`, fields.D, fields.H && `Hint: ${fields.H}`, fields.P && `at character ${fields.P}`, fields.W].filter(Boolean).join("\n");
}

/** Numbers, booleans and JSON as such; everything else as PostgreSQL writes it. */
function valueOf(bytes, type) {
  if (bytes === null) return null;
  const value = bytes.toString();
  if (type === 16) return value === "t";
  if ([21, 23, 26, 700, 701].includes(type)) return Number.isFinite(Number(value)) ? Number(value) : value;
  if (type === 20) return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (type === 114 || type === 3802) return JSON.parse(value);
  return value;
}

const hmac = (key, data) => createHmac("sha256", key).update(data).digest();
const scram = { nonce: randomBytes(18).toString("base64") };
function authenticate(body) {
  const kind = body.readInt32BE(0);
  if (kind === 3) socket.write(message("p", text(password)));
  else if (kind === 5) {
    const md5 = (data) => createHash("md5").update(data).digest("hex");
    socket.write(message("p", text(`md5${md5(Buffer.concat([Buffer.from(md5(password + user)), body.subarray(4, 8)]))}`)));
  } else if (kind === 10) {
    if (!body.toString("utf8", 4).split("\0").includes("SCRAM-SHA-256")) fail("the server offers no known way to log in");
    scram.first = `n=,r=${scram.nonce}`;
    const first = Buffer.from(`n,,${scram.first}`);
    socket.write(message("p", text("SCRAM-SHA-256"), int32(first.length), first));
  } else if (kind === 11) {
    const server = body.toString("utf8", 4);
    const { r: nonce, s: salt, i: rounds } = Object.fromEntries(server.split(",").map((part) => [part[0], part.slice(2)]));
    if (!nonce.startsWith(scram.nonce)) fail("the server's nonce does not continue ours");
    const salted = pbkdf2Sync(password.normalize("NFKC"), Buffer.from(salt, "base64"), Number(rounds), 32, "sha256");
    const key = hmac(salted, "Client Key");
    const last = `c=biws,r=${nonce}`;
    const all = `${scram.first},${server},${last}`;
    const signature = hmac(createHash("sha256").update(key).digest(), all);
    scram.server = hmac(hmac(salted, "Server Key"), all);
    socket.write(message("p", Buffer.from(`${last},p=${Buffer.from(key.map((byte, at) => byte ^ signature[at])).toString("base64")}`)));
  } else if (kind === 12) {
    const given = Buffer.from(/v=([^,]+)/.exec(body.toString("utf8", 4))?.[1] ?? "", "base64");
    if (given.length !== 32 || !timingSafeEqual(given, scram.server)) fail("the server could not prove that it knows the password");
  } else if (kind !== 0) fail(`the server asks for login method ${kind}, which is not known here`);
}

socket.once("connect", () => {
  const settings = { user, database, application_name: "agent", client_encoding: "UTF8", options: `-c statement_timeout=${Number(o.seconds) * 1000}${o.write ? "" : " -c default_transaction_read_only=on"}` };
  const body = Buffer.concat([int32(196608), ...Object.entries(settings).flatMap((pair) => pair.map(text)), Buffer.from([0])]);
  socket.write(Buffer.concat([int32(body.length + 4), body]));
});

const cell = (value) => {
  const plain = value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};
const results = [];
let result = { columns: [], rows: [], total: 0 };
let sent = false;
let failed = false;
for await (const { kind, body } of messages()) {
  if (kind === "R") authenticate(body);
  else if (kind === "E") {
    console.error(errorOf(body));
    failed = true;
    if (!sent) process.exit(1);
  } else if (kind === "N") console.error(errorOf(body));
  else if (kind === "T") {
    const columns = [];
    for (let count = body.readInt16BE(0), at = 2; count > 0; count--) {
      const end = body.indexOf(0, at);
      columns.push({ name: body.toString("utf8", at, end), type: body.readInt32BE(end + 7) });
      at = end + 19;
    }
    result = { columns, rows: [], total: 0 };
  } else if (kind === "D") {
    result.total++;
    if (result.rows.length >= Number(o.max)) continue;
    const row = [];
    let at = 2;
    for (const { type } of result.columns) {
      const length = body.readInt32BE(at);
      row.push(valueOf(length < 0 ? null : body.subarray(at + 4, at + 4 + length), type));
      at += 4 + Math.max(0, length);
    }
    result.rows.push(row);
  } else if (kind === "C") {
    results.push({ ...result, command: body.toString("utf8", 0, body.length - 1) });
    result = { columns: [], rows: [], total: 0 };
  } else if (kind === "G") {
    if (!o.copy) {
      socket.write(message("f", text("no --copy FILE was given")));
      continue;
    }
    try {
      for await (const chunk of createReadStream(o.copy)) if (!socket.write(message("d", chunk))) await new Promise((resume) => socket.once("drain", resume));
      socket.write(message("c"));
    } catch (error) {
      socket.write(message("f", text(error.message)));
    }
    if (parameters.length > 0) socket.write(message("S"));
  } else if (kind === "Z") {
    if (sent) {
      finished = true;
      socket.end(message("X"));
      break;
    }
    sent = true;
    if (parameters.length === 0) socket.write(message("Q", text(sql)));
    else {
      const bound = parameters.map((value) => (value === "\\N" ? int32(-1) : Buffer.concat([int32(Buffer.byteLength(value)), Buffer.from(value)])));
      socket.write(
        Buffer.concat([
          message("P", text(""), text(sql), int16(0)),
          message("B", text(""), text(""), int16(0), int16(bound.length), ...bound, int16(0)),
          message("D", Buffer.from("P"), text("")),
          message("E", text(""), int32(0)),
          message("S"),
        ]),
      );
    }
  }
}
if (!sent) fail("the connection was closed before the query was sent");
for (const { columns, rows, total, command } of results) {
  if (columns.length === 0) console.error(command);
  else if (o.csv) console.log([columns.map(({ name }) => name), ...rows].map((row) => row.map(cell).join(",")).join("\n"));
  else console.log(JSON.stringify(rows.map((row) => Object.fromEntries(row.map((value, at) => [columns[at].name, value]))), null, 1));
  if (total > rows.length) console.error(`${rows.length} of ${total} rows shown (--max)`);
}
process.exitCode = failed ? 1 : 0;
