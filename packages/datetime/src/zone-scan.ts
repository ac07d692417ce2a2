/** Finds the offsets of a zone in the IANA data that Node carries, through Intl. */
import { DateTimeError } from './error.js';

/** A stretch of time: `offsets[i]` is in force until `starts[i]`, the last one until the end of the stretch. */
export interface OffsetChanges {
  /** Moments of the changes, ascending. */
  readonly starts: readonly number[];
  /** Seconds east; one more than there are starts. */
  readonly offsets: readonly number[];
}

/**
 * Two changes of one zone are never closer than 6.9 days in the IANA data as ICU has it (Recife in October 2000, Gaza in
 * several years to come), nor than 3.9 days with its `backzone` (Freetown, September 1939). So steps of three days see
 * each of them.
 */
export const SCAN_STEP = 3 * 86_400;

/** Seconds east of UTC at a moment in seconds since 1970, within the years of Date. Takes about a microsecond. */
export type OffsetReader = (moment: number) => number;

/** `value_err` if Intl does not know the zone. A reader takes 0.1 ms to make and holds about 30 kB. */
export function offsetReader(zone: string): OffsetReader {
  if (zone === 'UTC') return () => 0;
  const format = intlFormat(zone);
  return (moment) => {
    // '5 PM GMT+00:17:30', '3 AM GMT-03:00', '7 AM GMT'
    const text = format.format(moment * 1000);
    const at = text.lastIndexOf('GMT') + 3;
    if (at === text.length) return 0;
    const seconds =
      Number(text.slice(at + 1, at + 3)) * 3600 +
      Number(text.slice(at + 4, at + 6)) * 60 +
      Number(text.slice(at + 7, at + 9));
    return text[at] === '-' ? -seconds : seconds;
  };
}

/** The changes within [from, till). */
export function scanOffsets(offsetAt: OffsetReader, from: number, till: number): OffsetChanges {
  const starts: number[] = [];
  const offsets = [offsetAt(from)];
  let at = from;
  let offset = offsets[0]!;
  while (at < till - 1) {
    const next = Math.min(at + SCAN_STEP, till - 1);
    const nextOffset = offsetAt(next);
    if (nextOffset !== offset) {
      starts.push(firstWithout(offsetAt, offset, at, next));
      offsets.push(nextOffset);
      offset = nextOffset;
    }
    at = next;
  }
  return { starts, offsets };
}

/** The first second after `low` whose offset is not the given one; `high` is such a second. */
function firstWithout(
  offsetAt: (moment: number) => number,
  offset: number,
  low: number,
  high: number,
): number {
  let before = low;
  let after = high;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetAt(middle) === offset) before = middle;
    else after = middle;
  }
  return after;
}

function intlFormat(zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone, hour: 'numeric', timeZoneName: 'longOffset' });
  } catch {
    throw new DateTimeError(
      'value_err',
      `this Node.js has no data for the time zone ${zone}; a newer release of Node.js brings it`,
    );
  }
}
