import { afterAll, describe, expect, test } from "bun:test";
import { bodyLimit } from "../../lib/http/body.ts";
import { catalog, failure, payload, start } from "../support.ts";

const client = start();
afterAll(() => client.server.stop());
const validate = (body: unknown, headers?: Record<string, string>) => client.post("/api/v1/validate", body, headers);
const errorsOf = async (body: unknown) => (await failure(await validate(body))).errors;

describe("a valid configuration", () => {
  test("an empty one is the base service alone, with exactly the fields of the contract", async () => {
    const response = await validate({});
    expect(response.status).toBe(200);
    expect(await payload(response)).toEqual({
      valid: true,
      warnings: [],
      resolvedServices: ["openclaw"],
      resolvedSkills: [],
      estimatedMemoryMB: catalog.memory.get("openclaw"),
    });
  });

  test("dependencies are added before those that need them, the base service comes first", async () => {
    const data = await payload(await validate({ services: ["n8n"] }));
    expect(data.resolvedServices).toEqual(["openclaw", "postgresql", "n8n"]);
    expect(data.estimatedMemoryMB).toBe(data.resolvedServices.reduce((sum: number, id: string) => sum + (catalog.memory.get(id) ?? 0), 0));
  });

  test("a service that is named twice, or is the base service, is there once", async () => {
    const data = await payload(await validate({ services: ["redis", "openclaw", "redis"] }));
    expect(data.resolvedServices).toEqual(["openclaw", "redis"]);
  });

  test("null counts as absent", async () => {
    expect((await validate({ services: null, proxy: null, preset: null })).status).toBe(200);
  });

  test("every field of generate is accepted", async () => {
    const body = {
      name: "a",
      services: ["redis"],
      skills: ["memory"],
      proxy: "nginx",
      domain: "Stack.Example.COM",
      gpu: true,
      platform: "linux/arm64",
      deploymentType: "bare-metal",
      format: "tar",
    };
    expect((await validate(body)).status).toBe(200);
  });

  test("a preset wins over services and skills, and says so", async () => {
    const data = await payload(await validate({ preset: "minimal", services: ["n8n"], skills: ["memory"] }));
    expect(data.resolvedServices).toEqual(["openclaw", "redis"]);
    expect(data.resolvedSkills).toEqual([]);
    expect(data.warnings.map((warning: { code: string }) => warning.code)).toEqual(["PRESET_OVERRIDES"]);
  });

  test("a conflict is a warning, and the configuration stays valid", async () => {
    for (const pair of [
      ["qdrant", "milvus"],
      ["redis", "valkey"],
      ["redis", "dragonfly"],
      ["valkey", "dragonfly"],
    ]) {
      const response = await validate({ services: pair });
      expect(response.status).toBe(200);
      const data = await payload(response);
      expect(data.valid).toBe(true);
      const conflicts = data.warnings.filter((warning: { code: string }) => warning.code === "CONFLICT");
      expect(conflicts.length).toBe(1);
      for (const id of pair) expect(conflicts[0].message).toContain(`(${id})`);
    }
  });

  test("no preset has a problem or a conflict", async () => {
    for (const id of catalog.presets.keys()) {
      const response = await validate({ preset: id });
      expect(response.status).toBe(200);
      const { warnings } = await payload(response);
      expect(warnings.filter((warning: { code: string }) => warning.code === "CONFLICT")).toEqual([]);
    }
  });

  test("a pack's required service may come by a dependency", async () => {
    const bringing = [...catalog.services.values()].find((service) => service.requires.includes("redis"));
    if (bringing) expect((await validate({ services: [bringing.id], skills: ["memory"] })).status).toBe(200);
  });
});

