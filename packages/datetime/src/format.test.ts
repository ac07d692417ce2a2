import { describe, expect, test } from '@jest/globals';
import { fromFields, fromMoment, inPlace } from './construct.js';
import { format, toClientText, toIso } from './format.js';
import { parseIso } from './parse.js';
import { UTC_PLACE } from './place.js';
import { at, codeOf, NO_ZONE } from './testing.js';

/** The format of a time that is written in ISO form. */
const of = (text: string, fmt: string, place = 'UTC') => format(parseIso('datetime', text, at(place)), fmt);
const iso = (text: string, place: string) => toIso(parseIso('datetime', text, at(place)));

describe('the ISO form', () => {
  test('ends in Z for the zone UTC and for no zone at all, else in the offset', () => {
    expect(iso('1998-08-24', 'UTC')).toBe('1998-08-24T00:00:00Z');
    expect(toIso(fromMoment('datetime', 0, NO_ZONE))).toBe('1970-01-01T00:00:00Z');
    for (const name of ['Zulu', 'GMT', 'Etc/UTC'])
      expect(iso('1998-08-24', name)).toBe('1998-08-24T00:00:00+0000');
    expect(iso('1998-08-24', 'America/New_York')).toBe('1998-08-24T00:00:00-0400');
    expect(iso('1998-08-24', '-0330')).toBe('1998-08-24T00:00:00-0330');
  });

  test('cuts offsets to minutes, towards zero', () => {
    expect(iso('1880-01-01', 'America/New_York')).toBe('1880-01-01T00:00:00-0456');
    expect(iso('1830-01-01', 'Europe/Amsterdam')).toBe('1830-01-01T00:00:00+0017');
  });

  test('has years without leading zeros, with a sign, and of any length', () => {
    const year = (value: number) =>
      toIso(fromFields('datetime', { year: value, month: 6, day: 5 }, UTC_PLACE));
    expect([987, 7].map(year)).toEqual(['987-06-05T00:00:00Z', '7-06-05T00:00:00Z']);
    expect(toIso(fromMoment('datetime', -62_230_291_200, UTC_PLACE))).toBe('-2-01-01T00:00:00Z');
    expect(toIso(fromMoment('datetime', 10n ** 16n, UTC_PLACE))).toBe('316889355-01-25T17:46:40Z');
  });

  test('moments outside the calendar have an ISO form', () => {
    const far = fromMoment('datetime', 2n ** 63n - 1n, UTC_PLACE);
    expect(codeOf(() => toIso(far))).toBe('value_err');
    expect(codeOf(() => format(far, '%Y'))).toBe('value_err');
    expect(toClientText(far)).toBe('1970-01-01T00:00:00Z');
    expect(toClientText(inPlace(far, at('Asia/Tokyo')))).toBe('1970-01-01T00:00:00Z');
  });
});

