import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fromMoment } from './construct.js';
import { toIso } from './format.js';
import { move } from './move.js';
import { parseIso } from './parse.js';
import { extract, extractField, replace, week, weekday, yday } from './parts.js';
import { UTC_PLACE } from './place.js';
import { at, codeOf, INTERESTING_MOMENTS } from './testing.js';

const local = (text: string, place = 'UTC') => parseIso('datetime', text, at(place));
const FAR = fromMoment('datetime', 2n ** 63n - 1n, UTC_PLACE);

describe('extract', () => {
  test('gives local fields, in order', () => {
    const there = fromMoment('datetime', Number(local('1998-08-24T23:45:09').moment), at('Asia/Tokyo'));
    expect(Object.entries(extract(there))).toEqual([
      ['year', 1998],
      ['month', 8],
      ['day', 25],
      ['hour', 8],
      ['minute', 45],
      ['second', 9],
      ['gmt_offset', 32_400],
    ]);
    expect(extract(fromMoment('timeval', -1, UTC_PLACE))).toEqual({
      ...{ year: 1969, month: 12, day: 31, hour: 23, minute: 59, second: 59, gmt_offset: 0 },
    });
  });

  test('gives one field', () => {
    const time = local('1998-08-24T17:45:09', '-0330');
    const names = ['year', 'month', 'day', 'hour', 'minute', 'second', 'gmt_offset'];
    expect(names.map((name) => extractField(time, name))).toEqual([1998, 8, 24, 17, 45, 9, -12_600]);
    for (const name of ['Year', '', 'offset', 'constructor']) {
      expect(codeOf(() => extractField(time, name))).toBe('value_err');
    }
  });

  test('is value_err outside the calendar', () => {
    expect(codeOf(() => extract(FAR))).toBe('value_err');
    expect(codeOf(() => extractField(FAR, 'year'))).toBe('value_err');
  });
});

describe('replace', () => {
  test('changes what is given', () => {
    const time = local('1998-08-24T17:45:09');
    expect(toIso(replace(time, { hour: 0, minute: 1, second: 2 }))).toBe('1998-08-24T00:01:02Z');
    expect(toIso(replace(time, { year: 2000, month: 2, day: 29 }))).toBe('2000-02-29T17:45:09Z');
    expect(toIso(replace(time, {}))).toBe('1998-08-24T17:45:09Z');
    expect(toIso(time)).toBe('1998-08-24T17:45:09Z');
  });

  test('keeps kind, zone and offset', () => {
    expect(replace(fromMoment('timeval', 86_399, UTC_PLACE), { hour: 1 })).toMatchObject({
      kind: 'timeval',
      moment: 7199,
    });
    expect(toIso(replace(local('1998-08-24T17', '+0530'), { hour: 1 }))).toBe('1998-08-24T01:00:00+0530');
    expect(toIso(replace(local('1998-01-24T17', 'Europe/Amsterdam'), { hour: 1 }))).toBe(
      '1998-01-24T01:00:00+0100',
    );
    expect(toIso(replace(local('1998-01-24T17', 'Europe/Amsterdam'), { month: 7 }))).toBe(
      '1998-07-24T17:00:00+0200',
    );
    expect(replace(local('1998-08-24', 'Asia/Tokyo'), { day: 1 }).zone?.name).toBe('Asia/Tokyo');
  });

  test('replace does in gaps and overlaps what move does', () => {
    const spring = local('2020-03-29T12', 'Europe/Amsterdam');
    expect(toIso(replace(spring, { hour: 2, minute: 30 }))).toBe('2020-03-29T03:30:00+0200');
    const second = move(local('2020-10-25T02:30', 'Europe/Amsterdam'), 'hours', 1);
    expect(toIso(replace(second, { minute: 10 }))).toBe('2020-10-25T02:10:00+0100');
    expect(toIso(replace(local('2020-10-25T12', 'Europe/Amsterdam'), { hour: 2 }))).toBe(
      '2020-10-25T02:00:00+0100',
    );
    expect(toIso(replace(local('2020-10-25T01', 'Europe/Amsterdam'), { hour: 2 }))).toBe(
      '2020-10-25T02:00:00+0200',
    );
  });

  test('checks types, ranges and the day', () => {
    const time = local('1998-08-31');
    for (const changes of [{ year: null }, { day: '1' }, { hour: true }]) {
      expect(codeOf(() => replace(time, changes))).toBe('type_err');
    }
    const bad = [
      { year: 0 },
      { month: 13 },
      { day: 0 },
      { hour: 24 },
      { minute: -1 },
      { second: 60 },
      { month: 9 },
    ];
    for (const changes of bad) expect(codeOf(() => replace(time, changes))).toBe('value_err');
    expect(codeOf(() => replace(FAR, { year: 1 }))).toBe('value_err');
  });

  test('replace with its own fields changes nothing', () => {
    const place = fc.constantFrom(
      'UTC',
      '-0330',
      'Europe/Amsterdam',
      'Australia/Lord_Howe',
      'Africa/Casablanca',
    );
    const moment = fc.oneof(
      fc.integer({ min: -4_000_000_000, max: 200_000_000_000 }),
      fc.constantFrom(...INTERESTING_MOMENTS.filter((m) => m > -6e10 && m < 2.5e11)),
    );
    fc.assert(
      fc.property(place, moment, (name, m) => {
        const time = fromMoment('datetime', m, at(name));
        expect(replace(time, { ...extract(time) }).moment).toBe(m);
      }),
      { numRuns: 500 },
    );
  });
});

describe('days and weeks', () => {
  test('week 1 starts at the first Sunday', () => {
    expect(['1998-01-01', '1998-01-03', '1998-01-04', '1998-12-31'].map((day) => week(local(day)))).toEqual([
      0, 0, 1, 52,
    ]);
  });

  test('Sunday is 0, January 1st is 0', () => {
    const days = ['23', '24', '25', '26', '27', '28', '29'].map((day) => weekday(local(`1998-08-${day}`)));
    expect(days).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect([yday(local('1998-01-01')), yday(local('1998-12-31')), yday(local('2000-12-31'))]).toEqual([
      0, 364, 365,
    ]);
  });

  test('are local', () => {
    const time = local('1998-12-31T20');
    const there = fromMoment('datetime', Number(time.moment), at('Asia/Tokyo'));
    expect([time, there].map((t) => [week(t), weekday(t), yday(t)])).toEqual([
      [52, 4, 364],
      [0, 5, 0],
    ]);
  });

  test('outside the calendar are overflow_err', () => {
    for (const part of [week, weekday, yday]) expect(codeOf(() => part(FAR))).toBe('overflow_err');
  });
});
