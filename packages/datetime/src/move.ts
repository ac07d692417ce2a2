import { daysFromCivil, daysInMonth } from './calendar.js';
import { DateTime } from './datetime.js';
import { DateTimeError } from './error.js';
import { type LocalFields, localFields, secondOfDay } from './fields.js';
import { addInts, type Int, multiplyInts, toInt32 } from './int64.js';
import { momentOf } from './place.js';

export const MOVE_UNITS = ['years', 'months', 'weeks', 'days', 'hours', 'minutes', 'seconds'] as const;
export type MoveUnit = (typeof MOVE_UNITS)[number];

/** `value_err` for any other text; to be called before the count is evaluated. */
export function checkMoveUnit(text: string): MoveUnit {
  const unit = MOVE_UNITS.find((known) => known === text);
  if (unit === undefined) {
    throw new DateTimeError('value_err', `unknown unit; the units are ${MOVE_UNITS.join(', ')}`);
  }
  return unit;
}

/**
 * Seconds, minutes and hours are exact; `overflow_err` beyond int64. Days, weeks, months and years keep the local time,
 * months and years end on the last day of a shorter month; `overflow_err` for steps beyond int32, `value_err` outside the
 * calendar. In an overlap the offset of the receiver is kept.
 */
export function move(time: DateTime, unit: MoveUnit, n: Int): DateTime {
  const seconds = secondsPerUnit(unit);
  if (seconds !== undefined) {
    return new DateTime(time.kind, addInts(time.moment, multiplyInts(n, seconds)), time);
  }
  const step = toInt32(unit === 'weeks' ? multiplyInts(n, 7) : n);
  const local = localFields(time.moment, time);
  const moment = momentOf(time, movedDays(local, unit, step), secondOfDay(local), local.offset);
  return new DateTime(time.kind, moment, time);
}

function secondsPerUnit(unit: MoveUnit): number | undefined {
  switch (unit) {
    case 'seconds':
      return 1;
    case 'minutes':
      return 60;
    case 'hours':
      return 3600;
    default:
      return undefined;
  }
}

/** The day number after the step. As in C's `struct tm`, months count from 0 and years from 1900 against int32. */
function movedDays({ year, month, day }: LocalFields, unit: MoveUnit, step: number): number {
  if (unit === 'days' || unit === 'weeks') return daysFromCivil(year, month, toInt32(day + step));
  const months = unit === 'months' ? toInt32(month - 1 + step) : month - 1;
  const yearMoved = (unit === 'years' ? toInt32(year - 1900 + step) + 1900 : year) + Math.floor(months / 12);
  const monthMoved = (((months % 12) + 12) % 12) + 1;
  return daysFromCivil(yearMoved, monthMoved, Math.min(day, daysInMonth(yearMoved, monthMoved)));
}
