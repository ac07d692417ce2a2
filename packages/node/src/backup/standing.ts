/**
 * The backup that the settings order from every node (`backup_interval_ms`, `backup_keep`). The nodes take
 * turns: each has a part of the interval of its own, by its place among the members, so that a cluster of
 * three with an interval of a day has a new backup every eight hours, each on another machine; when a node is
 * gone, the others go on taking theirs.
 */
import type { MemberInfo } from '@althing/engine';

export interface StandingOrder {
  /** Seconds from one of this node to its next. */
  readonly repeat: number;
  readonly maxFiles: number;
  /** Null as long as it is not known. */
  readonly turn: () => Turn | null;
}

/** The place of a node among the members, from 0 on, and how many there are. */
export interface Turn {
  readonly place: number;
  readonly count: number;
}

/** Where the files lie below `backup_path`. */
export const STANDING_TEMPLATE = 'standing/{DATE}T{TIME}Z.backup';

/** The turn of a node; null when it is no member, or leaves. */
export function turnOf(members: Iterable<MemberInfo>, nodeId: number): Turn | null {
  const staying = [...members].filter(({ leaving }) => !leaving).sort((a, b) => a.number - b.number);
  const place = staying.findIndex((member) => member.nodeId === nodeId);
  return place < 0 ? null : { place, count: staying.length };
}

/**
 * The next time of a node behind a moment, in Unix seconds. All nodes come to the same plan, whenever they
 * were started.
 */
export function nextTurn(nowS: number, repeat: number, { place, count }: Turn): number {
  const offset = Math.floor((repeat * place) / count);
  return (Math.floor((nowS - offset) / repeat) + 1) * repeat + offset;
}
