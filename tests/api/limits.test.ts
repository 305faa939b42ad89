import { describe, expect, setSystemTime, test } from "bun:test";
import { memoryLimiter, windowMs } from "../../lib/http/limit.ts";
import { failure, start } from "../support.ts";

const limits = (response: Response) => ({
  limit: Number(response.headers.get("x-ratelimit-limit")),
  remaining: Number(response.headers.get("x-ratelimit-remaining")),
  reset: Number(response.headers.get("x-ratelimit-reset")),
});

describe("the documented limits", () => {
  const contract = { LIMIT_READ: "", LIMIT_WRITE: "", LIMIT_GENERATE: "" };

  test.each([
    ["read", 100, "GET", "/api/v1/health"],
    ["write", 20, "POST", "/api/v1/validate"],
    ["generate", 5, "POST", "/api/v1/generate"],
  ])("%s: %d requests pass, the next is refused with Retry-After", async (_, limit, method, path) => {
    await using client = start(contract);
    const ask = () => (method === "GET" ? client.get(path) : client.post(path, { name: "a" }));
    const before = Date.now();
    for (let count = 1; count <= limit; count++) {
      const response = await ask();
      expect(response.status).toBe(200);
      const state = limits(response);
      expect(state.limit).toBe(limit);
      expect(state.remaining).toBe(limit - count);
      expect(state.reset * 1000).toBeGreaterThanOrEqual(before + windowMs - 1000);
      expect(state.reset * 1000).toBeLessThanOrEqual(Date.now() + windowMs + 1000);
      await response.body?.cancel();
    }
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(limits(refused)).toMatchObject({ limit, remaining: 0 });
    const wait = Number(refused.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    expect((await failure(refused)).code).toBe("RATE_LIMITED");
  });

  test("the three are counted apart", async () => {
    await using client = start({ ...contract, LIMIT_GENERATE: "1" });
    expect((await client.post("/api/v1/generate", { name: "a" })).status).toBe(200);
    expect((await client.post("/api/v1/generate", { name: "a" })).status).toBe(429);
    expect((await client.post("/api/v1/validate", {})).status).toBe(200);
    expect((await client.get("/api/v1/health")).status).toBe(200);
  });

  test("every response carries the headers", async () => {
    await using client = start({ STACK_API_KEY: "key", LIMIT_GENERATE: "2" });
    const key = { Authorization: "Bearer key" };
    const etag = (await client.get("/api/v1/services")).headers.get("etag") ?? "";
    const responses: [number, Response][] = [
      [200, await client.get("/api/v1/health")],
      [304, await client.get("/api/v1/services", { "If-None-Match": etag })],
      [400, await client.post("/api/v1/validate", "x", key)],
      [401, await client.post("/api/v1/validate", {})],
      [404, await client.get("/nowhere")],
      [404, await client.get("/api/v1/presets/none")],
      [405, await client.post("/api/v1/health", {})],
      [409, await client.post("/api/v1/generate", { name: "a", services: ["redis", "valkey"] }, key)],
      [413, await client.post("/api/v1/validate", " ".repeat(70_000), key)],
      [415, await client.post("/api/v1/validate", "x", { ...key, "Content-Type": "text/plain" })],
      [
        204,
        await fetch(`${client.url}/api/v1/validate`, {
          method: "OPTIONS",
          headers: { Origin: "https://a.example", "Access-Control-Request-Method": "POST" },
        }),
      ],
    ];
    for (let index = 0; index < 2; index++)
      responses.push([index === 0 ? 200 : 429, await client.post("/api/v1/generate", { name: "a" }, key)]);
    for (const [status, response] of responses) {
      expect(response.status).toBe(status);
      for (const name of ["limit", "remaining", "reset"]) expect(response.headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
    }
  });

  test("OPTIONS takes no token", async () => {
    await using client = start({ LIMIT_READ: "2" });
    for (let count = 0; count < 5; count++) expect((await fetch(`${client.url}/api/v1/health`, { method: "OPTIONS" })).status).toBe(204);
    expect((await client.get("/api/v1/health")).status).toBe(200);
  });

  test("requests with the key are counted apart from those without, so strangers cannot use up a client's tokens", async () => {
    await using client = start({ STACK_API_KEY: "key", LIMIT_WRITE: "2" });
    for (let count = 0; count < 2; count++) expect((await client.post("/api/v1/validate", {})).status).toBe(401);
    expect((await client.post("/api/v1/validate", {}, { Authorization: "Bearer guess" })).status).toBe(429);
    expect((await client.post("/api/v1/validate", {}, { Authorization: "Bearer key" })).status).toBe(200);
  });

  test("a forged X-Forwarded-For moves nobody's bucket; a trusted proxy's is believed", async () => {
    await using open = start({ LIMIT_READ: "1" });
    expect((await open.get("/api/v1/health", { "X-Forwarded-For": "192.0.2.1" })).status).toBe(200);
    expect((await open.get("/api/v1/health", { "X-Forwarded-For": "192.0.2.2" })).status).toBe(429);
    await using behind = start({ LIMIT_READ: "1", TRUSTED_PROXIES: "127.0.0.0/8" });
    expect((await behind.get("/api/v1/health", { "X-Forwarded-For": "192.0.2.1" })).status).toBe(200);
    expect((await behind.get("/api/v1/health", { "X-Forwarded-For": "192.0.2.2" })).status).toBe(200);
    expect((await behind.get("/api/v1/health", { "X-Forwarded-For": "198.51.100.9, 192.0.2.2" })).status).toBe(429);
  });
});

describe("a bucket", () => {
  test("is full again when its window is over", () => {
    const take = memoryLimiter({ read: 2, write: 1, generate: 1 });
    const start = Date.now();
    try {
      setSystemTime(start);
      expect(take("read", "a", false)).toEqual({ limit: 2, remaining: 1, resetAt: start + windowMs, allowed: true });
      setSystemTime(start + windowMs / 2);
      expect(take("read", "a", false)).toMatchObject({ remaining: 0, resetAt: start + windowMs, allowed: true });
      expect(take("read", "a", false).allowed).toBe(false);
      setSystemTime(start + windowMs);
      expect(take("read", "a", false)).toEqual({ limit: 2, remaining: 1, resetAt: start + 2 * windowMs, allowed: true });
    } finally {
      setSystemTime();
    }
  });

  test("is one client's: others have their own, and memory stays bounded", () => {
    const take = memoryLimiter({ read: 1, write: 1, generate: 1 }, 1000);
    for (let client = 0; client < 5000; client++) expect(take("read", `client-${client}`, false).allowed).toBe(true);
    expect(take("read", "client-4999", false).allowed).toBe(false);
    expect(take("read", "client-0", false).allowed).toBe(true);
  });
});
