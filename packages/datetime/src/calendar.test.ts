import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  civilFromDays,
  DAYS_MAX,
  DAYS_MIN,
  dayOfYear,
  daysFromCivil,
  daysInMonth,
  isLeapYear,
  weekdayOf,
  YEAR_MAX,
  YEAR_MIN,
} from './calendar.js';

const DATE_DAYS_MAX = 100_000_000;

describe('the calendar', () => {
  test('day 0 is Thursday, 1970-01-01', () => {
    expect(daysFromCivil(1970, 1, 1)).toBe(0);
    expect(civilFromDays(0)).toEqual({ year: 1970, month: 1, day: 1 });
    expect(weekdayOf(0)).toBe(4);
  });

  test('ends where the moments of its first and last second lie', () => {
    expect(BigInt(DAYS_MIN) * 86_400n).toBe(-67_768_040_609_740_800n);
    expect(BigInt(DAYS_MAX) * 86_400n + 86_399n).toBe(67_768_036_191_676_799n);
    expect(civilFromDays(DAYS_MIN)).toEqual({ year: YEAR_MIN, month: 1, day: 1 });
    expect(civilFromDays(DAYS_MAX)).toEqual({ year: YEAR_MAX, month: 12, day: 31 });
  });

  test('leap years and the lengths of months', () => {
    expect([1900, 1996, 1998, 2000, 0, -4, -1].map(isLeapYear)).toEqual([
      false,
      true,
      false,
      true,
      true,
      true,
      false,
    ]);
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((month) => daysInMonth(1998, month))).toEqual([
      31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31,
    ]);
    expect(daysInMonth(2000, 2)).toBe(29);
  });

  test('agrees with Date where Date reaches', () => {
    fc.assert(
      fc.property(fc.integer({ min: -DATE_DAYS_MAX, max: DATE_DAYS_MAX }), (days) => {
        const date = new Date(days * 86_400_000);
        const civil = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
        expect(civilFromDays(days)).toEqual(civil);
        expect(weekdayOf(days)).toBe(date.getUTCDay());
      }),
    );
  });

  test('days and dates are inverse, and neighbours are neighbours, in all of its years', () => {
    fc.assert(
      fc.property(fc.integer({ min: DAYS_MIN, max: DAYS_MAX - 1 }), (days) => {
        const { year, month, day } = civilFromDays(days);
        expect(daysFromCivil(year, month, day)).toBe(days);
        const next = civilFromDays(days + 1);
        const isMonthEnd = day === daysInMonth(year, month);
        expect(next.day).toBe(isMonthEnd ? 1 : day + 1);
        expect(dayOfYear(year, month, day)).toBe(days - daysFromCivil(year, 1, 1));
      }),
    );
  });
});
