import { afterAll, describe, expect, test } from "bun:test";
import { openApiText } from "../../lib/api/openapi.ts";
import document from "../../openapi.json" with { type: "json" };
import { allowed, type DocumentedResponse, invalid, paths, read, resolve, templateOf, undocumented } from "../openapi.ts";
import { catalog, root, start } from "../support.ts";

const client = start({ STACK_API_KEY: "key" });
const narrow = start({ STACK_API_KEY: "key", LIMIT_READ: "1", LIMIT_WRITE: "1", LIMIT_GENERATE: "1" });
afterAll(() => Promise.all([client.server.stop(), narrow.server.stop()]));

const key = { Authorization: "Bearer key" };
const json = { "Content-Type": "application/json" };

interface Ask {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
  url?: string;
}

/** Asks, expects a status and an answer as documented, and returns its body as text. */
async function ask(status: number, path: string, { method = "GET", headers = {}, body, url = client.url }: Ask = {}): Promise<string> {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(url + path, {
    method,
    headers: { "Accept-Encoding": "identity", ...(text === undefined ? {} : json), ...headers },
    ...(text === undefined ? {} : { body: text }),
    decompress: false,
  } as RequestInit);
  const answer = await read(response);
  expect(undocumented(method, path.split("?")[0] ?? "", answer)).toEqual([]);
  expect(answer.status).toBe(status);
  return new TextDecoder().decode(answer.body);
}

const post = (status: number, path: string, body: unknown, headers: Record<string, string> = key) =>
  ask(status, path, { method: "POST", headers, body });

describe("the document", () => {
  test("stored is the one that the code makes now (`bun run openapi` stores it)", async () => {
    const current = (await Bun.file(`${root}/openapi.json`).text()) === (await openApiText(catalog));
    expect(current, "openapi.json is out of date: `bun run openapi` writes it anew").toBe(true);
  });

  test("served is the one that is stored, with an ETag", async () => {
    expect(await ask(200, "/api/v1/openapi.json")).toBe(await Bun.file(`${root}/openapi.json`).text());
    const etag = (await client.get("/api/v1/openapi.json", { "Accept-Encoding": "identity" })).headers.get("etag") ?? "";
    expect(await ask(304, "/api/v1/openapi.json", { headers: { "If-None-Match": etag } })).toBe("");
  });

  test("is linked from the root", async () => {
    expect(JSON.parse(await ask(200, "/")).data.links.openapi).toBe("/api/v1/openapi.json");
  });

  test("has each operation once, with an id, and every failure that it can answer with", () => {
    const operations = Object.values(paths).flatMap((path) => Object.values(path));
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(9);
    const protectedOnes = operations.filter(({ security }) => security.length > 0);
    expect(protectedOnes.map(({ operationId }) => operationId)).toEqual(["validateStack", "generateStack"]);
    for (const { responses } of operations)
      for (const status of ["200", "405", "429", "500"]) expect(Object.keys(responses)).toContain(status);
    for (const { responses } of protectedOnes)
      for (const status of ["400", "401", "413", "415"]) expect(Object.keys(responses)).toContain(status);
  });

  test("has examples that follow its schemas", () => {
    let count = 0;
    const responses = Object.values(paths).flatMap((path) => Object.values(path).flatMap(({ responses }) => Object.values(responses)));
    const media = [
      ...responses.flatMap((response) => Object.values(resolve<DocumentedResponse>(response).content ?? {})),
      ...Object.values(paths).flatMap((path) =>
        Object.values(path).flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {})),
      ),
    ];
    for (const { schema, examples } of media) {
      for (const { value } of Object.values(examples ?? {})) {
        expect(invalid(schema, value)).toEqual([]);
        count++;
      }
    }
    expect(count).toBeGreaterThan(20);
  });

  test("lets no unknown field pass, in requests and in answers", () => {
    const open: string[] = [];
    const walk = (value: unknown, at: string): void => {
      if (typeof value !== "object" || value === null) return;
      const node = value as Record<string, unknown>;
      if (node.type === "object" && node.properties !== undefined && node.additionalProperties !== false) open.push(at);
      for (const [name, child] of Object.entries(node)) if (name !== "examples") walk(child, `${at}/${name}`);
    };
    walk(document.paths, "paths");
    walk(document.components, "components");
    expect(open).toEqual(["paths//api/v1/openapi.json/get/responses/200/content/application/json/schema"]);
    const health = resolve(paths["/api/v1/health"]?.get?.responses["200"] as DocumentedResponse);
    const schema = health.content?.["application/json"]?.schema ?? {};
    const data = { status: "healthy", version: "1", uptime: 1, services: 1, skillPacks: 1, presets: 1 };
    expect(invalid(schema, { ok: true, data })).toEqual([]);
    expect(invalid(schema, { ok: true, data: { ...data, extra: 1 } })).not.toEqual([]);
    expect(invalid(schema, { ok: true, data, extra: 1 })).not.toEqual([]);
  });

  test("knows its paths", () => {
    expect(templateOf("/api/v1/presets/minimal")).toBe("/api/v1/presets/{name}");
    expect(templateOf("/api/v1/presets/a/b")).toBeUndefined();
    expect(allowed("/api/v1/presets")).toBe("GET, HEAD, OPTIONS");
  });
});

