import { afterAll, describe, expect, test } from "bun:test";
import { start } from "../support.ts";
import { composeFileOf, createClient } from "./client.example.ts";

const server = start({ STACK_API_KEY: "key" });
afterAll(() => server.server.stop());

describe("the typed client", () => {
  test("makes a stack", async () => {
    expect(await composeFileOf(server.url, "key", "message-queue")).toContain("services:");
  });

  test("reports conflicts and refusals", async () => {
    expect(composeFileOf(server.url, undefined, "message-queue")).rejects.toThrow("UNAUTHORIZED");
    expect(composeFileOf(server.url, "key", "database")).rejects.toThrow("conflict");
  });

  test("knows fields and values: what is wrong does not compile", async () => {
    const client = createClient(server.url, "key");
    // @ts-expect-error -- no such proxy
    expect((await client.post("/api/v1/validate", { proxy: "apache" })).ok).toBe(false);
    // @ts-expect-error -- the name is missing
    expect((await client.post("/api/v1/generate", {})).ok).toBe(false);
    // @ts-expect-error -- no such field
    expect((await client.post("/api/v1/validate", { service: ["redis"] })).ok).toBe(false);
    // @ts-expect-error -- an operation of another method
    expect((await client.get("/api/v1/validate")).ok).toBe(false);
    const health = await client.get("/api/v1/health");
    if (health.ok) {
      expect(health.data.status).toBe("healthy");
      // @ts-expect-error -- no such field in the answer
      expect(health.data.statistics).toBeUndefined();
    }
  });
});
