/**
 * Finds the word that somebody probably meant.
 */

/** The known word nearest to `word`, if it is near enough to be a slip of the pen; capitals don't count. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase().slice(0, 64);
  let best: string | undefined;
  let bestDistance = Math.min(3, Math.max(1, Math.floor(wanted.length / 4))) + 1;
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/**
 * Insertions, deletions, substitutions and swaps of neighbours that lead from one word to the other (optimal
 * string alignment; Damerau 1964, Wagner and Fischer 1974).
 */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let distance = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        distance = Math.min(distance, beforeLast[j - 2]! + 1);
      }
      row.push(distance);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
