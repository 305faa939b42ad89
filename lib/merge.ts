/** Merges plain objects deeply; of two values that are not both objects, the later wins; arrays are joined. */
export function merge(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const before = merged[key];
    if (Array.isArray(before) && Array.isArray(value)) merged[key] = [...before, ...value];
    else if (isRecord(before) && isRecord(value)) merged[key] = merge(before, value);
    else merged[key] = value;
  }
  return merged;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
