import { describe, expect, test } from '@jest/globals';
import { fromFields, fromFloat, fromMoment, fromStored, inPlace, withKind } from './construct.js';
import { checkField } from './fields.js';
import { toClientText, toIso } from './format.js';
import { parsePlace, UTC_PLACE } from './place.js';
import { at, codeOf, NO_ZONE } from './testing.js';

const INT_MAX = 2n ** 63n - 1n;

const iso = (moment: number) => toIso(fromMoment('datetime', moment, UTC_PLACE));

type FieldList = [year: number, month: number, day: number, hour?: number, minute?: number, second?: number];

function fields([year, month, day, hour = 0, minute = 0, second = 0]: FieldList, place = 'UTC'): string {
  return toIso(fromFields('datetime', { year, month, day, hour, minute, second }, at(place)));
}

describe('moments', () => {
  test('are seconds since 1970', () => {
    expect([0, 951_868_799, -1].map(iso)).toEqual([
      '1970-01-01T00:00:00Z',
      '2000-02-29T23:59:59Z',
      '1969-12-31T23:59:59Z',
    ]);
  });

  test('before year 1 and after 9999', () => {
    expect([-62_135_596_801, 253_402_300_800].map(iso)).toEqual([
      '0-12-31T23:59:59Z',
      '10000-01-01T00:00:00Z',
    ]);
  });

  test('reach to the ends of the calendar, which are beyond the safe integers', () => {
    expect(toIso(fromMoment('datetime', 67_768_036_191_676_799n, UTC_PLACE))).toBe(
      '2147485547-12-31T23:59:59Z',
    );
    expect(toIso(fromMoment('datetime', -67_768_040_609_740_800n, UTC_PLACE))).toBe(
      '-2147481748-01-01T00:00:00Z',
    );
  });

  test('have no date outside the calendar, whose ends are told by the local year', () => {
    const dateless = [
      fromMoment('datetime', INT_MAX, UTC_PLACE),
      fromFloat('timeval', 9e18, UTC_PLACE),
      fromMoment('datetime', 67_768_036_191_676_800n, UTC_PLACE),
      fromMoment('datetime', 67_768_036_191_676_799n, at('+01')),
      fromMoment('datetime', -67_768_040_609_740_801n, UTC_PLACE),
    ];
    for (const time of dateless) {
      expect(codeOf(() => toIso(time))).toBe('value_err');
      expect(toClientText(time)).toBe('1970-01-01T00:00:00Z');
    }
    expect(dateless[0]?.moment).toBe(INT_MAX);
  });

  test('outside int64 are overflow_err', () => {
    expect(codeOf(() => fromMoment('datetime', INT_MAX + 1n, UTC_PLACE))).toBe('overflow_err');
    expect(codeOf(() => fromMoment('timeval', -INT_MAX - 2n, UTC_PLACE))).toBe('overflow_err');
  });

  test('moments of floats are cut towards zero', () => {
    expect(fromFloat('datetime', 1.9, UTC_PLACE).moment).toBe(1);
    expect(fromFloat('datetime', -1.9, UTC_PLACE).moment).toBe(-1);
    expect(Object.is(fromFloat('datetime', -0.5, UTC_PLACE).moment, 0)).toBe(true);
    for (const value of [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 1e19, 2 ** 63]) {
      expect(codeOf(() => fromFloat('timeval', value, UTC_PLACE))).toBe('overflow_err');
    }
  });
});

