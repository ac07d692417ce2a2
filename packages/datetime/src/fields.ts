import {
  civilFromDays,
  dayOfYear,
  daysFromCivil,
  daysInMonth,
  SECONDS_PER_DAY,
  weekdayOf,
  YEAR_MAX,
  YEAR_MIN,
} from './calendar.js';
import { DateTimeError } from './error.js';
import type { Int } from './int64.js';
import { offsetAt, type Place } from './place.js';

export interface DateFields {
  readonly year: number;
  /** 1–12 */
  readonly month: number;
  /** 1–31 */
  readonly day: number;
}

export interface TimeFields {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** The fields of a calendar and of a clock on the wall. */
export interface LocalFields extends DateFields, TimeFields {
  /** Seconds east of UTC. */
  readonly offset: number;
  /** 0–6, Sunday is 0. */
  readonly weekday: number;
  /** 0–365 */
  readonly yday: number;
}

export const FIELD_NAMES = ['year', 'month', 'day', 'hour', 'minute', 'second'] as const;
export type FieldName = (typeof FIELD_NAMES)[number];

const RANGE_BY_FIELD: Readonly<Record<FieldName, readonly [number, number]>> = {
  year: [1, 9999],
  month: [1, 12],
  day: [1, 31],
  hour: [0, 23],
  minute: [0, 59],
  second: [0, 59],
};

/** The given error outside the years of the calendar (§11.1: `week` and its kin differ from the rest). */
export function localFields(
  moment: Int,
  place: Place,
  outside: 'value_err' | 'overflow_err' = 'value_err',
): LocalFields {
  const offset = offsetAt(place, moment);
  let secondOfDay: number;
  let days: number;
  if (typeof moment === 'number') {
    secondOfDay = ((moment % SECONDS_PER_DAY) + SECONDS_PER_DAY) % SECONDS_PER_DAY;
    // The difference may be unsafe, but it is a multiple of 128 and therefore exact.
    days = (moment - secondOfDay) / SECONDS_PER_DAY;
  } else {
    const day = BigInt(SECONDS_PER_DAY);
    const rest = ((moment % day) + day) % day;
    secondOfDay = Number(rest);
    days = Number((moment - rest) / day);
  }
  const shifted = secondOfDay + offset;
  const dayShift = Math.floor(shifted / SECONDS_PER_DAY);
  secondOfDay = shifted - dayShift * SECONDS_PER_DAY;
  days += dayShift;
  const { year, month, day } = civilFromDays(days);
  if (year < YEAR_MIN || year > YEAR_MAX)
    throw new DateTimeError(outside, 'the moment is outside the calendar');
  return {
    year,
    month,
    day,
    hour: Math.floor(secondOfDay / 3600),
    minute: Math.floor(secondOfDay / 60) % 60,
    second: secondOfDay % 60,
    offset,
    weekday: weekdayOf(days),
    yday: dayOfYear(year, month, day),
  };
}

/** The number, if it is an int (else `type_err`) in the range of the field (else `value_err`). */
export function checkField(name: FieldName, value: unknown): number {
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    throw new DateTimeError('type_err', `${name} must be an int`);
  }
  const [min, max] = RANGE_BY_FIELD[name];
  if (value < min || value > max) {
    throw new DateTimeError('value_err', `${name} must be between ${min} and ${max}`);
  }
  return Number(value);
}

/** The day number of a date; `value_err` if its month does not have that day. month: 1–12. */
export function daysOfDate({ year, month, day }: DateFields): number {
  const last = daysInMonth(year, month);
  if (day < 1 || day > last) {
    throw new DateTimeError(
      'value_err',
      `there is no day ${day} in month ${month} of ${year}; it has ${last} days`,
    );
  }
  return daysFromCivil(year, month, day);
}

export function secondOfDay({ hour, minute, second }: TimeFields): number {
  return hour * 3600 + minute * 60 + second;
}