describe('formats', () => {
  test('dates', () => {
    expect(of('1998-08-04T17:45:09', '%Y %y %C %m %d %e %j')).toBe('1998 98 19 08 04  4 216');
    expect(of('1998-08-04T07:05:09', '%c|%x|%X')).toBe('Tue Aug  4 07:05:09 1998|08/04/98|07:05:09');
    expect(of('1998-08-24', '%a %A %b %B %h %u %w')).toBe('Mon Monday Aug August Aug 1 1');
    expect(of('1998-08-23', '%u %w')).toBe('7 0');
  });

  test('times', () => {
    expect(of('1998-08-24T07:45:09', '%H %I %M %S %p')).toBe('07 07 45 09 AM');
    expect(of('1998-08-04T07:45:09', '%k|%l|%P|%s')).toBe(' 7| 7|am|902216709');
    const hours = ['00', '01', '11', '12', '13', '23'].map((hour) => of(`1998-08-24T${hour}`, '%I %p'));
    expect(hours).toEqual(['12 AM', '01 AM', '11 AM', '12 PM', '01 PM', '11 PM']);
    expect(of('1998-08-24T17:45:09', '%D|%F|%R|%T|%r')).toBe(
      '08/24/98|1998-08-24|17:45|17:45:09|05:45:09 PM',
    );
  });

  test('weeks', () => {
    const weeks = ['2021-01-03', '2020-12-31', '2018-12-31', '2016-01-01'].map((day) =>
      of(day, '%U %W %V %G %g'),
    );
    expect(weeks).toEqual(['01 00 53 2020 20', '52 52 53 2020 20', '52 53 01 2019 19', '00 00 53 2015 15']);
  });

  test('zones', () => {
    expect(of('1998-01-24', '%z %Z', 'Europe/Amsterdam')).toBe('+0100 CET');
    expect(of('1998-01-24', '%z %Z')).toBe('+0000 UTC');
    expect(of('2020-09-01', '%z %Z', 'America/New_York')).toBe('-0400 EDT');
    expect(of('2020-02-01', '%z %Z', 'America/Sao_Paulo')).toBe('-0300 -03');
    // Fixed offsets have no name of their own.
    expect(['+0545', '-03', '+00'].map((offset) => of('1998-01-24', '%Z', offset))).toEqual([
      'UTC',
      'UTC',
      'GMT',
    ]);
  });

  test('early years are not padded', () => {
    expect(format(fromFields('datetime', { year: 7, month: 6, day: 5 }, UTC_PLACE), '%Y %C %y %F %G')).toBe(
      '7 0 07 7-06-05 7',
    );
    expect(format(fromMoment('datetime', -62_198_755_200, UTC_PLACE), '%Y %C %y %5Y %_5Y %F')).toBe(
      '-1 -1 99 -0001    -1 -1-01-01',
    );
  });

  test('flags and widths', () => {
    const flagged = (fmt: string) => of('1998-08-04T07:45:09', fmt);
    expect(flagged('%-d|%_m|%^a|%-H')).toBe('4| 8|TUE|7');
    expect(flagged('%0e|%-e|%_d|%-j|%0k')).toBe('04|4| 4|216|07');
    expect(flagged('%5d|%_5d|%-5d|%05d|%3k')).toBe('00004|    4|    4|00004|  7');
    expect(flagged('%5a|%05a|%^5a|%12F|%^c')).toBe('  Tue|00Tue|  TUE|  1998-08-04|TUE AUG  4 07:45:09 1998');
    expect(flagged('%#a|%#B|%#p|%#Z|%^P|%#c')).toBe('TUE|AUGUST|am|utc|am|Tue Aug  4 07:45:09 1998');
    expect(flagged('%12s|%012s|%-z|%_z|%3%|%_-5d')).toBe('   902216709|000902216709|+0|+   0|  %|    4');
  });

  test('everything else is copied', () => {
    const copied = (fmt: string) => of('1970-01-01', fmt);
    expect(copied('[%n|%t|%%]')).toBe('[\n|\t|%]');
    expect(copied('%Q %! x')).toBe('%Q %! x');
    expect(copied('%-Q %5Q %E %:z')).toBe('%-Q %5Q %E %:z');
    expect([copied('5%'), copied('%-'), copied('%5'), copied('%%Y')]).toEqual(['5%', '%-', '%5', '%Y']);
    expect(copied('jaar %Y • é 😀')).toBe('jaar 1970 • é 😀');
  });

  test('lengths are limited, in bytes', () => {
    const epoch = fromMoment('timeval', 0, UTC_PLACE);
    for (const fmt of ['', 'Y', 'x'.repeat(80), 'é'.repeat(40), 'x'.repeat(5_000_000)]) {
      expect(codeOf(() => format(epoch, fmt))).toBe('value_err');
    }
    expect(format(epoch, 'x'.repeat(79))).toHaveLength(79);
    expect(format(epoch, `%c%c%c%c${'x'.repeat(23)}`)).toHaveLength(119);
    expect(codeOf(() => format(epoch, `%c%c%c%c${'x'.repeat(24)}`))).toBe('value_err');
    expect(codeOf(() => format(epoch, `%c%c%c%c${'x'.repeat(21)}é%%`))).toBe('value_err');
    expect(codeOf(() => format(epoch, '%999999999999999d'))).toBe('value_err');
    expect(format(epoch, '%119d')).toHaveLength(119);
  });
});
