/** A load generator over HTTP/1.1: wrk where it is installed, else connections of our own. */
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";

export interface Load {
  readonly url: string;
  readonly path: string;
  /** Bodies to POST in turn; `#` in them becomes a number that is never the same twice. None: GET. */
  readonly bodies: readonly string[] | undefined;
  readonly connections: number;
  readonly seconds: number;
}

export interface Measured {
  readonly perSecond: number;
  /** Answers that were not 2xx, and connections that broke. */
  readonly failed: number;
}

const wrk = Bun.which("wrk");
/** What makes the load. */
export const generator = wrk ? "wrk" : "connections of the benchmark itself, which slow both sides down: prefer wrk";

/** Puts a server under load. */
export function load(options: Load): Promise<Measured> {
  return wrk ? withWrk(wrk, options) : withSockets(options);
}

async function withWrk(program: string, { url, path, bodies, connections, seconds }: Load): Promise<Measured> {
  const script = `${tmpdir()}/stackwright-bench-${process.pid}-${Bun.nanoseconds()}.lua`;
  const request = bodies
    ? `local bodies = {${bodies.map((body) => `[==[${body}]==]`).join(",")}}
local count = 0
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
request = function()
  count = count + 1
  local body = bodies[count % #bodies + 1]:gsub("#", tostring(count), 1)
  return wrk.format(nil, nil, nil, body)
end
`
    : "";
  await Bun.write(
    script,
    `${request}done = function(summary)
  local e = summary.errors
  io.write(string.format("RESULT %d %d %d\\n", summary.requests, summary.duration, e.connect + e.read + e.write + e.status + e.timeout))
end
`,
  );
  const child = Bun.spawn([program, "-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s", "-s", script, url + path], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const text = await child.stdout.text();
  await rm(script);
  const match = /RESULT (\d+) (\d+) (\d+)/.exec(text);
  if (match === null) throw new Error(`wrk: ${text}${await child.stderr.text()}`);
  return { perSecond: Number(match[1]) / (Number(match[2]) / 1e6), failed: Number(match[3]) };
}

async function withSockets({ url, path, bodies, connections, seconds }: Load): Promise<Measured> {
  const { hostname, port } = new URL(url);
  let answered = 0;
  let failed = 0;
  let count = 0;
  const end = performance.now() + seconds * 1000;
  const request = () => {
    if (bodies === undefined) return `GET ${path} HTTP/1.1\r\nHost: bench\r\n\r\n`;
    const body = (bodies[count % bodies.length] as string).replace("#", String(count++));
    return `POST ${path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  };
  const connection = async () => {
    const done = Promise.withResolvers<void>();
    let left = -1;
    let head = "";
    await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: (socket) => void socket.write(request()),
        data(socket, bytes) {
          if (left < 0) {
            head += bytes.toString("latin1");
            const at = head.indexOf("\r\n\r\n");
            if (at < 0) return;
            if (!head.startsWith("HTTP/1.1 2")) failed++;
            left = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) - (head.length - at - 4);
            head = "";
          } else left -= bytes.byteLength;
          if (left > 0) return;
          left = -1;
          answered++;
          if (performance.now() < end) socket.write(request());
          else socket.end();
        },
        close: () => done.resolve(),
        error: () => {
          failed++;
          done.resolve();
        },
      },
    });
    await done.promise;
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, connection));
  return { perSecond: answered / ((performance.now() - started) / 1000), failed };
}
