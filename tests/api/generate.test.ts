import { afterAll, describe, expect, test } from "bun:test";
import { catalog, failure, payload, start } from "../support.ts";

const client = start();
afterAll(() => client.server.stop());
const generate = (body: unknown) => client.post("/api/v1/generate", body);

describe("as JSON", () => {
  test("the stack has exactly the fields of the contract, and the name as it was sent", async () => {
    const response = await generate({ name: "My Stack.1", services: ["redis"] });
    expect(response.status).toBe(200);
    const data = await payload(response);
    expect(Object.keys(data)).toEqual(["name", "files", "summary"]);
    expect(data.name).toBe("My Stack.1");
    expect(data.summary).toEqual({
      services: 2,
      skills: 0,
      proxy: "none",
      estimatedMemoryMB: (catalog.memory.get("openclaw") ?? 0) + (catalog.memory.get("redis") ?? 0),
    });
  });

  test("the files of the contract are there", async () => {
    const { files } = await payload(await generate({ name: "a", preset: "researcher" }));
    for (const path of ["docker-compose.yml", ".env.example", "configs/openclaw/config.yaml", "configs/searxng/config.yaml", "README.md"])
      expect(files).toHaveProperty([path]);
    for (const script of ["start", "stop", "update", "backup", "restore", "status"]) expect(files).toHaveProperty([`scripts/${script}.sh`]);
    expect(files).toHaveProperty(["skills/researcher/web-search/SKILL.md"]);
  });

  test("each proxy brings the configuration file that bears its name", async () => {
    for (const [proxy, file] of [
      ["caddy", "Caddyfile"],
      ["traefik", "traefik.yml"],
      ["nginx", "nginx.conf"],
    ] as const) {
      const { files, summary } = await payload(await generate({ name: "a", proxy, domain: "example.com" }));
      expect(summary.proxy).toBe(proxy);
      expect(files).toHaveProperty([file]);
      for (const other of ["Caddyfile", "traefik.yml", "nginx.conf"]) if (other !== file) expect(files).not.toHaveProperty([other]);
      expect(files["docker-compose.yml"]).toContain(`./${file}`);
    }
  });

  test("bare-metal adds installers", async () => {
    const { files } = await payload(await generate({ name: "a", services: ["redis"], deploymentType: "bare-metal" }));
    expect(Object.keys(files).filter((path) => path.startsWith("native/")).length).toBeGreaterThan(0);
    expect(files).toHaveProperty(["install.sh"]);
    expect(files).toHaveProperty(["install.ps1"]);
    const docker = await payload(await generate({ name: "a", services: ["redis"] }));
    expect(docker.files).not.toHaveProperty(["install.sh"]);
  });

  test("the same request gives the same answer", async () => {
    const body = { name: "a", preset: "researcher", proxy: "caddy" };
    expect(await (await generate(body)).text()).toBe(await (await generate(body)).text());
  });
});

describe("as tar", () => {
  test("a download, byte for byte the same each time", async () => {
    const body = { name: "My Stack", services: ["redis"], format: "tar" };
    const response = await generate(body);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/gzip");
    expect(response.headers.get("content-disposition")).toBe('attachment; filename="my-stack.tar.gz"');
    const bytes = await response.bytes();
    expect(bytes).toEqual(await (await generate(body)).bytes());
    expect(Number(response.headers.get("content-length"))).toBe(bytes.byteLength);
  });
});

describe("refusals", () => {
  test("a missing name", async () => {
    const response = await generate({ services: ["redis"] });
    expect(response.status).toBe(400);
    expect((await failure(response)).errors).toEqual(["name: is missing; it is required"]);
  });

  test("all problems at once, those of the catalog too", async () => {
    const { errors } = await failure(await generate({ services: ["redsi"], format: "zip" }));
    expect(errors).toEqual([
      "name: is missing; it is required",
      'format: is "zip"; it must be one of json, tar',
      'services: unknown service "redsi"; did you mean "redis"?',
    ]);
  });

  test("conflicting services give 409, naming each pair", async () => {
    const response = await generate({ name: "a", services: ["redis", "valkey", "qdrant", "milvus"] });
    expect(response.status).toBe(409);
    const { code, errors } = await failure(response);
    expect(code).toBe("CONFLICT");
    expect(errors.length).toBe(2);
    expect(errors.join("\n")).toContain('"redis" and "valkey" conflict');
    expect(errors.join("\n")).toContain('"qdrant" and "milvus" conflict');
  });

  test("an unknown preset is a problem of the body, not 404", async () => {
    const response = await generate({ name: "a", preset: "none-such" });
    expect(response.status).toBe(400);
    expect((await failure(response)).errors[0]).toContain('preset: unknown preset "none-such"');
  });
});
