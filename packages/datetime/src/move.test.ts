import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fromMoment } from './construct.js';
import type { DateTime } from './datetime.js';
import { toIso } from './format.js';
import { checkMoveUnit, MOVE_UNITS, type MoveUnit, move } from './move.js';
import { parseIso } from './parse.js';
import { extract } from './parts.js';
import { UTC_PLACE } from './place.js';
import { at, codeOf, INTERESTING_MOMENTS } from './testing.js';

const INT_MAX = 2n ** 63n - 1n;

const local = (text: string, place = 'UTC'): DateTime => parseIso('datetime', text, at(place));
const moved = (text: string, unit: MoveUnit, n: number, place = 'UTC') =>
  toIso(move(local(text, place), unit, n));

describe('exact moves', () => {
  test('seconds, minutes and hours', () => {
    const from = '1998-08-24T23:59:59';
    expect(moved(from, 'seconds', 1)).toBe('1998-08-25T00:00:00Z');
    expect(moved(from, 'minutes', 1)).toBe('1998-08-25T00:00:59Z');
    expect(moved(from, 'hours', 1)).toBe('1998-08-25T00:59:59Z');
    expect(moved(from, 'hours', -24)).toBe('1998-08-23T23:59:59Z');
  });

  test('do not care about clocks', () => {
    for (const [unit, n] of [
      ['hours', 24],
      ['minutes', 1440],
      ['seconds', 86_400],
    ] as const) {
      expect(moved('2020-03-28T12', unit, n, 'Europe/Amsterdam')).toBe('2020-03-29T13:00:00+0200');
    }
  });

  test('overflow of 64 bits is overflow_err, also of the step alone', () => {
    expect(codeOf(() => move(fromMoment('datetime', 1, UTC_PLACE), 'seconds', INT_MAX))).toBe('overflow_err');
    const negative = fromMoment('datetime', -INT_MAX, UTC_PLACE);
    expect(move(negative, 'seconds', INT_MAX).moment).toBe(0);
    expect(codeOf(() => move(negative, 'hours', INT_MAX / 3600n + 1n))).toBe('overflow_err');
    expect(codeOf(() => move(negative, 'minutes', INT_MAX / 60n + 1n))).toBe('overflow_err');
  });

  test('may leave the calendar', () => {
    expect(move(fromMoment('datetime', 0, UTC_PLACE), 'seconds', INT_MAX).moment).toBe(INT_MAX);
  });
});

