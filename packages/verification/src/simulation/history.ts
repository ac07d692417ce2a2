/** Acts of clients and the answers to them, for the checkers. */

export type Outcome =
  /** It was carried out, with this answer. */
  | 'ok'
  /** It was refused, and had no effect. */
  | 'failed'
  /** Nobody knows. */
  | 'unknown';

export type SessionAct = 'begin' | 'renew' | 'end';

export type Action =
  /** Appends a value that nobody else appends to lists; answers their lengths. */
  | { readonly kind: 'append'; readonly lists: readonly string[]; readonly value: string }
  /** Appends, and fails: it must have no effect. */
  | { readonly kind: 'append_and_fail'; readonly list: string; readonly value: string }
  /**
   * Tries out an append, behind something that no check looks at: it must have no effect, and answers the list as it would be, with the
   * number of its changes. One that is explained answers besides which statement changed what, also where it fails.
   */
  | { readonly kind: 'dry_run'; readonly list: string; readonly value: string; readonly explains: boolean }
  /** Reads lists, at one moment. */
  | { readonly kind: 'read'; readonly lists: readonly string[] }
  /** Adds one to the counter, and tells its room the number that comes out, under a tag that no other event has. */
  | { readonly kind: 'increment'; readonly tag: string }
  /** Sets a register if it holds what is expected; answers whether it did. */
  | { readonly kind: 'swap'; readonly register: string; readonly expected: number; readonly value: number }
  | { readonly kind: 'get'; readonly register: string }
  /** Moves an amount between accounts. */
  | { readonly kind: 'move'; readonly from: string; readonly to: string; readonly amount: number }
  | { readonly kind: 'balances' }
  /** Adds one to each of many things; answers what they all hold then. */
  | { readonly kind: 'sweep' }
  /** Reads what they hold. */
  | { readonly kind: 'look' }
  /** Makes a task that appends a value of its own, and makes the next one, until there were so many. */
  | {
      readonly kind: 'task';
      readonly value: string;
      /** Unix seconds. */
      readonly startAt: number;
      readonly runs: number;
    }
  /** Makes a task, and one before it that cancels or deletes it in the same second: it must never run. */
  | {
      readonly kind: 'recalled_task';
      readonly value: string;
      /** Unix seconds. */
      readonly startAt: number;
      readonly deletes: boolean;
    }
  /** Appends a value, and another one in a future, which may fail behind that. */
  | { readonly kind: 'future'; readonly value: string; readonly fails: boolean; readonly asks: boolean }
  /** Makes a thing that expires at a moment in Unix seconds, or never; answers whether it did. */
  | { readonly kind: 'mortal'; readonly value: string; readonly until: number | null }
  /** Has something that would expire never do so; answers the value it was made with, null where there is none. */
  | { readonly kind: 'reprieve' }
  /** Lets a user in, and takes that back. */
  | { readonly kind: 'allow' }
  | { readonly kind: 'forbid' }
  /** Lets that user into the rooms of a collection, and takes that back. */
  | { readonly kind: 'admit' | 'expel'; readonly collection: string }
  /** Acts of the user that logs in and out. */
  | { readonly kind: 'visit' }
  /** Begins a session of the administrator, renews or ends it. */
  | { readonly kind: 'session'; readonly act: SessionAct; readonly session: number }
  /** Changes something that no check looks at but the comparison of the states. */
  | { readonly kind: 'other' };

export interface Operation {
  readonly id: number;
  readonly client: number;
  /** Name of the collection; null for the root scope. */
  readonly collection: string | null;
  readonly action: Action;
  readonly node: string;
  readonly begin: number;
  /** Infinite while, or because, there is no answer. */
  end: number;
  outcome: Outcome;
  /** True if the client was told that the change was made, though there is no answer; then the outcome is `unknown`. */
  isMade?: boolean;
  /** The decoded answer; the code of the error if it was refused. */
  answer: unknown;
  /** Index of the log entry that the answer reflects; 0 when it is not told. */
  index: number;
  error: string;
}

/** A history that can't have happened in an orderly world. */
export class Anomaly extends Error {
  constructor(
    readonly check: string,
    message: string,
  ) {
    super(`${check}: ${message}`);
  }
}

/**
 * The places of the values of a list that may be there once each.
 *
 * @throws Anomaly
 */
export function placesIn(check: string, final: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  for (const [at, value] of final.entries()) {
    const before = places.get(value);
    if (before !== undefined) throw new Anomaly(check, `${value} is there twice, at ${before} and ${at}`);
    places.set(value, at);
  }
  return places;
}

export function isOk(operation: Operation): boolean {
  return operation.outcome === 'ok';
}
