/** Counts of a dry run: how much of each kind a query would have changed. */

/** The categories, in the order in which they are told. */
const CATEGORIES = [
  'things_added',
  'things_removed',
  /** Things that became instances of a type, or plain, or were restricted. */
  'things_retyped',
  /** Properties set, renamed or deleted. */
  'properties',
  /** Items that came into lists, or went. */
  'items',
  /** Members that came into sets, or went. */
  'members',
  /** Types, enums, indexes and procedures. */
  'definitions',
  'tasks',
  'rooms',
  /** Events that clients would be told of. */
  'events',
  /** Collections that would be filled from a dump. */
  'imports',
  /** Entries of commit histories. */
  'commits',
  /** Places of loads. */
  'loads',
  /** Jobs that were made, or ended before their time. */
  'jobs',
  /** Users, with their passwords, tokens and sessions. */
  'users',
  /** Privileges and whitelists. */
  'access',
  'collections',
  /** Nodes, and invitations of nodes. */
  'nodes',
  'modules',
  'settings',
] as const;

export type Category = (typeof CATEGORIES)[number];

/** A category, and how many of it there are. */
export type Counted = readonly [category: Category, count: number];

/** The count of an effect that is one of a category each time. */
export function one(category: Category): () => Counted {
  const counted: Counted = [category, 1];
  return () => counted;
}

/** Counts the steps of one query: a property that is set twice counts twice. */
export class Tally {
  private readonly counts = new Map<Category, number>();

  /** @param note told of all that is added; null for nobody */
  constructor(private readonly note: ((counted: Counted) => void) | null = null) {}

  add(counted: Counted): void {
    const [category, count] = counted;
    if (count <= 0) return;
    this.counts.set(category, (this.counts.get(category) ?? 0) + count);
    this.note?.(counted);
  }

  /** All that is not 0. */
  entries(): readonly Counted[] {
    return CATEGORIES.flatMap((category) => {
      const count = this.counts.get(category);
      return count === undefined ? [] : [[category, count] as const];
    });
  }
}
