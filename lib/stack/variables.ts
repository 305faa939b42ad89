/** Variables of a stack's `.env`: gathered while a plan is made, written to `.env.example`, used by Compose. */
import { stackSettings } from "../catalog/notation.ts";
import type { Secret } from "../catalog/schema.ts";
import { memo } from "../memo.ts";

export type PlannedVariable =
  | {
      readonly kind: "secret";
      readonly name: string;
      readonly description: string;
      readonly secret: Pick<Secret, "format" | "length" | "prefix">;
    }
  | { readonly kind: "setting"; readonly name: string; readonly description: string; readonly default: string };

/** Variables of a service, made once: what they are does not depend on the request. */
const secretsOf = memo((secrets: Readonly<Record<string, Secret>>) =>
  Object.entries(secrets).map(([name, secret]): PlannedVariable => ({ kind: "secret", name, description: secret.description, secret })),
);
const settingsOf = memo((settings: Readonly<Record<string, { description: string; default: string }>>) =>
  Object.entries(settings).map(([name, setting]): PlannedVariable => ({ kind: "setting", name, ...setting })),
);

/** Compose's notation: it refuses to start without a secret, and fills in a setting's default. */
const notation = memo((variable: PlannedVariable) => {
  if (variable.kind === "secret") return `\${${variable.name}:?run scripts/start.sh, it fills in .env}`;
  return variable.default === "" ? `\${${variable.name}:-}` : `\${${variable.name}:-${variable.default}}`;
});

export interface VariableGroup {
  /** Whose variables these are, for a heading. */
  readonly title: string;
  readonly variables: PlannedVariable[];
}

const strong: Pick<Secret, "format" | "length" | "prefix"> = { format: "hex", length: 64, prefix: "" };

/** Gathers variables by owner. A name is gathered once; the stack's own settings only when something uses them. */
export class Variables {
  private readonly groups = new Map<string, VariableGroup>();
  private readonly known = new Map<string, PlannedVariable>();

  private add(title: string, variables: readonly PlannedVariable[]): void {
    let group = this.groups.get(title);
    for (const variable of variables) {
      if (this.known.has(variable.name)) continue;
      this.known.set(variable.name, variable);
      if (group === undefined) {
        group = { title, variables: [] };
        this.groups.set(title, group);
      }
      group.variables.push(variable);
    }
  }

  addSecrets(title: string, secrets: Readonly<Record<string, Secret>>): void {
    this.add(title, secretsOf(secrets));
  }

  addSettings(title: string, settings: Readonly<Record<string, { description: string; default: string }>>): void {
    this.add(title, settingsOf(settings));
  }

  /** Adds the password of a database that a service gets on a shared server, and returns its name. */
  addPassword(title: string, name: string, description: string): string {
    this.add(title, [{ kind: "secret", name, description, secret: strong }]);
    return name;
  }

  /** Changes the default of a setting of the stack, when something in the stack provides a better one. */
  addStackSetting(name: string, fallback?: string): void {
    const setting = stackSettings[name];
    if (setting === undefined || this.known.has(name)) return;
    this.add("Stack", [{ kind: "setting", name, description: setting.description, default: fallback ?? setting.default }]);
  }

  /** Compose's notation for a variable: it refuses to start without a secret, and fills in a setting's default. */
  reference(name: string): string {
    if (!this.known.has(name)) this.addStackSetting(name);
    const variable = this.known.get(name);
    return variable === undefined ? `\${${name}}` : notation(variable);
  }

  /** Groups in the order in which they were first named, the stack's own first. */
  list(): VariableGroup[] {
    return [...this.groups.values()].sort((a, b) => Number(b.title === "Stack") - Number(a.title === "Stack"));
  }
}