describe('fields', () => {
  test('are local time', () => {
    expect(fields([1998, 8, 24])).toBe('1998-08-24T00:00:00Z');
    expect(fields([1998, 8, 24, 17, 45, 9])).toBe('1998-08-24T17:45:09Z');
    expect(fields([1998, 1, 24, 17], 'Europe/Amsterdam')).toBe('1998-01-24T17:00:00+0100');
    expect(fields([2020, 7, 1, 12], 'Europe/Amsterdam')).toBe('2020-07-01T12:00:00+0200');
    expect(fields([1998, 1, 24, 17, 45], 'America/New_York')).toBe('1998-01-24T17:45:00-0500');
    expect(fields([1998, 8, 24, 17], '-0330')).toBe('1998-08-24T17:00:00-0330');
  });

  test('fields in a gap move forward, in an overlap mean the first', () => {
    expect(fields([2020, 3, 29, 2, 30], 'Europe/Amsterdam')).toBe('2020-03-29T03:30:00+0200');
    expect(fields([2020, 10, 25, 2, 30], 'Europe/Amsterdam')).toBe('2020-10-25T02:30:00+0200');
    expect(fields([2011, 12, 30, 12], 'Pacific/Apia')).toBe('2011-12-31T12:00:00+1400');
  });

  test('have ranges', () => {
    expect(fields([9999, 12, 31, 23, 59, 59])).toBe('9999-12-31T23:59:59Z');
    expect(fromFields('datetime', { year: 1, month: 1, day: 1 }, UTC_PLACE).moment).toBe(-62_135_596_800);
    const bad: FieldList[] = [
      [0, 1, 1],
      [10_000, 1, 1],
      [-1, 1, 1],
      [1998, 0, 1],
      [1998, 13, 1],
      [1998, 1, 0],
      [1998, 1, 32],
      [1998, 1, 1, 24],
      [1998, 1, 1, -1],
      [1998, 1, 1, 0, 60],
      [1998, 1, 1, 0, 0, 60],
      [1998, 2, 29],
      [1900, 2, 29],
      [1998, 4, 31],
    ];
    for (const list of bad) expect([list, codeOf(() => fields(list))]).toEqual([list, 'value_err']);
  });

  test('must be ints', () => {
    expect(checkField('year', 1998n)).toBe(1998);
    expect(codeOf(() => checkField('day', null))).toBe('type_err');
    expect(codeOf(() => checkField('day', true))).toBe('type_err');
    expect(codeOf(() => checkField('day', '1'))).toBe('type_err');
    expect(codeOf(() => checkField('day', 2n ** 62n))).toBe('value_err');
  });
});

describe('places', () => {
  test('are names or offsets', () => {
    expect(parsePlace('Asia/Tokyo').zone?.name).toBe('Asia/Tokyo');
    expect(parsePlace('+0545')).toEqual({ zone: null, offsetMinutes: 345 });
    expect(parsePlace('-0330')).toEqual({ zone: null, offsetMinutes: -210 });
    expect(parsePlace('-00')).toEqual({ zone: null, offsetMinutes: 0 });
    expect([parsePlace('+12').offsetMinutes, parsePlace('-1200').offsetMinutes]).toEqual([720, -720]);
  });

  test('places that do not exist are value_err', () => {
    const bad = [
      '',
      '+1',
      '+01:00',
      '+13',
      '-1230',
      '+1201',
      '+0160',
      '01',
      'Nowhere',
      'europe/amsterdam',
      '+٠١',
      '+01\n',
    ];
    for (const text of bad) expect([text, codeOf(() => parsePlace(text))]).toEqual([text, 'value_err']);
  });

  test('change without changing the moment', () => {
    const time = fromMoment('timeval', 951_868_799, UTC_PLACE);
    const there = inPlace(time, at('Asia/Tokyo'));
    expect(toIso(there)).toBe('2000-03-01T08:59:59+0900');
    expect([there.kind, there.moment, there.zone?.name]).toEqual(['timeval', 951_868_799, 'Asia/Tokyo']);
    expect(inPlace(there, at('+0545'))).toMatchObject({ zone: null, offsetMinutes: 345 });
  });
});

describe('kinds', () => {
  test('convert into each other, keeping moment and place', () => {
    const time = fromMoment('datetime', 60, at('Asia/Tokyo'));
    const other = withKind(time, 'timeval');
    expect([other.kind, other.moment, other.zone?.name]).toEqual(['timeval', 60, 'Asia/Tokyo']);
    expect(withKind(other, 'timeval')).toBe(other);
  });
});

describe('stored form', () => {
  test('comes back as it was', () => {
    for (const time of [
      fromMoment('datetime', 60, at('Asia/Tokyo')),
      fromMoment('timeval', -1, at('-0330')),
      fromMoment('datetime', INT_MAX, NO_ZONE),
    ]) {
      const { kind, moment, zone, offsetMinutes } = time;
      expect(fromStored(kind, BigInt(moment), zone?.name ?? '', offsetMinutes)).toEqual(time);
    }
  });

  test('is checked', () => {
    expect(codeOf(() => fromStored('datetime', 0, 'Nowhere', 0))).toBe('value_err');
    expect(codeOf(() => fromStored('datetime', 0, '', 721))).toBe('value_err');
    expect(codeOf(() => fromStored('datetime', 0, 'UTC', 60))).toBe('value_err');
    expect(codeOf(() => fromStored('datetime', 2n ** 64n, 'UTC', 0))).toBe('overflow_err');
  });
});
