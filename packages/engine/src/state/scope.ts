import type { Changes } from '@althing/language';
import type { Group } from './group.js';
import type { Procedure } from './parts/procedures.js';
import type { Store } from './store.js';

export type ScopeKind = 'collection' | 'thingsdb' | 'node';

/** The scope as the query that runs in it sees it. */
export interface Scope {
  readonly kind: ScopeKind;
  /** The bit of `In` for this kind. */
  readonly bit: number;
  /** The long form of the name: `@collection:stuff`. */
  readonly name: string;
  /** The state that changes in this scope change; null in a node scope. */
  readonly group: Group | null;
  /** The id of a collection; null in other scopes. */
  readonly collectionId: number | null;
  /** Stored things; null in the root and node scopes. */
  readonly store: Store | null;
  /** Default time zone. */
  readonly timeZone: string;
  /** Number of the change that runs or would run now: see `change_id()`. */
  readonly changeId: number;
  procedure(name: string): Procedure | undefined;
  /** True if this is one of the scopes in which something needs a change. */
  isAmong(changes: Changes): boolean;
}
