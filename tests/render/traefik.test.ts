/** Traefik's files against the types of its published JSON schemas (SchemaStore): the compiler refuses what does not fit. */
import { expect, test } from "bun:test";
import { mkdir, rm } from "node:fs/promises";
import { parse } from "yaml";
import { renderTraefik } from "../../lib/render/traefik.ts";
import { planStack } from "../../lib/stack/plan.ts";
import { resolve } from "../../lib/stack/resolve.ts";
import { catalog, root, run } from "../support.ts";

const folder = `${root}/node_modules/.traefik-check`;

async function compile(name: string, entries: readonly { fixed: unknown; dynamic: unknown }[]) {
  const lines = entries.map(
    ({ fixed, dynamic }, index) =>
      `export const fixed${index}: TraefikV3StaticConfiguration = ${JSON.stringify(fixed)};\nexport const dynamic${index}: HttpsJsonSchemastoreOrgTraefikV3FileProviderJson = ${JSON.stringify(dynamic)};`,
  );
  await mkdir(folder, { recursive: true });
  await Bun.write(
    `${folder}/${name}.ts`,
    `import type { TraefikV3StaticConfiguration } from "@schemastore/traefik-v3";\nimport type { HttpsJsonSchemastoreOrgTraefikV3FileProviderJson } from "@schemastore/traefik-v3-file-provider";\n${lines.join("\n")}\n`,
  );
  return run([
    "bun",
    "x",
    "tsc",
    "--ignoreConfig",
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--module",
    "preserve",
    `${folder}/${name}.ts`,
  ]);
}

const stacks = ["localhost", "stack.internal", "stack.example.org"].map((domain) => {
  const request = { name: "proof", preset: "full", proxy: "traefik" as const, domain };
  const files = renderTraefik(planStack(catalog, request, resolve(catalog, request)));
  const [fixed, dynamic] = files.map((file) => parse(file.content));
  return { fixed, dynamic };
});

test("static and dynamic configuration fit the schemas", async () => {
  const { stdout, code } = await compile("right", stacks);
  expect({ stdout, code }).toEqual({ stdout: "", code: 0 });
}, 60_000);

test("a wrong key or value would be refused", async () => {
  const { fixed, dynamic } = stacks[2] as { fixed: { entryPoints: object }; dynamic: object };
  const { stdout, code } = await compile("wrong", [{ fixed: { ...fixed, entryPoints: 5 }, dynamic: { ...dynamic, https: {} } }]);
  expect(code).not.toBe(0);
  expect(stdout).toContain("TS2322");
  expect(stdout).toContain("https");
  await rm(folder, { recursive: true, force: true });
}, 60_000);
