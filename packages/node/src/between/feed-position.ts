/**
 * The place of a change in the history of a collection: the index of its entry in the log, and the chain hash there, by which a history
 * that was replaced - restored, or of another cluster - is told from this one.
 *
 *   position := index "-" hash        hash: eight hexadecimal digits
 */
import type { LogPosition } from './protocol.js';

export type FeedPosition = Pick<LogPosition, 'index' | 'hash'>;

export function positionText({ index, hash }: FeedPosition): string {
  return `${index}-${hash.toString(16).padStart(8, '0')}`;
}

/** Null for a text that is no position. */
export function parsePosition(text: string): FeedPosition | null {
  const [, index = '', hash = ''] = /^(\d{1,15})-([0-9a-f]{8})$/.exec(text) ?? [];
  return index === '' ? null : { index: Number(index), hash: Number.parseInt(hash, 16) };
}
