/** Runs at bundle time: reads what the server carries inside, so that nothing is read from disk or parsed as YAML at start. */
import { Glob } from "bun";
import { checkCatalog } from "./catalog/check.ts";
import { CatalogError, loadCatalog } from "./catalog/load.ts";

const root = `${import.meta.dir}/..`;

/** A text as Zstandard (RFC 8878) in Base64: small, and no work at start, where a plain text would be copied into memory. */
const pack = (text: string) => Buffer.from(Bun.zstdCompressSync(text, { level: 19 })).toString("base64");

/**
 * The checked catalog, the skills in it, the files under `templates/` by path, each as a packed JSON text, and the packed
 * `openapi.json`. Bundling fails when the catalog is not sound. One macro for all: two at once leave Bun 1.4 waiting for ever.
 */
export async function embed() {
  const catalog = await loadCatalog(`${root}/catalog`);
  const problems = checkCatalog(catalog);
  if (problems.length > 0) throw new CatalogError(problems);
  const templates: Record<string, string> = {};
  const paths = await Array.fromAsync(new Glob("**/*").scan({ cwd: `${root}/templates`, onlyFiles: true }));
  for (const path of paths.sort()) templates[path] = await Bun.file(`${root}/templates/${path}`).text();
  const { skills, ...rest } = catalog;
  return {
    counts: { services: catalog.services.length, skillPacks: catalog.packs.length, presets: catalog.presets.length },
    catalog: pack(JSON.stringify(rest)),
    skills: pack(JSON.stringify(skills)),
    templates: pack(JSON.stringify(templates)),
    document: pack(await Bun.file(`${root}/openapi.json`).text()),
  };
}
