import { DAYS_MAX, DAYS_MIN, SECONDS_PER_DAY } from './calendar.js';
import { DateTimeError } from './error.js';
import { type Int, toInt } from './int64.js';
import { UTC, type Zone, zoneByName } from './zone.js';

/** A time zone, or else a fixed offset, by which local time is told. Every DateTime is one. */
export interface Place {
  readonly zone: Zone | null;
  /** Minutes east of UTC, −720…720; 0 with a zone. */
  readonly offsetMinutes: number;
}

export const UTC_PLACE: Place = { zone: UTC, offsetMinutes: 0 };

/** A known name (exact case), or `±hh` / `±hhmm` up to 12:00, else `value_err`. */
export function parsePlace(text: string): Place {
  const zone = zoneByName(text);
  if (zone !== undefined) return { zone, offsetMinutes: 0 };
  const offsetMinutes = parseOffset(text);
  if (offsetMinutes === undefined) {
    throw new DateTimeError(
      'value_err',
      'unknown time zone; give a name as time_zones_info() lists it, or an offset such as +01 or -0330 (at most 12:00)',
    );
  }
  return { zone: null, offsetMinutes };
}

/** Minutes east for `±hh` / `±hhmm` up to 12:00. */
export function parseOffset(text: string): number | undefined {
  const match = /^([+-])(\d\d)([0-5]\d)?$/.exec(text);
  if (match === null) return undefined;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  if (minutes > 720) return undefined;
  // Not -minutes, which would make a negative zero of -00.
  return match[1] === '-' ? 0 - minutes : minutes;
}

/** Seconds east of UTC. */
export function offsetAt(place: Place, moment: Int): number {
  return place.zone === null ? place.offsetMinutes * 60 : place.zone.offsetAt(moment);
}

/**
 * The moment of a local day number and second of the day, by the rules of `Zone.momentOfLocal`. `value_err` outside the
 * calendar.
 */
export function momentOf(place: Place, days: number, second: number, preferredOffset?: number): Int {
  if (days < DAYS_MIN || days > DAYS_MAX)
    throw new DateTimeError('value_err', 'the date is outside the calendar');
  const seconds = days * SECONDS_PER_DAY + second;
  const local = Number.isSafeInteger(seconds)
    ? seconds
    : BigInt(days) * BigInt(SECONDS_PER_DAY) + BigInt(second);
  if (place.zone !== null) return place.zone.momentOfLocal(local, preferredOffset);
  const offset = place.offsetMinutes * 60;
  return toInt(typeof local === 'number' ? local - offset : local - BigInt(offset));
}
