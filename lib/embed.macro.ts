/** Runs at bundle time: reads what the server carries inside, so that nothing is read from disk or parsed as YAML at start. */
import { Glob } from "bun";
import { checkCatalog } from "./catalog/check.ts";
import { CatalogError, loadCatalog } from "./catalog/load.ts";

const root = `${import.meta.dir}/..`;

/**
 * The checked catalog, the skills in it, and the files under `templates/` by path, each as a JSON text. Bundling fails when the
 * catalog is not sound. One macro for all: two at once leave Bun 1.4 waiting for ever.
 */
export async function embed(): Promise<{ catalog: string; skills: string; templates: string }> {
  const catalog = await loadCatalog(`${root}/catalog`);
  const problems = checkCatalog(catalog);
  if (problems.length > 0) throw new CatalogError(problems);
  const templates: Record<string, string> = {};
  const paths = await Array.fromAsync(new Glob("**/*").scan({ cwd: `${root}/templates`, onlyFiles: true }));
  for (const path of paths.sort()) templates[path] = await Bun.file(`${root}/templates/${path}`).text();
  const { skills, ...rest } = catalog;
  return { catalog: JSON.stringify(rest), skills: JSON.stringify(skills), templates: JSON.stringify(templates) };
}
