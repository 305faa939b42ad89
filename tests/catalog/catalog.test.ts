import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { parse } from "yaml";
import { checkCatalog } from "../../lib/catalog/check.ts";
import { imageProblems, shellPrograms } from "../../lib/catalog/image-model.ts";
import { Container, type Preset, Service } from "../../lib/catalog/schema.ts";
import { catalog, root } from "../support.ts";

const container = (fields: Record<string, unknown> = {}) =>
  v.parse(Container, {
    image: { name: "app", tag: "1.2.3", tools: ["sh", "wget"], user: "app", ...(fields.image as object) },
    healthcheck: { http: "/", port: 80, tool: "wget" },
    memoryMB: 64,
    ...Object.fromEntries(Object.entries(fields).filter(([name]) => name !== "image")),
  });

describe("the catalog", () => {
  test("is sound", () => expect(checkCatalog(catalog.catalog)).toEqual([]));

  test("reads the same with the YAML parser that is fast and the one that is strict", async () => {
    const paths = [...new Bun.Glob("{services,presets,proxies,packs}/**/*.yaml").scanSync(`${root}/catalog`)];
    expect(paths.length).toBeGreaterThan(catalog.services.size);
    for (const path of paths) {
      const text = await Bun.file(`${root}/catalog/${path}`).text();
      expect({ path, value: Bun.YAML.parse(text) }).toEqual({ path, value: parse(text, { merge: true }) });
    }
  });

  test("holds what every catalog must", () => {
    for (const id of ["openclaw", "redis", "valkey", "dragonfly", "qdrant", "milvus", "postgresql", "searxng", "browserless"])
      expect(catalog.services.has(id)).toBe(true);
    for (const id of ["minimal", "creator", "researcher", "devops", "ai-playground", "coding-team", "full"])
      expect(catalog.presets.has(id)).toBe(true);
    expect(catalog.presets.get("minimal")?.services).toEqual(["redis"]);
    expect(catalog.presets.get("researcher")).toMatchObject({
      services: ["qdrant", "searxng", "browserless", "redis"],
      skills: ["researcher", "memory"],
    });
    expect(catalog.conflicts.get("qdrant")?.has("milvus")).toBe(true);
    expect([...(catalog.conflicts.get("valkey")?.keys() ?? [])].sort()).toEqual(["dragonfly", "redis"]);
  });

  test("every pack names its skills' directories", () => {
    for (const pack of catalog.packs.values()) expect((catalog.skills[pack.id] ?? []).map((skill) => skill.name)).toEqual(pack.skills);
  });
});

describe("prose for people is refused", () => {
  test("where a preset's first steps speak of a service that its stack lacks, or of what is no address", () => {
    const preset = { ...(catalog.presets.get("minimal") as Preset), firstSteps: ["Open {{url:n8n}} as {{redis.user}} or {{url:redis}}."] };
    const presets = catalog.catalog.presets.map((entry) => (entry.id === "minimal" ? preset : entry));
    expect(checkCatalog({ ...catalog.catalog, presets })).toEqual([
      "preset minimal: firstSteps: {{url:n8n}} speaks of n8n, which need not be in the stack",
      "preset minimal: firstSteps: {{redis.user}} is no address",
    ]);
  });
});

