/** A printer for the YAML that stacks are made of: block style, keys in the order given, every unclear string quoted. */

export type Yaml = string | number | boolean | null | readonly Yaml[] | { readonly [key: string]: Yaml | undefined };

/** Keys whose lists of scalars read better on one line. */
const flowKeys = new Set(["test", "command", "entrypoint", "cap_drop", "cap_add", "security_opt", "capabilities", "group_add"]);

const plain = /^(?:\.\/|[A-Za-z_/])[\w./@%+=:-]*$/;
const reserved = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;

/** What strings were printed as: stacks share most of theirs. Emptied when full, so that it stays bounded. */
const printed = new Map<string, string>();
const maxPrinted = 20_000;
const maxLength = 200;

/** What JSON escapes (RFC 8259, section 7); lone surrogates are escaped, too, so all surrogates take the long way. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const special = /["\\\u0000-\u001f\ud800-\udfff]/;

function quoted(value: string): string {
  return special.test(value) ? JSON.stringify(value) : `"${value}"`;
}

/** A scalar: plain where no YAML 1.1 or 1.2 parser can take it for anything but the string, else double-quoted. */
export function scalar(value: string | number | boolean | null): string {
  if (typeof value !== "string") return String(value);
  let text = printed.get(value);
  if (text === undefined) {
    text = plain.test(value) && !reserved.test(value) && !value.endsWith(":") && !value.includes("://") ? value : quoted(value);
    if (value.length > maxLength) return text;
    if (printed.size >= maxPrinted) printed.clear();
    printed.set(value, text);
  }
  return text;
}

function isScalar(value: Yaml): value is string | number | boolean | null {
  return value === null || typeof value !== "object";
}

function isEmpty(value: object): boolean {
  if (Array.isArray(value)) return value.length === 0;
  for (const key in value) if ((value as Record<string, unknown>)[key] !== undefined) return false;
  return true;
}

/** Prints the entries of a mapping, each line indented by `indent`. Entries that are `undefined` are left out. */
export function printMapping(mapping: { readonly [key: string]: Yaml | undefined }, indent: string): string {
  let text = "";
  for (const key in mapping) {
    const value = mapping[key];
    if (value === undefined) continue;
    const name = key === "<<" ? key : scalar(key);
    if (isScalar(value)) text += `${indent}${name}: ${key === "<<" ? String(value) : scalar(value)}\n`;
    else if (isEmpty(value)) text += `${indent}${name}: ${Array.isArray(value) ? "[]" : "{}"}\n`;
    else if (Array.isArray(value)) {
      text +=
        flowKeys.has(key) && value.every(isScalar)
          ? `${indent}${name}: [${value.map((entry) => JSON.stringify(entry)).join(", ")}]\n`
          : `${indent}${name}:\n${printSequence(value, `${indent}  `)}`;
    } else text += `${indent}${name}:\n${printMapping(value as { readonly [key: string]: Yaml }, `${indent}  `)}`;
  }
  return text;
}

function printSequence(sequence: readonly Yaml[], indent: string): string {
  let text = "";
  for (const value of sequence) {
    if (isScalar(value)) text += `${indent}- ${scalar(value)}\n`;
    else if (isEmpty(value)) text += `${indent}- ${Array.isArray(value) ? "[]" : "{}"}\n`;
    else {
      const nested = Array.isArray(value)
        ? printSequence(value, `${indent}  `)
        : printMapping(value as { readonly [key: string]: Yaml }, `${indent}  `);
      text += `${indent}- ${nested.slice(indent.length + 2)}`;
    }
  }
  return text;
}
