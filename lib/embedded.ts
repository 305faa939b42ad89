/** What the server carries inside, inlined at bundle time: catalog and templates. */
import type { Catalog } from "./catalog/load.ts";
import { embed } from "./embed.macro.ts" with { type: "macro" };

const embedded = embed() as unknown as Awaited<ReturnType<typeof embed>>;

let skills: Catalog["skills"] | undefined;

/** The checked catalog. */
export const catalogData: Catalog = {
  ...(JSON.parse(embedded.catalog) as Omit<Catalog, "skills">),
  // Half of all text, and needed by stacks with skill packs alone: parsed when the first one comes.
  get skills() {
    skills ??= JSON.parse(embedded.skills) as Catalog["skills"];
    return skills;
  },
};

/** File content by path below `templates/`. */
export const templates: Readonly<Record<string, string>> = JSON.parse(embedded.templates);

/** The content of a template that must exist. */
export function template(path: string): string {
  const content = templates[path];
  if (content === undefined) throw new Error(`there is no template ${path}`);
  return content;
}
