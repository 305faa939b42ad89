import { afterAll, describe, expect, test } from "bun:test";
import { catalog, failure, payload, start } from "../support.ts";

const client = start();
afterAll(() => client.server.stop());

describe("GET /api/v1/health", () => {
  test("answers with the state, the version of package.json, whole seconds and the catalog's counts", async () => {
    const response = await client.get("/api/v1/health");
    expect(response.status).toBe(200);
    const { version } = await Bun.file(`${import.meta.dir}/../../package.json`).json();
    const data = await payload(response);
    expect(data).toEqual({
      status: "healthy",
      version,
      uptime: expect.any(Number),
      services: catalog.services.size,
      skillPacks: catalog.packs.size,
      presets: catalog.presets.size,
    });
    expect(Number.isInteger(data.uptime)).toBe(true);
  });
});

describe("GET /api/v1/services", () => {
  test("lists every service with exactly the fields of the contract", async () => {
    const { total, services } = await payload(await client.get("/api/v1/services"));
    expect(total).toBe(services.length);
    expect(total).toBe(catalog.services.size);
    for (const service of services) {
      expect(Object.keys(service).sort()).toEqual(
        [
          "id",
          "name",
          "description",
          "category",
          "image",
          "imageTag",
          "maturity",
          "ports",
          "requires",
          "conflictsWith",
          "minMemoryMB",
          "tags",
        ].sort(),
      );
      expect(service.ports.every((port: object) => Object.keys(port).join() === "host,container")).toBe(true);
      expect(service.minMemoryMB).toBeGreaterThan(0);
    }
    expect(services.find((service: { id: string }) => service.id === "openclaw").category).toBe("core");
  });

  test("filters by exact category, tag and maturity, and narrows by several", async () => {
    const all = (await payload(await client.get("/api/v1/services"))).services;
    for (const [name, field] of [
      ["category", "category"],
      ["maturity", "maturity"],
    ] as const) {
      for (const value of new Set<string>(all.map((service: Record<string, string>) => service[field]))) {
        const { total, services } = await payload(await client.get(`/api/v1/services?${name}=${value}`));
        expect(services).toEqual(all.filter((service: Record<string, string>) => service[field] === value));
        expect(total).toBe(services.length);
      }
    }
    const tagged = (await payload(await client.get("/api/v1/services?tag=cache"))).services;
    expect(tagged).toEqual(all.filter((service: { tags: string[] }) => service.tags.includes("cache")));
    const narrowed = (await payload(await client.get("/api/v1/services?tag=database&category=database&maturity=stable"))).services;
    expect(narrowed).toEqual(
      all.filter(
        (s: { tags: string[]; category: string; maturity: string }) =>
          s.tags.includes("database") && s.category === "database" && s.maturity === "stable",
      ),
    );
    expect(narrowed.length).toBeGreaterThan(0);
  });

  test("an unknown category or tag gives an empty list", async () => {
    for (const query of ["category=none", "tag=none", "category=Database", "category=data%62ase&tag=none"]) {
      expect(await payload(await client.get(`/api/v1/services?${query}`))).toEqual({ total: 0, services: [] });
    }
  });

  test("a maturity outside the three is an error that names it", async () => {
    const response = await client.get("/api/v1/services?maturity=old");
    expect(response.status).toBe(400);
    const { code, errors } = await failure(response);
    expect(code).toBe("VALIDATION_ERROR");
    expect(errors).toEqual(['maturity: is "old"; it must be one of stable, beta, experimental']);
  });
});

describe("GET /api/v1/skills", () => {
  test("lists skill packs with exactly the fields of the contract", async () => {
    const { total, skillPacks } = await payload(await client.get("/api/v1/skills"));
    expect(total).toBe(skillPacks.length);
    for (const pack of skillPacks) {
      expect(Object.keys(pack)).toEqual(["id", "name", "description", "requiredServices", "optionalServices", "skills"]);
    }
    const researcher = skillPacks.find((pack: { id: string }) => pack.id === "researcher");
    expect(researcher.requiredServices).toEqual(["searxng", "browserless"]);
    expect(researcher.optionalServices).toEqual(["qdrant"]);
    expect(researcher.skills).toEqual(["web-search", "content-extract", "citation-builder", "fact-check"]);
  });
});

describe("GET /api/v1/presets", () => {
  test("lists presets without a total, with exactly the fields of the contract", async () => {
    const data = await payload(await client.get("/api/v1/presets"));
    expect(Object.keys(data)).toEqual(["presets"]);
    for (const preset of data.presets) expect(Object.keys(preset)).toEqual(["id", "name", "description", "services", "skills"]);
    expect(data.presets.map((preset: { id: string }) => preset.id)).toContain("minimal");
  });
});

describe("GET /api/v1/presets/:name", () => {
  test("shows each preset in detail, with the memory that validate estimates", async () => {
    for (const preset of catalog.presets.values()) {
      const detail = await payload(await client.get(`/api/v1/presets/${preset.id}`));
      expect(Object.keys(detail)).toEqual(["id", "name", "description", "services", "skills", "estimatedMemoryMB"]);
      expect(detail.services.map((service: { id: string }) => service.id)).toEqual(preset.services);
      for (const service of detail.services) expect(Object.keys(service)).toEqual(["id", "name", "category"]);
      for (const skill of detail.skills) expect(Object.keys(skill)).toEqual(["id", "name", "skillCount"]);
      const validated = await payload(await client.post("/api/v1/validate", { preset: preset.id }));
      expect(detail.estimatedMemoryMB).toBe(validated.estimatedMemoryMB);
    }
  });

  test("an unknown preset is not found, and the message names it and the nearest one", async () => {
    const response = await client.get("/api/v1/presets/minimalist");
    expect(response.status).toBe(404);
    const { code, message } = await failure(response);
    expect(code).toBe("NOT_FOUND");
    expect(message).toContain('"minimalist"');
    expect(message).toContain('"minimal"');
  });

  test("names that objects carry by themselves are just unknown", async () => {
    for (const name of ["__proto__", "constructor", "toString", "%E0%A4%A"])
      expect((await client.get(`/api/v1/presets/${name}`)).status).toBe(404);
  });
});
