/** What the server carries inside, inlined at bundle time: catalog and templates. */
import type { Catalog } from "./catalog/load.ts";
import { embed } from "./embed.macro.ts" with { type: "macro" };

const embedded = JSON.parse(embed() as unknown as string) as { catalog: Catalog; templates: Record<string, string> };

/** The checked catalog. */
export const catalogData: Catalog = embedded.catalog;

/** File content by path below `templates/`. */
export const templates: Readonly<Record<string, string>> = embedded.templates;

/** The content of a template that must exist. */
export function template(path: string): string {
  const content = templates[path];
  if (content === undefined) throw new Error(`there is no template ${path}`);
  return content;
}
