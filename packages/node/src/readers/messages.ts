/** Messages between the engine thread and a reader. */
import type { QueryLimits, Quotas } from '@althing/engine';
import type { SnapshotQuery } from '../requests/snapshot-query.js';
import type { LineMemory } from './line-ring.js';

/** The settings that a reader begins with. */
export interface ReaderData {
  /** The folder of LevelDB, spelled as the engine thread opened it. */
  readonly location: string;
  readonly limits: QueryLimits;
  readonly quotas: Quotas;
  /** Memory that things may take. */
  readonly thingBytes: number;
  /** Where lines of answers go. */
  readonly lines: LineMemory;
}

/** A query, and what it may use: that can change while the thread runs. */
export interface QueryMessage {
  readonly query: SnapshotQuery;
  readonly limits: QueryLimits;
}

/** Null asks the thread to end. */
export type ToReader = QueryMessage | null;

export type FromReader =
  /** The snapshot of the query is taken. */
  | { readonly kind: 'taken'; readonly index: number }
  /** Behind all lines that it has. `answer` is encoded as that of a forwarded request; `cost` as in `Reply`. */
  | { readonly kind: 'answer'; readonly answer: Uint8Array; readonly cost: string }
  /** A line for the log of the node. */
  | { readonly kind: 'log'; readonly fields: object; readonly message: string }
  /** Something is wrong with the node, or with its data. */
  | { readonly kind: 'defect'; readonly message: string; readonly isDamage: boolean };
