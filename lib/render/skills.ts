/** `skills/<pack>/<skill>/`: the skills of the chosen packs, as the catalog holds them. */
import type { Skill } from "../catalog/index.ts";
import type { Plan } from "../stack/plan.ts";
import type { BundleFile } from "./file.ts";

/** Renders the skills. */
export function renderSkills(plan: Plan, skills: Readonly<Record<string, readonly Skill[]>>): BundleFile[] {
  return plan.resolution.packs.flatMap((pack) =>
    (skills[pack.id] ?? []).flatMap((skill) =>
      Object.entries(skill.files).map(([path, content]) => ({
        path: `skills/${pack.id}/${skill.name}/${path}`,
        content,
        executable: path.endsWith(".sh"),
      })),
    ),
  );
}
