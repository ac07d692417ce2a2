import type { WireValue } from '@althing/client';

/** A query that changes something: what a button runs, and shows before. */
export interface Deed {
  readonly scope: string;
  readonly code: string;
  readonly vars?: Readonly<Record<string, WireValue>>;
  /** True if it changes definitions: in a scope with a commit history it must say why. */
  readonly defines?: boolean;
}

/** A deed that changes definitions. */
export function definingDeed(
  scope: string,
  code: string,
  vars: Readonly<Record<string, WireValue>> = {},
): Deed {
  return { scope, code, vars, defines: true };
}

/** The same with a message for the commit history. */
export function withReason(deed: Deed, why: string): Deed {
  return { ...deed, code: `commit(why);\n${deed.code}`, vars: { ...deed.vars, why } };
}

/** The counts of a dry run, for people: `2 properties, 1 thing removed`. */
export function changesText(changes: Readonly<Record<string, number>>): string {
  const parts = Object.entries(changes).map(([what, count]) => `${count} ${what.replaceAll('_', ' ')}`);
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}
