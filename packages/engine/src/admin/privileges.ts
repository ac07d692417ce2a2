/** Bits of a privilege mask. JOIN is what the original protocol called WATCH, CHANGE what it called EVENT. */
export const Privilege = {
  QUERY: 1,
  CHANGE: 2,
  GRANT: 4,
  JOIN: 8,
  RUN: 16,
  USER: 27,
  FULL: 31,
} as const;

const SINGLE: readonly (readonly [number, string])[] = [
  [Privilege.QUERY, 'QUERY'],
  [Privilege.CHANGE, 'CHANGE'],
  [Privilege.GRANT, 'GRANT'],
  [Privilege.JOIN, 'JOIN'],
  [Privilege.RUN, 'RUN'],
];

/** A mask in words: `FULL`, `USER|GRANT`, `QUERY|CHANGE`, `NO_ACCESS`. */
export function privilegeText(mask: number): string {
  const words: string[] = [];
  let rest = mask & Privilege.FULL;
  for (const [bits, name] of [
    [Privilege.FULL, 'FULL'],
    [Privilege.USER, 'USER'],
  ] as const) {
    if ((rest & bits) === bits) {
      words.push(name);
      rest &= ~bits;
      break;
    }
  }
  for (const [bit, name] of SINGLE) if ((rest & bit) !== 0) words.push(name);
  return words.length === 0 ? 'NO_ACCESS' : words.join('|');
}
