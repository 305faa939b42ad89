/** `skills/<pack>/<skill>/`: the skills of the chosen packs, as the catalog holds them. */
import type { Skill } from "../catalog/index.ts";
import { memo } from "../memo.ts";
import type { Plan } from "../stack/plan.ts";
import type { BundleFile } from "./file.ts";

/** Files of the skills of each pack, by the pack's id. */
const filesByPack = memo(
  (skills: Readonly<Record<string, readonly Skill[]>>) =>
    new Map(
      Object.entries(skills).map(([pack, list]) => [
        pack,
        list.flatMap(({ name, files }) =>
          Object.entries(files).map(
            ([path, content]): BundleFile => ({ path: `skills/${pack}/${name}/${path}`, content, executable: path.endsWith(".sh") }),
          ),
        ),
      ]),
    ),
);

/** Renders the skills. */
export function renderSkills(plan: Plan, skills: Readonly<Record<string, readonly Skill[]>>): readonly BundleFile[] {
  const files = filesByPack(skills);
  return plan.resolution.packs.flatMap((pack) => files.get(pack.id) ?? []);
}
