import { describe, expect, test } from "bun:test";
import { version } from "../lib/version.ts";
import { freePort, payload, root, run, startProcess } from "./support.ts";

/** A connection whose bytes are written by hand. */
async function connect(url: string) {
  const { hostname, port } = new URL(url);
  let received = "";
  const closed = Promise.withResolvers<void>();
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, bytes) {
        received += bytes.toString("utf8");
      },
      close: () => closed.resolve(),
      error: () => closed.resolve(),
    },
  });
  return { socket, closed: closed.promise, received: () => received };
}

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let count = 0; !(await condition()); count++) {
    if (count > 500) throw new Error(`never: ${what}`);
    await Bun.sleep(10);
  }
}

/** Ids of services, those that conflict with another left out. */
async function services(url: string): Promise<string[]> {
  const { services } = await payload(await fetch(`${url}/api/v1/services`));
  return services
    .filter((service: { conflictsWith: string[] }) => service.conflictsWith.length === 0)
    .map((service: { id: string }) => service.id);
}

const listens = (url: string) =>
  connect(url).then(
    ({ socket }) => {
      socket.end();
      return true;
    },
    () => false,
  );

describe("SIGTERM", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s: a request in flight is answered, new connections are refused, the exit code is 0",
    async (signal) => {
      await using server = await startProcess();
      const body = JSON.stringify({ name: "late", preset: "minimal" });
      const { socket, received, closed } = await connect(server.url);
      socket.write(
        `POST /api/v1/generate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
      );
      socket.flush();
      await Bun.sleep(100);
      server.process.kill(signal);
      await until(async () => !(await listens(server.url)), "new connections are refused");
      expect(server.process.exitCode).toBeNull();
      expect(received()).toBe("");
      socket.write(body.slice(10));
      socket.flush();
      await until(() => received().includes("\r\n\r\n"), "the answer");
      expect(received()).toStartWith("HTTP/1.1 200");
      expect(await server.process.exited).toBe(0);
      await closed;
      const [head = "", answer = ""] = received().split("\r\n\r\n");
      expect(Buffer.byteLength(answer)).toBe(Number(/content-length: (\d+)/i.exec(head)?.[1]));
      expect(JSON.parse(answer).data.name).toBe("late");
    },
  );

  test("idle connections do not hold the process", async () => {
    await using server = await startProcess();
    await connect(server.url);
    const used = await connect(server.url);
    used.socket.write("GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await until(() => used.received().includes("healthy"), "an answer");
    const before = performance.now();
    server.process.kill("SIGTERM");
    expect(await server.process.exited).toBe(0);
    expect(performance.now() - before).toBeLessThan(2000);
    await used.closed;
  });

  test("an answer that a client reads slowly is sent to its end", async () => {
    await using server = await startProcess();
    const body = JSON.stringify({ name: "slow", services: (await services(server.url)).slice(0, 120) });
    const { socket, received } = await connect(server.url);
    socket.write(
      `POST /api/v1/generate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    socket.flush();
    await until(() => received().includes("\r\n\r\n"), "the head of the answer");
    socket.pause();
    server.process.kill("SIGTERM");
    await Bun.sleep(300);
    socket.resume();
    expect(await server.process.exited).toBe(0);
    const head = received().slice(0, received().indexOf("\r\n\r\n") + 4);
    const size = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    await until(() => Buffer.byteLength(received()) >= head.length + size, "the whole answer");
    expect(size).toBeGreaterThan(100_000);
    expect(JSON.parse(received().slice(head.length)).data.name).toBe("slow");
  });

  test("a second signal ends it at once", async () => {
    await using server = await startProcess();
    const { socket } = await connect(server.url);
    socket.write("POST /api/v1/validate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
    await Bun.sleep(100);
    server.process.kill("SIGTERM");
    await until(async () => !(await listens(server.url)), "new connections are refused");
    server.process.kill("SIGTERM");
    expect(await server.process.exited).toBe(1);
  });
});

describe("REUSE_PORT", () => {
  // Linux spreads connections over the listeners; on other systems the last one may get all of them.
  test.skipIf(process.platform !== "linux")("two processes serve one port, and one may go", async () => {
    const env = { PORT: String(freePort()), REUSE_PORT: "1" };
    await using a = await startProcess(env);
    await using b = await startProcess(env);
    expect(a.url).toBe(b.url);
    const prefixes = async (count: number) => {
      const ids = await Promise.all(
        Array.from({ length: count }, async () => {
          const response = await fetch(`${a.url}/api/v1/health`, { keepalive: false, headers: { Connection: "close" } });
          await response.arrayBuffer();
          expect(response.status).toBe(200);
          return response.headers.get("x-request-id")?.split("-")[0];
        }),
      );
      return new Set(ids).size;
    };
    expect(await prefixes(64)).toBe(2);
    a.process.kill("SIGTERM");
    expect(await a.process.exited).toBe(0);
    expect(await prefixes(16)).toBe(1);
  });

  test("without it, a taken port is an error that names it", async () => {
    await using server = await startProcess();
    const { port } = new URL(server.url);
    const { code, stderr } = await run(["bun", `${root}/server.ts`], { env: { PORT: port } });
    expect(code).toBe(1);
    expect(stderr).toContain(`127.0.0.1:${port}`);
  });
});