describe("answers are as documented", () => {
  test("of reads, in every coding", async () => {
    const presets = [...catalog.presets.keys()].map((id) => `presets/${id}`);
    const filters = [
      "services?category=database",
      "services?tag=wiki",
      "services?maturity=stable",
      "services?category=none",
      "services?category=",
    ];
    for (const path of ["health", "services", "skills", "presets", "openapi.json", ...presets, ...filters]) {
      for (const coding of ["identity", "gzip", "zstd"]) await ask(200, `/api/v1/${path}`, { headers: { "Accept-Encoding": coding } });
      await ask(200, `/api/v1/${path}`, { method: "HEAD" });
    }
  });

  test("of revalidations", async () => {
    for (const path of ["/", "/api/v1/services", "/api/v1/skills", "/api/v1/presets", "/api/v1/presets/minimal", "/api/v1/openapi.json"]) {
      await ask(304, path, { headers: { "If-None-Match": "*" } });
      await ask(304, path, { method: "HEAD", headers: { "If-None-Match": "*" } });
    }
  });

  test("of stacks", async () => {
    for (const body of [
      {},
      { services: ["redis", "valkey"] },
      { preset: "minimal", services: ["redis"] },
      { services: ["postgresql"], platform: "darwin/arm64", gpu: true, proxy: "nginx", domain: "Stack.Example.COM" },
      { name: null, services: null, preset: null },
    ]) {
      await post(200, "/api/v1/validate", body);
    }
    for (const preset of catalog.presets.keys()) {
      await post(200, "/api/v1/generate", { name: preset, preset });
      await post(200, "/api/v1/generate", { name: preset, preset, format: "tar", deploymentType: "bare-metal", proxy: "traefik" });
    }
  });

  test("of failures", async () => {
    await post(400, "/api/v1/validate", { services: ["none"], other: 1 });
    // The Kelvin sign: no letter of a host name, though its lower case is one.
    await post(400, "/api/v1/validate", { domain: "\u212Aelvin.example" });
    await post(400, "/api/v1/generate", {});
    await post(400, "/api/v1/generate", "");
    await post(400, "/api/v1/generate", "[]");
    await ask(400, "/api/v1/services?maturity=old");
    await post(401, "/api/v1/generate", { name: "a" }, {});
    await ask(404, "/api/v1/presets/none");
    await ask(404, "/nowhere");
    await ask(404, "/nowhere", { method: "HEAD" });
    for (const method of ["POST", "PUT", "DELETE", "PATCH"]) await ask(405, "/api/v1/services", { method });
    await ask(405, "/api/v1/validate");
    await ask(405, "/api/v1/validate", { method: "HEAD" });
    await post(409, "/api/v1/generate", { name: "a", services: ["redis", "valkey"] });
    await post(413, "/api/v1/validate", " ".repeat(70_000));
    await post(415, "/api/v1/validate", "{}", { ...key, "Content-Type": "text/plain" });
  });

  test("of limits", async () => {
    const { url } = narrow;
    await ask(200, "/api/v1/health", { url });
    for (const path of ["/", "/api/v1/health", "/api/v1/services", "/api/v1/presets/none", "/nowhere"]) await ask(429, path, { url });
    for (const path of ["/api/v1/generate", "/api/v1/validate"]) {
      await ask(200, path, { url, method: "POST", body: { name: "a" }, headers: key });
      await ask(429, path, { url, method: "POST", body: { name: "a" }, headers: key });
    }
    await ask(405, "/api/v1/health", { url, method: "PUT" });
    await ask(429, "/api/v1/health", { url, method: "PUT" });
  });

  test("of OPTIONS, which takes nothing from a limit and is not stopped by one, so that browsers can read the 429", async () => {
    await ask(204, "/api/v1/generate", { method: "OPTIONS" });
    await ask(204, "/api/v1/presets/none", { method: "OPTIONS", headers: { "Access-Control-Request-Method": "DELETE" } });
    await ask(404, "/nowhere", { method: "OPTIONS" });
    await using empty = start({ LIMIT_READ: "1" });
    await ask(200, "/api/v1/health", { url: empty.url });
    await ask(429, "/api/v1/health", { url: empty.url });
    await ask(204, "/api/v1/health", { url: empty.url, method: "OPTIONS" });
  });
});