describe('moves by the calendar', () => {
  test('days and weeks', () => {
    expect(moved('2000-02-28T06', 'days', 1)).toBe('2000-02-29T06:00:00Z');
    expect(moved('2000-02-28T06', 'days', 2)).toBe('2000-03-01T06:00:00Z');
    expect(moved('2000-02-28T06', 'weeks', 1)).toBe('2000-03-06T06:00:00Z');
    expect(moved('2000-02-28T06', 'weeks', -9)).toBe('1999-12-27T06:00:00Z');
    expect(moved('1998-08-24', 'days', 0)).toBe('1998-08-24T00:00:00Z');
  });

  test('months and years end on the last day of a shorter month', () => {
    expect(moved('2021-01-31', 'months', 1)).toBe('2021-02-28T00:00:00Z');
    expect(moved('2020-01-31', 'months', 1)).toBe('2020-02-29T00:00:00Z');
    expect(moved('2020-02-29', 'years', 1)).toBe('2021-02-28T00:00:00Z');
    expect(moved('2020-02-29', 'years', 4)).toBe('2024-02-29T00:00:00Z');
    expect(moved('2020-02-29', 'years', -120)).toBe('1900-02-28T00:00:00Z');
    expect(moved('2020-01-31', 'months', -2)).toBe('2019-11-30T00:00:00Z');
    expect(moved('2020-12-15', 'months', 1)).toBe('2021-01-15T00:00:00Z');
    expect(moved('2020-01-15', 'months', -13)).toBe('2018-12-15T00:00:00Z');
    expect(moved('0001-01-01', 'years', -3)).toBe('-2-01-01T00:00:00Z');
  });

  test('keep fixed offsets, the kind and the receiver', () => {
    expect(moved('1998-08-24T17', 'months', 6, '+0530')).toBe('1999-02-24T17:00:00+0530');
    expect(moved('1998-08-24T17', 'days', 1, '-0330')).toBe('1998-08-25T17:00:00-0330');
    expect(moved('1998-08-24T17', 'days', 1, '+00')).toBe('1998-08-25T17:00:00Z');
    const time = fromMoment('timeval', 0, UTC_PLACE);
    expect(move(time, 'days', 1)).toMatchObject({ kind: 'timeval', moment: 86_400 });
    expect(time.moment).toBe(0);
  });

  test('keep local time across a change of the clocks', () => {
    const from = '2020-03-28T12:00:00';
    expect(moved(from, 'days', 1, 'Europe/Amsterdam')).toBe('2020-03-29T12:00:00+0200');
    expect(moved(from, 'months', 1, 'Europe/Amsterdam')).toBe('2020-04-28T12:00:00+0200');
    expect(moved(from, 'weeks', 1, 'Europe/Amsterdam')).toBe('2020-04-04T12:00:00+0200');
    expect(moved(from, 'years', 1, 'Europe/Amsterdam')).toBe('2021-03-28T12:00:00+0200');
    expect(moved('2020-03-31T12', 'months', -1, 'America/New_York')).toBe('2020-02-29T12:00:00-0500');
    expect(moved('2020-10-03T12', 'days', 1, 'Australia/Lord_Howe')).toBe('2020-10-04T12:00:00+1100');
  });

  test('into a gap go forward by the gap', () => {
    expect(moved('2020-03-28T02:30', 'days', 1, 'Europe/Amsterdam')).toBe('2020-03-29T03:30:00+0200');
    expect(moved('2020-03-30T02:30', 'days', -1, 'Europe/Amsterdam')).toBe('2020-03-29T03:30:00+0200');
    expect(moved('2020-10-03T02:15', 'days', 1, 'Australia/Lord_Howe')).toBe('2020-10-04T02:45:00+1100');
    expect(moved('2011-12-29T12', 'days', 1, 'Pacific/Apia')).toBe('2011-12-31T12:00:00+1400');
  });

  test('into an overlap keep the offset of the receiver if it is one of the two', () => {
    expect(moved('2020-10-24T02:30', 'days', 1, 'Europe/Amsterdam')).toBe('2020-10-25T02:30:00+0200');
    expect(moved('2020-10-26T02:30', 'days', -1, 'Europe/Amsterdam')).toBe('2020-10-25T02:30:00+0100');
    const second = move(local('2020-10-25T02:30', 'Europe/Amsterdam'), 'hours', 1);
    expect(toIso(second)).toBe('2020-10-25T02:30:00+0100');
    expect(toIso(move(second, 'days', 0))).toBe('2020-10-25T02:30:00+0100');
    // Casablanca had UTC+1 in the winter before, UTC+0 in Ramadan: 2019-05-05 has 02:30 twice.
    expect(moved('2019-05-20T02:30', 'days', -15, 'Africa/Casablanca')).toBe('2019-05-05T02:30:00+0000');
    expect(moved('2019-05-04T02:30', 'days', 1, 'Africa/Casablanca')).toBe('2019-05-05T02:30:00+0100');
  });

  test('beyond int32 are overflow_err', () => {
    const epoch = fromMoment('datetime', 0, UTC_PLACE);
    const bad: [MoveUnit, number | bigint][] = [
      ['days', 2_147_483_648],
      ['days', 2_147_483_647],
      ['days', INT_MAX],
      ['years', 2_147_483_647],
      ['months', -2_147_483_649],
      ['weeks', 2_147_483_647],
      ['weeks', 306_783_379],
    ];
    for (const [unit, n] of bad)
      expect([unit, n, codeOf(() => move(epoch, unit, n))]).toEqual([unit, n, 'overflow_err']);
    expect(toIso(move(epoch, 'months', 2_147_483_647))).toBe('178958940-08-01T00:00:00Z');
    expect(toIso(move(epoch, 'days', -2_147_483_648))).toBe('-5877641-06-23T00:00:00Z');
  });

  test('reach the ends of the calendar and not beyond', () => {
    const last = move(fromMoment('datetime', 0, UTC_PLACE), 'years', 2_147_483_577);
    expect(toIso(last)).toBe('2147485547-01-01T00:00:00Z');
    expect(codeOf(() => move(last, 'years', 1))).toBe('overflow_err');
    expect(codeOf(() => move(last, 'months', 12))).toBe('value_err');
    expect(codeOf(() => move(last, 'days', 365))).toBe('value_err');
    expect(toIso(move(last, 'days', 364))).toBe('2147485547-12-31T00:00:00Z');
    expect(codeOf(() => move(fromMoment('datetime', INT_MAX, UTC_PLACE), 'days', 1))).toBe('value_err');
  });

  test('units are exact', () => {
    expect(MOVE_UNITS.map(checkMoveUnit)).toEqual([...MOVE_UNITS]);
    for (const text of ['day', 'Days', '', 'constructor'])
      expect(codeOf(() => checkMoveUnit(text))).toBe('value_err');
  });

  test('forth and back leads back', () => {
    const place = fc.constantFrom('UTC', '+0545', 'Asia/Kolkata', 'Europe/Amsterdam', 'America/New_York');
    const moment = fc.oneof(
      fc.integer({ min: -4_000_000_000, max: 8_000_000_000 }),
      fc.constantFrom(...INTERESTING_MOMENTS),
    );
    const unit = fc.constantFrom(...MOVE_UNITS);
    fc.assert(
      fc.property(place, moment, unit, fc.integer({ min: -5000, max: 5000 }), (name, m, u, n) => {
        const time = fromMoment('datetime', m, at(name));
        const there = move(time, u, n);
        const back = move(there, u, -n);
        const isExact = u === 'hours' || u === 'minutes' || u === 'seconds';
        if (isExact) expect(back.moment).toBe(m);
        // Clamping and gaps may take at most three days and an hour; without either the way back is exact to an overlap.
        else expect(Math.abs(Number(back.moment) - m)).toBeLessThanOrEqual(3 * 86_400 + 3600);
        const isFixed = name === 'UTC' || name === '+0545';
        if (isFixed && (u === 'days' || u === 'weeks')) expect(back.moment).toBe(m);
        if (isFixed && extract(time).day <= 28) expect(back.moment).toBe(m);
      }),
      { numRuns: 1000 },
    );
  });

  test('days add up when no clock changes', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -100_000, max: 100_000 }),
        fc.integer({ min: -100_000, max: 100_000 }),
        (a, b) => {
          const time = fromMoment('datetime', 951_868_799, UTC_PLACE);
          expect(move(move(time, 'days', a), 'days', b).moment).toBe(move(time, 'days', a + b).moment);
          expect(move(time, 'weeks', a).moment).toBe(move(time, 'days', 7 * a).moment);
          expect(move(time, 'years', a).moment).toBe(move(time, 'months', 12 * a).moment);
        },
      ),
    );
  });
});
