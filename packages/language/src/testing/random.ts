/** A small seeded generator of numbers in [0, 1) (mulberry32, Tommy Ettinger). */
export function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const CHARACTERS = [
  ...'{}()[]|`\'"/;:,.?!&=<>+-*%^~ \n\\019aexX_#é🙂',
  'in',
  'if',
  'nil',
  'inf',
  '//',
  '/*',
  '*/',
];

/** The text with one to three random changes: pieces dropped, put in, or taken over from another text. */
export function mutated(random: () => number, text: string, others: readonly string[]): string {
  const below = (count: number): number => Math.floor(random() * count);
  let changed = text;
  for (let rounds = 1 + below(3); rounds > 0; rounds--) {
    const at = below(changed.length + 1);
    const before = changed.slice(0, at);
    const after = changed.slice(at);
    const kind = below(4);
    if (kind === 0) changed = before + after.slice(1 + below(2));
    else if (kind === 1) changed = before + (CHARACTERS[below(CHARACTERS.length)] ?? '') + after;
    else if (kind === 2) changed = before;
    else {
      const other = others[below(others.length)] ?? '';
      const from = below(other.length + 1);
      changed = before + other.slice(from, from + 1 + below(12)) + after;
    }
  }
  return changed.isWellFormed() ? changed : text;
}
