/**
 * Insertions, deletions, substitutions and swaps of neighbours between two words (optimal string
 * alignment).
 */
export function editDistance(a: string, b: string): number {
  let earlier: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_none, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? (earlier[j - 2] ?? 0) + 1 : substituted;
      next.push(Math.min(substituted, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    earlier = row;
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The candidate with the fewest edits to `name`; undefined when none is close enough. */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestEdits = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    const edits = editDistance(name, candidate);
    if (edits < bestEdits) {
      best = candidate;
      bestEdits = edits;
    }
  }
  return best;
}