describe("an invalid configuration", () => {
  test("every problem is reported at once, each with field, value and the nearest known id", async () => {
    const response = await validate({
      services: ["redsi", "n8n", "constructor", 5],
      skills: ["memroy"],
      proxy: "apache",
      servises: [],
      gpu: "yes",
      name: "-x",
    });
    expect(response.status).toBe(400);
    const { code, message, errors } = await failure(response);
    expect(code).toBe("VALIDATION_ERROR");
    expect(message).toContain("problems");
    expect(errors).toContain('proxy: is "apache"; it must be one of caddy, traefik, nginx');
    expect(errors).toContain('gpu: is "yes"; it must be true or false');
    expect(errors).toContain("services[3]: is 5; it must be a string");
    expect(errors).toContain('servises: is not a known field; did you mean "services"?');
    expect(errors).toContain('skills: unknown skill pack "memroy"; did you mean "memory"?');
    expect(errors.some((error) => error.startsWith('name: is "-x"; it must'))).toBe(true);
  });

  test("unknown ids are reported with a suggestion, and prototype keys are just unknown", async () => {
    expect(await errorsOf({ services: ["redsi", "__proto__", "constructor"] })).toEqual([
      'services: unknown service "redsi"; did you mean "redis"?',
      'services: unknown service "__proto__"',
      'services: unknown service "constructor"',
    ]);
    expect(await errorsOf('{"__proto__": {"services": []}}')).toEqual([expect.stringContaining("__proto__: is not a known field")]);
  });

  test("a pack whose required service is not selected names the service", async () => {
    expect(await errorsOf({ skills: ["memory"] })).toEqual([
      'skills: the skill pack "memory" needs the service "redis", which is not selected; add "redis" to services',
    ]);
  });

  test("an unknown preset", async () => {
    expect(await errorsOf({ preset: "minimum" })).toEqual(['preset: unknown preset "minimum"; did you mean "minimal"?']);
  });

  test("domains must be host names", async () => {
    for (const domain of [
      "exa mple.com",
      "-a.com",
      "a..b",
      "10.0.0.1",
      "http://a.com",
      `${"a".repeat(64)}.com`,
      "a.com/",
      "ex_ample.com",
      "",
    ]) {
      expect(await errorsOf({ domain })).toEqual([expect.stringContaining("domain: is")]);
    }
  });

  test("names must be usable", async () => {
    for (const name of ["", " a", "_a", "a/b", "a".repeat(64), "ä", 5])
      expect(await errorsOf({ name })).toEqual([expect.stringContaining("name: is")]);
  });

  test("a service without an image for the platform", async () => {
    const single = [...catalog.services.values()].find((service) =>
      Object.values(service.containers).some((container) => !container.image.platforms.includes("linux/arm64")),
    );
    if (!single) return;
    expect((await errorsOf({ services: [single.id], platform: "linux/arm64" })).join()).toContain(
      `"${single.id}" has no image for linux/arm64`,
    );
    const data = await payload(await validate({ services: [single.id], platform: "darwin/arm64" }));
    expect(data.warnings.map((warning: { code: string }) => warning.code)).toContain("PLATFORM_EMULATED");
  });
});

describe("bodies", () => {
  test("must be JSON: the position of the error is told", async () => {
    const response = await validate('{\n  "services": ["redis",]\n}');
    expect(response.status).toBe(400);
    const { code, errors } = await failure(response);
    expect(code).toBe("VALIDATION_ERROR");
    expect(errors).toEqual(["body: not valid JSON at line 2, column 24"]);
  });

  test("must be an object", async () => {
    for (const body of ["[]", "null", '"text"', "5"]) expect((await validate(body)).status).toBe(400);
    expect((await failure(await validate(""))).errors).toEqual(["body: empty; it must be a JSON object"]);
  });

  test("must be UTF-8", async () => {
    expect((await failure(await validate(new Uint8Array([123, 34, 255, 34, 125])))).errors).toEqual(["body: not UTF-8"]);
  });

  test("must have the content type application/json", async () => {
    const response = await validate("{}", { "Content-Type": "text/plain" });
    expect(response.status).toBe(415);
    expect((await failure(response)).code).toBe("VALIDATION_ERROR");
    expect((await validate("{}", { "Content-Type": "application/json; charset=utf-8" })).status).toBe(200);
  });

  test("may have 64 KiB and not a byte more, with and without a length", async () => {
    const exact = JSON.stringify({ name: "a" }).padEnd(bodyLimit, " ");
    expect((await validate(exact)).status).toBe(200);
    expect((await validate(`${exact} `)).status).toBe(413);
    const stream = new ReadableStream({
      start(controller) {
        for (let kib = 0; kib < 80; kib++) controller.enqueue(new Uint8Array(1024).fill(32));
        controller.close();
      },
    });
    const response = await fetch(`${client.url}/api/v1/validate`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: stream,
    });
    expect(response.status).toBe(413);
    expect((await failure(response)).code).toBe("VALIDATION_ERROR");
  });

  test("that nest deeply are answered like any other", async () => {
    expect((await validate("[".repeat(30000))).status).toBe(400);
    expect((await validate(`{"services":${"[".repeat(15000)}${"]".repeat(15000)}}`)).status).toBe(400);
  });
});
