import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import * as v from "valibot";
import { drift, splitImage, withDefaults } from "../../lib/catalog/drift.ts";
import type { Catalog } from "../../lib/catalog/load.ts";
import { counts, imagesOf, review } from "../../lib/catalog/review.ts";
import { Service } from "../../lib/catalog/schema.ts";
import { catalog, root, run } from "../support.ts";

const container = {
  image: { name: "ghcr.io/example/notes", tag: "1.4.2", tools: ["sh", "wget"], user: "notes" },
  environment: { DATABASE_URL: "x", NOTES_SECRET: "y" },
  volumes: [{ name: "data", target: "/data" }],
  ports: [{ container: 8080, purpose: "Web interface" }],
  healthcheck: { http: "/health", port: 8080, tool: "wget" },
  memoryMB: 64,
};
const service = (fields: Record<string, unknown> = {}) =>
  v.parse(Service, {
    id: "notes",
    name: "Notes",
    description: "Notes.",
    category: "knowledge",
    tags: ["notes"],
    maturity: "stable",
    docs: "https://example.com/docs",
    sources: ["https://example.com/compose.yaml"],
    login: "own",
    containers: { notes: container },
    ...fields,
  });
const catalogOf = (...services: Service[]): Catalog => ({ services, packs: [], presets: [], proxies: [], skills: {} });

const same = `
services:
  web:
    image: ghcr.io/example/notes:\${NOTES_VERSION:-1.4.2}
    ports: ["127.0.0.1:9000:8080"]
    volumes:
      - notes:/data/
    environment:
      DATABASE_URL: postgres://db/notes
      NOTES_SECRET: \${SECRET:?}
    healthcheck:
      test: ["CMD-SHELL", "wget -qO- http://localhost:8080/health || exit 1"]
volumes: { notes: {} }
`;

describe("drift", () => {
  test("of a file that says the same is none", () => expect(drift(service(), same)).toEqual([]));

  test("is none in the other spellings of Compose either", () => {
    const long = `
x-environment: &shared
  DATABASE_URL: a
services:
  web:
    image: ghcr.io/example/notes:1.4.2@sha256:${"0".repeat(64)}
    expose: ["8080"]
    volumes: [{ type: volume, source: notes, target: /data }]
    environment: { <<: *shared, NOTES_SECRET: b }
    healthcheck: { test: wget --spider http://localhost:8080/health }
  worker:
    image: ghcr.io/example/notes:1.4.2
    environment: [NOTES_SECRET=b, DATABASE_URL]
    healthcheck: { test: [NONE] }
  built: { build: . }
`;
    expect(drift(service(), long)).toEqual([]);
  });

  test.each([
    ["a newer tag", ["1.4.2}", "1.5.0}"], ["tag: 1.4.2 here, 1.5.0 in the file"]],
    ["another port", [':8080"', ':8090/tcp"'], ["port 8080: only here", "port 8090: only in the file"]],
    [
      "another mount",
      ["notes:/data/", "${DIR:-./notes}:/var/lib/notes:rw"],
      ["mount /data: only here", "mount /var/lib/notes: only in the file"],
    ],
    [
      "a variable renamed",
      ["DATABASE_URL", "NOTES_DB_URL"],
      ["variable DATABASE_URL: only here", "variable NOTES_DB_URL: only in the file"],
    ],
    ["another health check", ["wget -qO-", "curl -f"], ["health check: wget here, curl in the file"]],
  ] as const)("tells of %s", (_, [from, to], lines) => {
    expect(same).toContain(from);
    expect(drift(service(), same.replace(from, to))).toEqual(lines.map((line) => `ghcr.io/example/notes: ${line}`));
  });

  test("tells of images that one side lacks", () => {
    const other = `services: { cache: { image: "redis:8-alpine" } }`;
    expect(drift(service(), other)).toEqual(["ghcr.io/example/notes: not in the file", "redis:8-alpine: only in the file"]);
  });

  test("refuses what is no Compose file", () => expect(() => drift(service(), "hello: world")).toThrow("no Compose file"));
});

test("image references are split at the tag, not at a registry's port", () => {
  expect(splitImage("redis")).toEqual({ name: "redis", tag: "latest" });
  expect(splitImage("docker.io/library/redis:8")).toEqual({ name: "redis", tag: "8" });
  expect(splitImage("localhost:5000/a/b")).toEqual({ name: "localhost:5000/a/b", tag: "latest" });
  expect(splitImage("localhost:5000/a/b:1.2")).toEqual({ name: "localhost:5000/a/b", tag: "1.2" });
  expect(splitImage("${REGISTRY:-ghcr.io}/a/b:${TAG-v1}")).toEqual({ name: "ghcr.io/a/b", tag: "v1" });
  expect(withDefaults("${A:-${B:-c}}:${D}")).toBe("c:${D}");
});

