/** Suggestions for misspelt words. */

/** Edits (insert, delete, replace, swap neighbours) between two words; more than `most` counts as `most + 1`. */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min((previous[j] as number) + 1, (current[j - 1] as number) + 1, (previous[j - 1] as number) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, (before[j - 2] as number) + 1);
      current.push(cost);
      least = Math.min(least, cost);
    }
    if (least > most) return most + 1;
    before = previous;
    previous = current;
  }
  return previous[b.length] as number;
}

/** The word of `known` that `word` was probably meant to be, or `undefined` when none is near. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > 64) return undefined;
  const lower = word.toLowerCase();
  const most = Math.max(1, Math.floor(word.length / 3));
  let best: string | undefined;
  let bestDistance = most + 1;
  for (const candidate of known) {
    const edits = distance(lower, candidate.toLowerCase(), most);
    if (edits < bestDistance) {
      best = candidate;
      bestDistance = edits;
    }
  }
  if (best !== undefined || lower.length < 3) return best;
  for (const candidate of known) if (candidate.includes(lower) || (candidate.length > 3 && lower.includes(candidate))) return candidate;
  return undefined;
}
