/** What the benchmarks ask for: stacks of several sizes, each in many variants. */
import type { CatalogIndex } from "../../lib/catalog/index.ts";

/** Sizes of stacks: services resolved, the base service among them. */
export const sizes = [1, 5, 20, 80, Number.POSITIVE_INFINITY] as const;

/** Variants of each size. */
const variants = 64;

/** Pseudo-random numbers below 1, the same in every run (a linear congruential generator). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x8000_0000;
  };
}

function shuffled<T>(list: readonly T[], next: () => number): T[] {
  const copy = [...list];
  for (let index = copy.length - 1; index > 0; index--) {
    const other = Math.floor(next() * (index + 1));
    [copy[index], copy[other]] = [copy[other] as T, copy[index] as T];
  }
  return copy;
}

/** Names services in a random order until about `size` are resolved; a service that conflicts with one of them is passed over. */
function selection(index: CatalogIndex, size: number, next: () => number): string[] {
  const resolved = new Set<string>(["openclaw"]);
  const named: string[] = [];
  for (const id of shuffled([...index.services.keys()], next)) {
    if (resolved.size >= size) break;
    const added = new Set<string>();
    const add = (name: string) => {
      if (added.has(name)) return;
      added.add(name);
      for (const other of index.services.get(name)?.requires ?? []) add(other);
    };
    add(id);
    const fresh = [...added].filter((name) => !resolved.has(name));
    const clashes = fresh.some((name) =>
      [...(index.conflicts.get(name)?.keys() ?? [])].some((other) => resolved.has(other) || added.has(other)),
    );
    if (clashes || (resolved.size + fresh.length > size && named.length > 0)) continue;
    for (const name of fresh) resolved.add(name);
    named.push(id);
  }
  return named;
}

/** Selections of services for a size, each different where the size allows it. */
export function selections(index: CatalogIndex, size: number): string[][] {
  const next = random(42);
  return Array.from({ length: variants }, () => (size === 1 ? [] : selection(index, size, next)));
}

/** How a size is called. */
export function sizeName(size: number): string {
  return Number.isFinite(size) ? `${size}` : "all";
}
