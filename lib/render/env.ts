/** `.env.example`: every variable of the stack. Secrets are empty, with a marker that `scripts/start.sh` reads. */
import { memo } from "../memo.ts";
import type { Plan } from "../stack/plan.ts";
import type { PlannedVariable } from "../stack/variables.ts";
import type { BundleFile } from "./file.ts";

/** Renders the template of the stack's environment. */
export function renderEnvironment(plan: Plan): BundleFile[] {
  let text =
    "# Variables of the stack. scripts/start.sh copies this file to .env and fills in what is marked with\n" +
    "# `generate:`; it never changes a value that is there. Edit .env, not this file.\n";
  for (const { title, variables } of plan.variables) {
    text += `\n# --- ${title} ---\n`;
    for (const variable of variables) text += print(variable);
  }
  return [{ path: ".env.example", content: text }];
}

const print = memo((variable: PlannedVariable) => {
  const head = `\n# ${variable.description}.\n`;
  if (variable.kind === "setting") return `${head}${variable.name}=${quote(variable.default)}\n`;
  const { format, length, prefix } = variable.secret;
  return `${head}# generate: ${format} ${length}${prefix ? ` ${prefix}` : ""}\n${variable.name}=\n`;
});

/** A value that Compose, `sh` and people read alike. */
function quote(value: string): string {
  return /^[\w./:@,+-]*$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
