import { afterAll, describe, expect, test } from "bun:test";
import { preferredCoding } from "../../lib/http/negotiate.ts";
import { failure, payload, start } from "../support.ts";

const client = start();
afterAll(() => client.server.stop());
const raw = (path: string, init: RequestInit & { decompress?: boolean }) =>
  fetch(client.url + path, { decompress: false, ...init } as RequestInit);

describe("content coding", () => {
  test.each([
    [null, "identity"],
    ["gzip", "gzip"],
    ["gzip, zstd", "zstd"],
    ["gzip;q=1.0, zstd;q=0.5", "gzip"],
    ["br", "identity"],
    ["*", "zstd"],
    ["*;q=0", "identity"],
    ["gzip;q=0", "identity"],
    ["identity;q=1, gzip;q=0.5", "identity"],
    ["deflate, GZIP", "gzip"],
  ])("for %p: %s", (field, coding) => expect(preferredCoding(field)).toBe(coding as "gzip"));

  test("the catalog is served in the coding that is asked for", async () => {
    const plain = await (await raw("/api/v1/services", { headers: { "Accept-Encoding": "identity" } })).text();
    const gzip = await raw("/api/v1/services", { headers: { "Accept-Encoding": "gzip" } });
    expect(gzip.headers.get("content-encoding")).toBe("gzip");
    expect(gzip.headers.get("vary")).toContain("Accept-Encoding");
    expect(new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(await gzip.arrayBuffer())))).toBe(plain);
    const zstd = await raw("/api/v1/services", { headers: { "Accept-Encoding": "zstd" } });
    expect(new TextDecoder().decode(Bun.zstdDecompressSync(await zstd.bytes()))).toBe(plain);
  });
});

describe("conditional requests", () => {
  test.each(["/api/v1/services", "/api/v1/services?category=database", "/api/v1/skills", "/api/v1/presets", "/api/v1/presets/minimal"])(
    "%s has an ETag and answers 304 to it",
    async (path) => {
      const first = await raw(path, { headers: { "Accept-Encoding": "identity" } });
      const etag = first.headers.get("etag") ?? "";
      expect(etag).toMatch(/^"[\w-]+"$/);
      for (const field of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const again = await raw(path, { headers: { "If-None-Match": field } });
        expect(again.status).toBe(304);
        expect(await again.text()).toBe("");
      }
      expect((await raw(path, { headers: { "If-None-Match": '"other"' } })).status).toBe(200);
    },
  );
});

describe("methods", () => {
  test("HEAD answers like GET without a body", async () => {
    for (const path of ["/api/v1/health", "/api/v1/services", "/nowhere"]) {
      const get = await raw(path, { headers: { "Accept-Encoding": "identity" } });
      const head = await raw(path, { method: "HEAD", headers: { "Accept-Encoding": "identity" } });
      expect(head.status).toBe(get.status);
      expect(await head.text()).toBe("");
      expect(head.headers.get("content-length")).toBe(String((await get.bytes()).byteLength));
    }
  });

  test("a wrong method is told which are right", async () => {
    const response = await client.post("/api/v1/health", {});
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect((await failure(response)).code).toBe("NOT_FOUND");
    expect((await client.get("/api/v1/generate")).headers.get("allow")).toBe("POST, OPTIONS");
    expect((await client.post("/api/v1/presets/minimal", {})).status).toBe(405);
  });

  test("OPTIONS answers CORS preflights", async () => {
    const response = await raw("/api/v1/generate", {
      method: "OPTIONS",
      headers: { Origin: "https://a.example", "Access-Control-Request-Method": "POST" },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-methods")).toContain("POST");
    expect(response.headers.get("access-control-allow-headers")).toContain("Authorization");
  });
});

describe("every response", () => {
  test("lets browsers read the headers that matter, and does not let them guess types", async () => {
    for (const response of [await client.get("/api/v1/health"), await client.get("/nowhere"), await client.post("/api/v1/validate", "x")]) {
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
      for (const name of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After", "Content-Disposition"]) {
        expect(response.headers.get("access-control-expose-headers")).toContain(name);
      }
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("server")).toBeNull();
      expect(response.headers.get("content-length")).toMatch(/^\d+$/);
      expect(response.headers.get("x-request-id")).toBeTruthy();
    }
  });

  test("bears the request's own id when it is usable", async () => {
    expect((await client.get("/api/v1/health", { "X-Request-Id": "abc-1" })).headers.get("x-request-id")).toBe("abc-1");
    expect((await client.get("/api/v1/health", { "X-Request-Id": "a b" })).headers.get("x-request-id")).not.toBe("a b");
  });
});

describe("paths", () => {
  test("the root says what this is and where things are", async () => {
    const data = await payload(await client.get("/"));
    expect(data.name).toBe("Stackwright");
    expect(data.links.health).toBe("/api/v1/health");
  });

  test("an unknown path is not found, and says where the documentation is", async () => {
    for (const path of ["/nowhere", "/api/v1", "/api/v1/services/", "/api/v2/health", "/api/v1/presets/a/b"]) {
      const response = await client.get(path);
      expect(response.status).toBe(404);
      const { code, message } = await failure(response);
      expect(code).toBe("NOT_FOUND");
      expect(message).toContain("/api/v1/openapi.json");
    }
  });
});
