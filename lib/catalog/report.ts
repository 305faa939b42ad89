/**
 * Prints what is wrong with the catalog, and its counts: `bun lib/catalog/report.ts [--root DIR] [ID…]`.
 * With ids, only problems that name one of them are printed. Exits with 1 when there is a problem.
 */
import { checkCatalog } from "./check.ts";
import { CatalogError, loadCatalog } from "./load.ts";

const ids = Bun.argv.slice(2);
const root = `${import.meta.dir}/../../catalog`;
const concerns = (problem: string) => ids.length === 0 || ids.some((id) => problem.includes(id));

try {
  const catalog = await loadCatalog(root);
  const problems = checkCatalog(catalog).filter(concerns);
  for (const problem of problems) console.error(`- ${problem}`);
  const unconfirmed = catalog.services.reduce((sum, service) => sum + service.unconfirmed.length, 0);
  console.log(
    `${catalog.services.length} services, ${catalog.packs.length} skill packs, ${catalog.presets.length} presets, ${unconfirmed} unconfirmed facts, ${problems.length} problems`,
  );
  process.exitCode = problems.length > 0 ? 1 : 0;
} catch (error) {
  if (!(error instanceof CatalogError)) throw error;
  for (const problem of error.problems.filter(concerns)) console.error(`- ${problem}`);
  process.exitCode = 1;
}
