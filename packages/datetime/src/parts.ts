import { DateTime } from './datetime.js';
import { DateTimeError } from './error.js';
import {
  checkField,
  type DateFields,
  daysOfDate,
  type FieldName,
  localFields,
  secondOfDay,
  type TimeFields,
} from './fields.js';
import { momentOf } from './place.js';

/** The result of `extract()`, in the order in which the language shows it. */
export interface Extract extends DateFields, TimeFields {
  /** Seconds east of UTC. */
  readonly gmt_offset: number;
}

/** `extract()`; `value_err` outside the calendar. */
export function extract(time: DateTime): Extract {
  const { year, month, day, hour, minute, second, offset } = localFields(time.moment, time);
  return { year, month, day, hour, minute, second, gmt_offset: offset };
}

/** `extract(field)`; `value_err` for any other name. */
export function extractField(time: DateTime, name: string): number {
  const fields = new Map<string, number>(Object.entries(extract(time)));
  const value = fields.get(name);
  if (value === undefined) {
    throw new DateTimeError('value_err', `unknown field; the fields are ${[...fields.keys()].join(', ')}`);
  }
  return value;
}

/**
 * `replace(thing)`: the given fields in place of the local ones. Each must be an int (`type_err`) in its range
 * (`value_err`), the day must exist (`value_err`). In an overlap the offset of the receiver is kept.
 */
export function replace(time: DateTime, changes: Readonly<Partial<Record<FieldName, unknown>>>): DateTime {
  const local = localFields(time.moment, time);
  const field = (name: FieldName): number =>
    changes[name] === undefined ? local[name] : checkField(name, changes[name]);
  const date = { year: field('year'), month: field('month'), day: field('day') };
  const clock = { hour: field('hour'), minute: field('minute'), second: field('second') };
  const moment = momentOf(time, daysOfDate(date), secondOfDay(clock), local.offset);
  return new DateTime(time.kind, moment, time);
}

/** 0–53; week 1 starts at the first Sunday. `overflow_err` outside the calendar. */
export function week(time: DateTime): number {
  const { yday, weekday } = localFields(time.moment, time, 'overflow_err');
  return Math.floor((yday + 7 - weekday) / 7);
}

/** 0–6, Sunday is 0. `overflow_err` outside the calendar. */
export function weekday(time: DateTime): number {
  return localFields(time.moment, time, 'overflow_err').weekday;
}

/** 0–365, January 1st is 0. `overflow_err` outside the calendar. */
export function yday(time: DateTime): number {
  return localFields(time.moment, time, 'overflow_err').yday;
}
