import type { WireValue } from '@althing/client';

/** A query that changes something: what a button runs, and shows before. */
export interface Deed {
  readonly scope: string;
  readonly code: string;
  readonly vars?: Readonly<Record<string, WireValue>>;
}
