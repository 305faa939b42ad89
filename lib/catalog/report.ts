/**
 * Keeps the catalog true: `bun run catalog [OPTIONS] [ID…]`.
 *
 * Without options it prints what is wrong and the counts, and exits with 1 when something is; with ids, only
 * problems that name one of them.
 *
 *   --review         what deserves a look: unconfirmed facts, sources that are templates only, tags that move
 *   --counts         services by category, maturity and confirmation, as a Markdown table
 *   --drift FILE ID  differences between an entry and a Compose file; exits with 1 when there is one
 *   --root DIR       another catalog than the one of this repository
 */
import { parseArgs } from "node:util";
import { checkCatalog } from "./check.ts";
import { drift } from "./drift.ts";
import { type Catalog, CatalogError, loadCatalog } from "./load.ts";
import { counts, review } from "./review.ts";

const usage = "usage: bun run catalog [--root DIR] [--review | --counts | --drift FILE] [ID...]";

function printProblems(catalog: Catalog, concerns: (line: string) => boolean): number {
  const problems = checkCatalog(catalog).filter(concerns);
  for (const problem of problems) console.error(`- ${problem}`);
  const unconfirmed = review(catalog).unconfirmed.length;
  console.log(
    `${catalog.services.length} services, ${catalog.packs.length} skill packs, ${catalog.presets.length} presets, ${unconfirmed} unconfirmed facts, ${problems.length} problems`,
  );
  return problems.length > 0 ? 1 : 0;
}

function printReview(catalog: Catalog, concerns: (line: string) => boolean): number {
  const found = review(catalog);
  for (const [title, lines] of [
    ["Unconfirmed facts", found.unconfirmed],
    ["No source but templates", found.templatesOnly],
    ["Tags that name no version", found.floating],
    ["Tags that name a major version only", found.majorOnly],
  ] as const) {
    const shown = lines.filter(concerns);
    console.log(`${title}: ${shown.length}`);
    for (const line of shown) console.log(`- ${line}`);
  }
  return 0;
}

function printCounts(catalog: Catalog): number {
  const rows = counts(catalog);
  const sum = (field: "services" | "stable" | "beta" | "experimental" | "confirmed") => rows.reduce((total, row) => total + row[field], 0);
  console.log("| category | services | stable | beta | experimental | every fact confirmed |\n|---|--:|--:|--:|--:|--:|");
  for (const row of rows) console.log(`| ${Object.values(row).join(" | ")} |`);
  console.log(`| all | ${sum("services")} | ${sum("stable")} | ${sum("beta")} | ${sum("experimental")} | ${sum("confirmed")} |`);
  return 0;
}

async function printDrift(catalog: Catalog, file: string, id: string): Promise<number> {
  const entry = catalog.services.find((service) => service.id === id);
  if (!entry) {
    console.error(`there is no service "${id}"`);
    return 2;
  }
  const lines = drift(entry, await Bun.file(file).text());
  for (const line of lines) console.log(`- ${line}`);
  console.log(lines.length === 0 ? `${id}: no drift` : `${id}: ${lines.length} differences`);
  return lines.length > 0 ? 1 : 0;
}

async function main(): Promise<number> {
  const { values, positionals: ids } = parseArgs({
    args: Bun.argv.slice(2),
    allowPositionals: true,
    options: {
      root: { type: "string", default: `${import.meta.dir}/../../catalog` },
      review: { type: "boolean" },
      counts: { type: "boolean" },
      drift: { type: "string" },
    },
  });
  const concerns = (line: string) => ids.length === 0 || ids.some((id) => line.includes(id));
  try {
    const catalog = await loadCatalog(values.root);
    if (values.drift !== undefined) {
      const [id] = ids;
      if (id === undefined || ids.length > 1) throw new Error(usage);
      return await printDrift(catalog, values.drift, id);
    }
    if (values.review) return printReview(catalog, concerns);
    if (values.counts) return printCounts(catalog);
    return printProblems(catalog, concerns);
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    for (const problem of error.problems.filter(concerns)) console.error(`- ${problem}`);
    return 1;
  }
}

if (import.meta.main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 2;
  }
}
