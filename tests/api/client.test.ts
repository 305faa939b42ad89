import { afterAll, describe, expect, test } from "bun:test";
import document from "../../openapi.json" with { type: "json" };
import { root, start } from "../support.ts";
import { composeFileOf, createClient } from "./client.example.ts";

const server = start({ STACK_API_KEY: "key" });
afterAll(() => server.server.stop());

describe("the typed client", () => {
  test("has types of every operation and schema of the document (`bun run client` makes them)", async () => {
    const types = await Bun.file(`${root}/tests/api/client.types.ts`).text();
    for (const path of Object.values(document.paths))
      for (const { operationId } of Object.values(path)) expect(types).toContain(`${operationId}: {`);
    for (const [name, { properties }] of Object.entries(document.components.schemas)) {
      const start = types.indexOf(`\n    ${name}: {\n`);
      expect(start, name).toBeGreaterThan(0);
      const type = types.slice(start, types.indexOf("\n    };\n", start));
      for (const property of Object.keys(properties)) expect(type).toMatch(new RegExp(`\n      ${property}\\??:`));
    }
  });

  test("makes a stack", async () => {
    expect(await composeFileOf(server.url, "key", "message-queue")).toContain("services:");
  });

  test("reports conflicts and refusals", async () => {
    await expect(composeFileOf(server.url, undefined, "message-queue")).rejects.toThrow("UNAUTHORIZED");
    await expect(composeFileOf(server.url, "key", "database")).rejects.toThrow("conflict");
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