describe("review", () => {
  const tagged = (tag: string, gpu?: string) =>
    service({ containers: { notes: { ...container, image: { ...container.image, tag }, ...(gpu && { gpu: { tag: gpu } }) } } });

  test.each(["latest", "stable", "main", "latest-alpine", "nightly-2026"])("finds the floating tag %s", (tag) =>
    expect(review(catalogOf(tagged(tag))).floating).toEqual([`notes: ghcr.io/example/notes:${tag}`]),
  );
  test.each(["8", "v3", "17-alpine", "9-jdk21-slim"])("finds %s, which names a major version only", (tag) =>
    expect(review(catalogOf(tagged(tag))).majorOnly).toEqual([`notes: ghcr.io/example/notes:${tag}`]),
  );
  test.each(["1.4.2", "v3.1", "17.4-alpine", "260728", "RELEASE.2025-09-07T16-13-09Z", "server-b11151"])("lets %s pass", (tag) =>
    expect(review(catalogOf(tagged(tag)))).toEqual({ unconfirmed: [], templatesOnly: [], floating: [], majorOnly: [] }),
  );
  test("looks at the image for a GPU too", () => {
    expect(review(catalogOf(tagged("1.4.2", "latest-cuda"))).floating).toEqual(["notes: ghcr.io/example/notes:latest-cuda"]);
    expect(imagesOf(tagged("1", "2").containers.notes as never)).toEqual([
      { name: "ghcr.io/example/notes", tag: "1" },
      { name: "ghcr.io/example/notes", tag: "2" },
    ]);
  });
  test("finds facts that nobody confirmed, and sources that are templates only", () => {
    const found = review(
      catalogOf(
        service({
          maturity: "beta",
          unconfirmed: ["The port was not seen."],
          sources: ["https://github.com/coollabsio/coolify/blob/main/templates/compose/notes.yaml"],
        }),
      ),
    );
    expect(found.unconfirmed).toEqual(["notes: The port was not seen."]);
    expect(found.templatesOnly).toEqual(["notes"]);
  });
  test("of the catalog finds no floating tag, and a source by the project for every service", () => {
    const { floating, templatesOnly } = review(catalog.catalog);
    expect({ floating, templatesOnly }).toEqual({ floating: [], templatesOnly: [] });
  });
});

describe("the command", () => {
  const report = (...args: string[]) => run(["bun", `${root}/lib/catalog/report.ts`, ...args]);

  test("finds the catalog sound and counts it", async () => {
    const { code, stdout } = await report();
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+ services, .* 0 problems\n$/) });
  });

  test("counts every service once", async () => {
    const rows = counts(catalog.catalog);
    expect(rows.reduce((sum, row) => sum + row.services, 0)).toBe(catalog.services.size);
    for (const row of rows) expect(row.stable + row.beta + row.experimental).toBe(row.services);
    expect((await report("--counts")).stdout).toContain(`| all | ${catalog.services.size} |`);
  });

  test("exits with 1 on drift, with 2 when it is asked wrongly", async () => {
    const dir = await mkdtemp(`${tmpdir()}/report-`);
    try {
      await Bun.write(`${dir}/compose.yaml`, "services: { redis: { image: 'redis:4' } }");
      const found = await report("--drift", `${dir}/compose.yaml`, "redis");
      expect(found.code).toBe(1);
      expect(found.stdout).toContain("- redis: tag: ");
      expect((await report("--drift", `${dir}/compose.yaml`)).code).toBe(2);
      expect((await report("--drift", `${dir}/compose.yaml`, "nothing-like-it")).code).toBe(2);
      expect((await report("--drift", `${dir}/missing.yaml`, "redis")).code).toBe(2);
      expect((await report("--colour")).code).toBe(2);
    } finally {
      await rm(dir, { recursive: true });
    }
  });

  test("names the files of a catalog that does not load", async () => {
    const dir = await mkdtemp(`${tmpdir()}/report-`);
    try {
      await Bun.write(`${dir}/services/knowledge/notes.yaml`, "id: notes\n");
      const { code, stderr } = await report("--root", dir);
      expect(code).toBe(1);
      expect(stderr).toContain("services/knowledge/notes.yaml: name");
    } finally {
      await rm(dir, { recursive: true });
    }
  });
});