describe("the model of images refuses", () => {
  test("a planted curl in an image without one", () => {
    const service = [...catalog.services.values()].find(
      (entry) => !Object.values(entry.containers)[0]?.image.tools.includes("curl"),
    ) as Service;
    const planted = structuredClone(service);
    const main = planted.containers[service.id] as v.InferOutput<typeof Container>;
    (main as { healthcheck: unknown }).healthcheck = { http: "/", port: 80, tool: "curl" };
    const problems = checkCatalog({
      ...catalog.catalog,
      services: catalog.catalog.services.map((entry) => (entry === service ? planted : entry)),
    });
    expect(problems).toEqual([expect.stringContaining(`${service.id}: ${service.id}: the health check starts curl`)]);
  });

  test.each([
    ["a shell line with a program that is not there", { healthcheck: { shell: "curl -f localhost || exit 1" } }, "curl"],
    ["a program that is not there", { healthcheck: { command: ["pg_isready"] } }, "pg_isready"],
    ["a shell in an image without one", { image: { tools: [] }, healthcheck: { none: "x" }, command: ["sh", "-c", "x"] }, "sh"],
    ["all capabilities dropped under an entrypoint that steps down", { image: { dropsPrivileges: true }, capDrop: ["ALL"] }, "capDrop ALL"],
    ["all capabilities dropped from root", { image: { user: "root" }, capDrop: ["ALL"] }, "capDrop ALL"],
    ["a floating tag", { image: { tag: "latest" } }, "floats"],
    ["a floating tag with a variant", { image: { tag: "latest-alpine" } }, "floats"],
    [
      "two mounts at one place",
      {
        volumes: [
          { name: "a", target: "/data" },
          { name: "b", target: "/data" },
        ],
      },
      "two volumes",
    ],
    ["a mount over the system", { volumes: [{ name: "a", target: "/usr" }] }, "hides"],
    ["a read-only root with nothing to write to", { readOnly: true }, "writable"],
    ["a volume where its user cannot write", { volumes: [{ name: "a", target: "/data" }] }, "a volume at /data"],
    [
      "a volume below a directory that its user can write: there it is made by root",
      { image: { writable: ["/data"] }, volumes: [{ name: "a", target: "/data/more" }] },
      "a volume at /data/more",
    ],
    [
      "a volume where the user that it is told to be cannot write",
      { image: { dropsPrivileges: true }, user: "1000:1000", volumes: [{ name: "a", target: "/data" }] },
      "1000:1000 is not known",
    ],
  ])("%s", (_, fields, text) => expect(imageProblems(container(fields)).join("\n")).toContain(text));

  test("and takes what the image can bear", () => {
    expect(imageProblems(container())).toEqual([]);
    expect(imageProblems(container({ capDrop: ["ALL"] }))).toEqual([]);
    expect(imageProblems(container({ image: { dropsPrivileges: true }, capDrop: ["ALL"], capAdd: ["SETUID", "SETGID", "CHOWN"] }))).toEqual(
      [],
    );
    const volumes = [{ name: "a", target: "/data" }];
    expect(imageProblems(container({ image: { writable: ["/data"] }, volumes }))).toEqual([]);
    expect(imageProblems(container({ image: { dropsPrivileges: true }, volumes }))).toEqual([]);
    expect(imageProblems(container({ volumes: [{ ...volumes[0], readOnly: true }] }))).toEqual([]);
    const others = {
      prepare: container({ image: { user: "root" }, volumes }),
      next: container({ dependsOn: { prepare: "completed" }, volumes }),
    };
    expect(imageProblems(container({ dependsOn: { next: "started" }, volumes }), others)).toEqual([]);
    expect(imageProblems(container({ dependsOn: { prepare: "started" }, volumes }), others)).toHaveLength(1);
    expect(imageProblems(container({ healthcheck: { shell: 'test "$(wget -qO- localhost)" = ok | grep -q x' } }))).toEqual([]);
  });
});

test("programs of a shell line are found behind pipes, lists and assignments", () => {
  expect(shellPrograms("A=1 curl -f http://x | grep ok && wget y || exit 1; exec nc -z 1 2 2>&1 >/dev/null")).toEqual([
    "curl",
    "grep",
    "wget",
    "nc",
  ]);
});

describe("a service file is refused for", () => {
  test.each([
    ["an unknown field", { colour: "red" }],
    ["a tag outside the list", { tags: ["fancy"] }],
    ["an id with capitals", { id: "Redis" }],
    ["no source", { sources: [] }],
  ])("%s", async (_, change) => {
    const redis = Bun.YAML.parse(await Bun.file(`${root}/catalog/services/database/redis.yaml`).text()) as object;
    expect(v.safeParse(Service, redis).success).toBe(true);
    expect(v.safeParse(Service, { ...redis, ...change }).success).toBe(false);
  });
});
