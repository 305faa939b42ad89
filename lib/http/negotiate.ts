/** Content codings and preconditions of a request (RFC 9110, sections 12.5.3 and 13.1). */

export type Coding = "identity" | "gzip" | "zstd";

const cache = new Map<string, Coding>();

/** The coding to answer with, for an `Accept-Encoding` field: the one of highest weight, `zstd` before `gzip` before `identity`. */
export function preferredCoding(field: string | null): Coding {
  if (field === null) return "identity";
  let coding = cache.get(field);
  if (coding === undefined) {
    coding = negotiate(field);
    if (cache.size < 256) cache.set(field, coding);
  }
  return coding;
}

function negotiate(field: string): Coding {
  const weights = new Map<string, number>();
  for (const entry of field.split(",")) {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    if (name === "") continue;
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    const value = weight === undefined ? 1 : Number(weight.slice(2));
    weights.set(name === "x-gzip" ? "gzip" : name, Number.isNaN(value) ? 0 : value);
  }
  const rest = weights.get("*");
  let best: Coding = "identity";
  let bestWeight = 0;
  for (const coding of ["zstd", "gzip"] as const) {
    const weight = weights.get(coding) ?? rest ?? 0;
    if (weight > bestWeight) {
      best = coding;
      bestWeight = weight;
    }
  }
  return (weights.get("identity") ?? 0) > bestWeight ? "identity" : best;
}

/** Whether an `If-None-Match` field names `etag` by weak comparison (RFC 9110, section 13.1.2). */
export function matchesEtag(field: string, etag: string): boolean {
  if (field.trim() === "*") return true;
  const opaque = etag.replace(/^W\//, "");
  return field.split(",").some((entry) => entry.trim().replace(/^W\//, "") === opaque);
}
