/** What the server carries inside, inlined at bundle time and unpacked when it is first needed. */
import { type CatalogSource, indexCatalog } from "./catalog/index.ts";
import type { Catalog } from "./catalog/load.ts";
import { embed } from "./embed.macro.ts" with { type: "macro" };
import { lazy } from "./memo.ts";

const embedded = embed() as unknown as Awaited<ReturnType<typeof embed>>;

const unpack = (packed: string) => new TextDecoder().decode(Bun.zstdDecompressSync(Buffer.from(packed, "base64")));

const skills = lazy(() => JSON.parse(unpack(embedded.skills)) as Catalog["skills"]);

/** The checked catalog. */
export const embeddedCatalog: CatalogSource = {
  counts: embedded.counts,
  index: lazy(() =>
    indexCatalog({
      ...(JSON.parse(unpack(embedded.catalog)) as Omit<Catalog, "skills">),
      // Half of all text, and needed by stacks with skill packs alone.
      get skills() {
        return skills();
      },
    }),
  ),
};

/** File content by path below `templates/`. */
export const templates = lazy(() => JSON.parse(unpack(embedded.templates)) as Readonly<Record<string, string>>);

/** The content of a template that must exist. */
export function template(path: string): string {
  const content = templates()[path];
  if (content === undefined) throw new Error(`there is no template ${path}`);
  return content;
}

/** The text of `openapi.json`. */
export function documentText(): string {
  return unpack(embedded.document);
}
