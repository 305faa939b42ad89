import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { windowMs } from "../../lib/http/limit.ts";
import { type RedisLimiterOptions, redisLimiter } from "../../lib/http/limit-redis.ts";
import { freePort, run, startProcess } from "../support.ts";

const program = Bun.which("redis-server") ?? Bun.which("valkey-server");
if (program === null)
  console.warn("SKIPPED: limits shared through Redis, since there is no redis-server on the PATH (apt-get install redis-server)");

const port = freePort();
const url = `redis://127.0.0.1:${port}`;
let redis: Bun.Subprocess | undefined;

async function until(condition: () => boolean | Promise<boolean>, what: string, ms = 10_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${ms} ms: ${what}`);
    await Bun.sleep(20);
  }
}

async function startRedis(): Promise<void> {
  redis = Bun.spawn([program as string, "--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"], {
    stdout: "ignore",
    stderr: "ignore",
  });
  await until(async () => {
    const client = new Bun.RedisClient(url, { autoReconnect: false });
    try {
      return (await client.ping()) === "PONG";
    } catch {
      return false;
    } finally {
      client.close();
    }
  }, "redis-server answers");
}

async function stopRedis(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
  redis?.kill(signal);
  await redis?.exited;
}

const limits = { read: 10, write: 5, generate: 2 };

/** A limiter of its own connection, with what it said on the log. */
function limiter(options: Partial<RedisLimiterOptions> = {}) {
  const lines: string[] = [];
  const shared = redisLimiter(url, limits, { warn: (line) => lines.push(line) }, { retryMs: 50, timeoutMs: 300, ...options });
  return { ...shared, lines, [Symbol.dispose]: shared.close };
}

let clients = 0;
const someone = () => `client-${++clients}`;

describe.skipIf(program === null)("limits shared through Redis", () => {
  beforeAll(startRedis);
  afterAll(() => stopRedis("SIGKILL"));

  test("two limiters that are hit at once let exactly the limit through", async () => {
    using a = limiter();
    using b = limiter();
    const client = someone();
    const before = Date.now();
    const states = await Promise.all(Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? a : b).take("read", client, false)));
    expect(states.filter((state) => state.allowed).length).toBe(limits.read);
    expect(
      states
        .filter((state) => state.allowed)
        .map((state) => state.remaining)
        .sort((x, y) => x - y),
    ).toEqual([...Array(limits.read).keys()]);
    for (const { limit, resetAt } of states) {
      expect(limit).toBe(limits.read);
      expect(resetAt).toBeGreaterThan(before + windowMs - 1000);
      expect(resetAt).toBeLessThanOrEqual(Date.now() + windowMs);
    }
    expect([...a.lines, ...b.lines]).toEqual([]);
  });

  test("classes and clients are counted apart; a look takes nothing", async () => {
    using a = limiter();
    const client = someone();
    expect(await a.take("generate", client, true)).toMatchObject({ limit: 2, remaining: 2, allowed: true });
    expect(await a.take("generate", client, false)).toMatchObject({ remaining: 1, allowed: true });
    expect(await a.take("generate", client, true)).toMatchObject({ remaining: 1, allowed: true });
    expect(await a.take("generate", client, false)).toMatchObject({ remaining: 0, allowed: true });
    expect(await a.take("generate", client, false)).toMatchObject({ remaining: 0, allowed: false });
    expect(await a.take("generate", client, true)).toMatchObject({ remaining: 0, allowed: false });
    expect(await a.take("write", client, false)).toMatchObject({ limit: 5, remaining: 4 });
    expect(await a.take("generate", someone(), false)).toMatchObject({ remaining: 1 });
  });

  test("keys go with their window, which starts with the first request", async () => {
    using a = limiter({ prefix: "test:window:" });
    const client = someone();
    await a.take("read", client, true);
    const inspect = new Bun.RedisClient(url);
    expect(await inspect.exists(`test:window:read:${client}`)).toBe(false);
    await a.take("read", client, false);
    const first = await inspect.pttl(`test:window:read:${client}`);
    await Bun.sleep(30);
    await a.take("read", client, false);
    const second = await inspect.pttl(`test:window:read:${client}`);
    expect(first).toBeGreaterThan(windowMs - 1000);
    expect(second).toBeLessThanOrEqual(first - 25);
    // The window's end, made to come early.
    await inspect.pexpire(`test:window:read:${client}`, 1);
    await Bun.sleep(20);
    expect(await a.take("read", client, false)).toMatchObject({ remaining: limits.read - 1, allowed: true });
    inspect.close();
  });

  test("a server that has forgotten the script is sent it again", async () => {
    using a = limiter();
    const client = someone();
    expect((await a.take("read", client, false)).remaining).toBe(9);
    const inspect = new Bun.RedisClient(url);
    await inspect.send("SCRIPT", ["FLUSH"]);
    inspect.close();
    expect((await a.take("read", client, false)).remaining).toBe(8);
    expect(a.lines).toEqual([]);
  });

  test("a server that hangs: the process limits by itself, says so once, and comes back", async () => {
    using a = limiter({ timeoutMs: 100 });
    const client = someone();
    for (let count = 0; count < 3; count++) await a.take("read", client, false);
    redis?.kill("SIGSTOP");
    try {
      const started = performance.now();
      const states = await Promise.all(Array.from({ length: 40 }, () => a.take("read", client, false)));
      expect(performance.now() - started).toBeLessThan(1000);
      // Three tokens were used while limits were shared.
      expect(states.filter((state) => state.allowed).length).toBe(limits.read - 3);
      const quick = performance.now();
      expect((await a.take("read", client, false)).allowed).toBe(false);
      expect(performance.now() - quick).toBeLessThan(50);
      expect(a.lines.length).toBe(1);
      expect(a.lines[0]).toContain("this process limits by itself");
    } finally {
      redis?.kill("SIGCONT");
    }
    await until(() => a.lines.length === 2, "back to Redis");
    expect(a.lines[1]).toContain("shared again");
    using b = limiter();
    const other = someone();
    expect((await a.take("read", other, false)).remaining).toBe(9);
    expect((await b.take("read", other, false)).remaining).toBe(8);
  });

  test("without a server at the start, it is waited for in the background", async () => {
    const nowhere = `redis://127.0.0.1:${freePort()}`;
    const lines: string[] = [];
    const alone = redisLimiter(nowhere, limits, { warn: (line) => lines.push(line) }, { retryMs: 20 });
    const client = someone();
    const states = await Promise.all(Array.from({ length: 50 }, () => alone.take("read", client, false)));
    expect(states.filter((state) => state.allowed).length).toBe(limits.read);
    await Bun.sleep(150);
    expect(lines.length).toBe(1);
    alone.close();
  });

  test("two processes: exactly the limit together; Redis stopped under load and started again costs no request", async () => {
    const env = { REDIS_URL: url, LIMIT_READ: "50", TRUSTED_PROXIES: "127.0.0.1" };
    await using a = await startProcess(env);
    await using b = await startProcess(env);
    const ask = async (from: string, servers = [a, b]) => {
      const responses = await Promise.all(
        Array.from({ length: 160 }, (_, index) =>
          fetch(`${servers[index % servers.length]?.url}/api/v1/health`, { headers: { "X-Forwarded-For": from } }),
        ),
      );
      await Promise.all(responses.map((response) => response.arrayBuffer()));
      return responses.map((response) => response.status);
    };
    const allowed = (statuses: number[]) => {
      expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
      return statuses.filter((status) => status === 200).length;
    };
    expect(allowed(await ask("192.0.2.1"))).toBe(50);

    // Load all the while: every request is answered, by 200 or by 429.
    const seen: Record<number, number> = {};
    let running = true;
    const load = Array.from({ length: 8 }, async (_, worker) => {
      for (let count = 0; running; count++) {
        const server = count % 2 === 0 ? a : b;
        const response = await fetch(`${server.url}/api/v1/health`, { headers: { "X-Forwarded-For": `198.51.100.${worker}` } });
        await response.arrayBuffer();
        seen[response.status] = (seen[response.status] ?? 0) + 1;
      }
    });
    await Bun.sleep(200);
    await stopRedis("SIGKILL");
    await until(() => a.errors().includes("limits by itself") && b.errors().includes("limits by itself"), "both processes noticed");
    expect(allowed(await ask("192.0.2.2", [a]))).toBe(50);
    expect(allowed(await ask("192.0.2.2", [b]))).toBe(50);
    await startRedis();
    await until(() => a.errors().includes("shared again") && b.errors().includes("shared again"), "both processes came back");
    expect(allowed(await ask("192.0.2.3"))).toBe(50);
    running = false;
    await Promise.all(load);
    expect(Object.keys(seen).sort()).toEqual(["200", "429"]);
    expect(a.errors().match(/limits by itself/g)?.length).toBe(1);
    for (const server of [a, b]) {
      server.process.kill("SIGTERM");
      expect(await server.process.exited).toBe(0);
    }
  }, 30_000);
});

test("a wrong REDIS_URL is reported at the start", async () => {
  const { code, stderr } = await run(["bun", `${import.meta.dir}/../../server.ts`], { env: { REDIS_URL: "localhost:6379", PORT: "0" } });
  expect(code).toBe(2);
  expect(stderr).toContain("REDIS_URL");
});
