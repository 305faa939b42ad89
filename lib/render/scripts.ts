/** `scripts/`: taken from `templates/scripts/` as they stand; they ask Compose at run time what the stack holds. */
import { templates } from "../embedded.ts";
import { lazy } from "../memo.ts";
import type { BundleFile } from "./file.ts";

const scripts = lazy((): readonly BundleFile[] =>
  Object.entries(templates())
    .filter(([path]) => path.startsWith("scripts/"))
    .map(([path, content]) => ({ path, content, executable: true })),
);

/** Renders the scripts that every stack has. */
export function renderScripts(): readonly BundleFile[] {
  return scripts();
}
