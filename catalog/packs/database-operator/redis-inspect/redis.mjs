// A small Redis client (RESP2 over TCP) without dependencies.
// As a module: const redis = await connect(); await redis("GET", "key"); redis.close();
// As a program: node redis.mjs GET key        prints the answer as JSON.
import net from "node:net";
import { pathToFileURL } from "node:url";

/** Reads one reply at `at`; returns [value, next position], or undefined when more bytes are needed. */
function parse(buffer, at) {
  const end = buffer.indexOf("\r\n", at);
  if (end < 0) return undefined;
  const line = buffer.toString("utf8", at + 1, end);
  const next = end + 2;
  switch (String.fromCharCode(buffer[at])) {
    case "+":
      return [line, next];
    case "-":
      return [new Error(line), next];
    case ":":
      return [Number(line), next];
    case "$": {
      const length = Number(line);
      if (length < 0) return [null, next];
      if (buffer.length < next + length + 2) return undefined;
      return [buffer.toString("utf8", next, next + length), next + length + 2];
    }
    case "*": {
      if (Number(line) < 0) return [null, next];
      const items = [];
      let position = next;
      for (let count = Number(line); count > 0; count--) {
        const item = parse(buffer, position);
        if (item === undefined) return undefined;
        items.push(item[0]);
        position = item[1];
      }
      return [items, position];
    }
    default:
      throw new Error("not a Redis server: unexpected reply");
  }
}

/** Opens a connection and authenticates. The result is a function that sends one command and resolves to its reply. */
export async function connect({
  host = process.env.REDIS_HOST ?? "redis",
  port = Number(process.env.REDIS_PORT ?? 6379),
  password = process.env.REDIS_PASSWORD,
  timeout = 10_000,
} = {}) {
  const socket = net.connect({ host, port });
  const waiting = [];
  let received = Buffer.alloc(0);
  let failure;
  const fail = (error) => {
    failure ??= error;
    socket.destroy();
    for (const { reject } of waiting.splice(0)) reject(failure);
  };
  socket.setNoDelay(true);
  socket.setTimeout(timeout, () => waiting.length > 0 && fail(new Error(`no answer from ${host}:${port} within ${timeout} ms`)));
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("connection closed")));
  socket.on("data", (bytes) => {
    received = received.length > 0 ? Buffer.concat([received, bytes]) : bytes;
    try {
      let at = 0;
      for (let reply; at < received.length && (reply = parse(received, at)) !== undefined; at = reply[1]) {
        const { resolve, reject } = waiting.shift();
        if (reply[0] instanceof Error) reject(reply[0]);
        else resolve(reply[0]);
      }
      received = received.subarray(at);
    } catch (error) {
      fail(error);
    }
  });
  const send = (...words) =>
    new Promise((resolve, reject) => {
      if (failure) return reject(failure);
      waiting.push({ resolve, reject });
      const parts = words.map((word) => Buffer.from(String(word)));
      const chunks = [Buffer.from(`*${parts.length}\r\n`)];
      for (const part of parts) chunks.push(Buffer.from(`$${part.length}\r\n`), part, Buffer.from("\r\n"));
      socket.write(Buffer.concat(chunks));
    });
  if (password) await send("AUTH", password);
  send.close = () => {
    failure ??= new Error("connection closed");
    socket.end();
  };
  return send;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const words = process.argv.slice(2);
  if (words.length === 0) {
    console.error("usage: node redis.mjs COMMAND [ARGUMENT...]");
    process.exit(2);
  }
  try {
    const redis = await connect();
    console.log(JSON.stringify(await redis(...words), null, 2));
    redis.close();
  } catch (error) {
    console.error(error.message);
    process.exit(1);
  }
}
