interface PrivilegeRow {
  /** Its bit in a mask. */
  readonly bit: number;
  /** True if who has the privileges of a usual user has it. */
  readonly isOfUsers: boolean;
  /** Privileges that a grant of it brings along, since it would give them anyway. */
  readonly brings: readonly PrivilegeName[];
  /** True if nobody may take it away from oneself: who has lost it can't get it back. */
  readonly isKept: boolean;
}

type PrivilegeName = 'QUERY' | 'CHANGE' | 'GRANT' | 'JOIN' | 'RUN';

/** The privileges, a row each. JOIN is what the original protocol called WATCH, CHANGE what it called EVENT. */
const PRIVILEGES: Readonly<Record<PrivilegeName, PrivilegeRow>> = {
  QUERY: { bit: 1, isOfUsers: true, brings: [], isKept: true },
  CHANGE: { bit: 2, isOfUsers: true, brings: [], isKept: false },
  GRANT: { bit: 4, isOfUsers: false, brings: ['CHANGE'], isKept: true },
  JOIN: { bit: 8, isOfUsers: true, brings: [], isKept: false },
  RUN: { bit: 16, isOfUsers: true, brings: [], isKept: false },
};

const ROWS = Object.entries(PRIVILEGES);

/** Bits of a mask: of each privilege, of usual users, and of all. */
export const Privilege = {
  QUERY: PRIVILEGES.QUERY.bit,
  CHANGE: PRIVILEGES.CHANGE.bit,
  GRANT: PRIVILEGES.GRANT.bit,
  JOIN: PRIVILEGES.JOIN.bit,
  RUN: PRIVILEGES.RUN.bit,
  USER: maskWhere(({ isOfUsers }) => isOfUsers),
  FULL: maskWhere(() => true),
} as const satisfies Record<PrivilegeName | 'USER' | 'FULL', number>;

/** Privileges that a read-only request runs without, whatever its user has. */
export const CHANGING_PRIVILEGES = Privilege.CHANGE | Privilege.GRANT;

/** Bits that nobody may take away from oneself. */
export const KEPT_PRIVILEGES = maskWhere(({ isKept }) => isKept);

/** A mask with what its privileges bring along. */
export function withBrought(mask: number): number {
  return mask | maskOf(ROWS.flatMap(([, { bit, brings }]) => ((mask & bit) === 0 ? [] : brings)));
}

/** A mask with the privileges that bring one of its own along, and would give it back. */
export function withBringing(mask: number): number {
  return mask | maskWhere(({ brings }) => (maskOf(brings) & mask) !== 0);
}

/** A mask in words: `FULL`, `USER|GRANT`, `QUERY|CHANGE`, `NO_ACCESS`. */
export function privilegeText(mask: number): string {
  const whole = (['FULL', 'USER'] as const).find((name) => (mask & Privilege[name]) === Privilege[name]);
  const rest = whole === undefined ? mask : mask & ~Privilege[whole];
  const single = ROWS.filter(([, { bit }]) => (rest & bit) !== 0).map(([name]) => name);
  const words = whole === undefined ? single : [whole, ...single];
  return words.length === 0 ? 'NO_ACCESS' : words.join('|');
}

function maskWhere(test: (row: PrivilegeRow) => boolean): number {
  return ROWS.reduce((mask, [, row]) => (test(row) ? mask | row.bit : mask), 0);
}

function maskOf(names: readonly PrivilegeName[]): number {
  return names.reduce((mask, name) => mask | PRIVILEGES[name].bit, 0);
}
