import { describe, expect, test } from "bun:test";
import { failure, root, run, start } from "../support.ts";

const key = "test-key-of-the-deployment";
const bearer = { Authorization: `Bearer ${key}` };

describe("with STACK_API_KEY", () => {
  test("reading needs no key", async () => {
    await using client = start({ STACK_API_KEY: key });
    for (const path of ["health", "services", "skills", "presets", "presets/minimal"])
      expect((await client.get(`/api/v1/${path}`)).status).toBe(200);
  });

  test("validate and generate need it", async () => {
    await using client = start({ STACK_API_KEY: key });
    for (const operation of ["validate", "generate"]) {
      for (const headers of [
        {},
        { Authorization: "Bearer wrong" },
        { Authorization: `Basic ${key}` },
        { Authorization: key },
        { Authorization: "Bearer" },
        { Authorization: `Bearer ${key}x` },
      ]) {
        const response = await client.post(`/api/v1/${operation}`, { name: "a" }, headers as Record<string, string>);
        expect(response.status).toBe(401);
        expect(response.headers.get("www-authenticate")).toBe("Bearer");
        expect((await failure(response)).code).toBe("UNAUTHORIZED");
      }
      expect((await client.post(`/api/v1/${operation}`, { name: "a" }, bearer)).status).toBe(200);
      expect((await client.post(`/api/v1/${operation}`, { name: "a" }, { Authorization: `bearer ${key}` })).status).toBe(200);
    }
  });

  test("a refused request is not read: 401 comes before any other complaint", async () => {
    await using client = start({ STACK_API_KEY: key });
    expect((await client.post("/api/v1/validate", "not json", { "Content-Type": "text/plain" })).status).toBe(401);
  });
});

describe("without STACK_API_KEY", () => {
  test("protected operations are open", async () => {
    await using client = start();
    expect((await client.post("/api/v1/validate", {})).status).toBe(200);
    expect((await client.post("/api/v1/validate", {}, { Authorization: "Bearer anything" })).status).toBe(200);
  });

  test("the server refuses any address but loopback, and says what to set", async () => {
    for (const host of ["0.0.0.0", "::", "192.0.2.1"]) {
      const { code, stderr } = await run(["bun", `${root}/server.ts`], { env: { HOST: host, PORT: "0", STACK_API_KEY: "" } });
      expect(code).toBe(2);
      expect(stderr).toContain("STACK_API_KEY");
      expect(stderr).toContain(host);
    }
  });
});

test("all problems of the settings are reported at once", async () => {
  const { code, stderr } = await run(["bun", `${root}/server.ts`], {
    env: {
      PORT: "70000",
      HOST: "0.0.0.0",
      STACK_API_KEY: "",
      LIMIT_READ: "0",
      TRUSTED_PROXIES: "10.0.0.0/33",
      LOG_LEVEL: "loud",
      CORS_ORIGIN: "x",
    },
  });
  expect(code).toBe(2);
  for (const name of ["PORT", "STACK_API_KEY", "LIMIT_READ", "TRUSTED_PROXIES", "LOG_LEVEL", "CORS_ORIGIN"]) expect(stderr).toContain(name);
});
