import { DateTime, type DateTimeKind } from './datetime.js';
import { DateTimeError } from './error.js';
import { checkField, type DateFields, daysOfDate, secondOfDay, type TimeFields } from './fields.js';
import type { Int } from './int64.js';
import { momentOf, type Place } from './place.js';
import { zoneByName } from './zone.js';

/**
 * `datetime(int)`: any moment of int64, also one outside the calendar, which can be compared and moved by seconds but has
 * no date; `overflow_err` outside int64.
 */
export function fromMoment(kind: DateTimeKind, moment: Int, place: Place): DateTime {
  return new DateTime(kind, moment, place);
}

/** `datetime(float)`: cut towards zero; `overflow_err` for nan, infinities and outside int64. */
export function fromFloat(kind: DateTimeKind, moment: number, place: Place): DateTime {
  return fromMoment(kind, Math.trunc(moment), place);
}

/** `datetime(y, m, d, …)`: local time by §11.8; ranges by `checkField`; a day that the month lacks is `value_err`. */
export function fromFields(
  kind: DateTimeKind,
  fields: DateFields & Partial<TimeFields>,
  place: Place,
): DateTime {
  const date = {
    year: checkField('year', fields.year),
    month: checkField('month', fields.month),
    day: checkField('day', fields.day),
  };
  const time = {
    hour: checkField('hour', fields.hour ?? 0),
    minute: checkField('minute', fields.minute ?? 0),
    second: checkField('second', fields.second ?? 0),
  };
  return new DateTime(kind, momentOf(place, daysOfDate(date), secondOfDay(time)), place);
}

/**
 * A date that was stored as moment, name of the zone ('' for none) and offset in minutes. `value_err` for a zone or an
 * offset that does not exist.
 */
export function fromStored(
  kind: DateTimeKind,
  moment: Int,
  zoneName: string,
  offsetMinutes: number,
): DateTime {
  const zone = zoneName === '' ? null : zoneByName(zoneName);
  if (zone === undefined) throw new DateTimeError('value_err', `unknown time zone ${zoneName}`);
  if (
    !Number.isInteger(offsetMinutes) ||
    Math.abs(offsetMinutes) > 720 ||
    (zone !== null && offsetMinutes !== 0)
  ) {
    throw new DateTimeError('value_err', `impossible offset of ${offsetMinutes} minutes`);
  }
  return new DateTime(kind, moment, { zone, offsetMinutes });
}

/** `datetime(timeval)` and back: moment and zone stay. */
export function withKind(time: DateTime, kind: DateTimeKind): DateTime {
  return time.kind === kind ? time : new DateTime(kind, time.moment, time);
}

/** `to(zone)`: the same moment elsewhere. */
export function inPlace(time: DateTime, place: Place): DateTime {
  return new DateTime(time.kind, time.moment, place);
}