describe("METRICS_PORT", () => {
  test("counts requests by method, route and status in the Prometheus text format, on a port of its own", async () => {
    const port = freePort();
    await using server = await startProcess({ METRICS_PORT: String(port) });
    for (let count = 0; count < 3; count++) await (await fetch(`${server.url}/api/v1/presets/minimal`)).arrayBuffer();
    await (await fetch(`${server.url}/api/v1/presets/none`)).arrayBuffer();
    await (await fetch(`${server.url}/nowhere?secret=1`)).arrayBuffer();
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect(response.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
    const text = await response.text();
    const count = (route: string, status: number) =>
      Number(
        new RegExp(
          `^stackwright_http_request_duration_seconds_count\\{method="GET",route="${RegExp.escape(route)}",status="${status}"\\} (\\d+)$`,
          "m",
        ).exec(text)?.[1],
      );
    expect(count("/api/v1/presets/:name", 200)).toBe(3);
    expect(count("/api/v1/presets/:name", 404)).toBe(1);
    expect(count("(none)", 404)).toBe(1);
    expect(text).not.toContain("secret");
    const buckets = [...text.matchAll(/_bucket\{method="GET",route="\/api\/v1\/presets\/:name",status="200",le="([^"]+)"\} (\d+)/g)].map(
      (match) => Number(match[2]),
    );
    expect(buckets.at(-1)).toBe(3);
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b));
    for (const line of text.trimEnd().split("\n")) expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{[^{}]+\})? [\d.e+-]+)$/);
    expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
  });
});

describe("the log", () => {
  async function logged(env: Record<string, string>): Promise<string> {
    const child = Bun.spawn(["bun", `${root}/server.ts`], {
      env: { ...process.env, PORT: "0", STACK_API_KEY: "the-key", ...env },
      stdout: "pipe",
      stderr: "pipe",
    });
    const decoder = new TextDecoder();
    let url: string | undefined;
    for await (const chunk of child.stderr) {
      url = /listens on (http:\S+?)\/?\s/.exec(decoder.decode(chunk))?.[1];
      if (url !== undefined) break;
    }
    const headers = { "Content-Type": "application/json", Authorization: "Bearer the-key", "X-Request-Id": "asked-1" };
    expect((await fetch(`${url}/api/v1/validate?x=the-query`, { method: "POST", headers, body: '{"services":["redis"]}' })).status).toBe(
      200,
    );
    child.kill("SIGTERM");
    const text = await child.stdout.text();
    expect(await child.exited).toBe(0);
    return text;
  }

  test("says nothing about requests unless asked", async () => {
    expect(await logged({})).toBe("");
  });

  test("LOG_LEVEL=info: one JSON line a request, without key, query or body", async () => {
    const text = await logged({ LOG_LEVEL: "info" });
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const request = lines.find((line) => line.method !== undefined);
    expect(request).toMatchObject({ level: "info", id: "asked-1", method: "POST", route: "/api/v1/validate", status: 200 });
    expect(request.duration).toBeGreaterThan(0);
    for (const secret of ["the-key", "the-query", "redis"]) expect(text).not.toContain(secret);
  });
});

describe("--healthcheck", () => {
  const check = (env: Record<string, string>) => run(["bun", `${root}/server.ts`, "--healthcheck"], { env });

  test("asks the server of the same settings: 0 when it is healthy, 1 when not", async () => {
    await using server = await startProcess({ STACK_API_KEY: "the-key", HOST: "0.0.0.0" });
    const { port } = new URL(server.url);
    expect(await check({ PORT: port })).toMatchObject({ code: 0 });
    expect(await check({ PORT: port, HOST: "0.0.0.0", STACK_API_KEY: "the-key" })).toMatchObject({ code: 0 });
    const nothing = await check({ PORT: String(freePort()) });
    expect(nothing.code).toBe(1);
    expect(nothing.stderr).toContain("unhealthy");
  });
});

test("--version prints the version of package.json, which /health shows, too", async () => {
  expect((await run(["bun", `${root}/server.ts`, "--version"])).stdout.trim()).toBe(version);
  await using server = await startProcess();
  expect((await payload(await fetch(`${server.url}/api/v1/health`))).version).toBe(version);
});
