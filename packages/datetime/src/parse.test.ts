import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fromMoment } from './construct.js';
import { DateTimeError } from './error.js';
import { format, toIso } from './format.js';
import { parseFormat, parseIso } from './parse.js';
import { type Place, UTC_PLACE } from './place.js';
import { at, codeOf } from './testing.js';

const ofIso = (text: string, place: Place = UTC_PLACE) => toIso(parseIso('datetime', text, place));
const ofFormat = (text: string, fmt: string, place: Place = UTC_PLACE) =>
  toIso(parseFormat('datetime', text, fmt, place));

function expectValueErrors(texts: readonly string[], read: (text: string) => unknown): void {
  for (const text of texts) expect([text, codeOf(() => read(text))]).toEqual([text, 'value_err']);
}

describe('texts without a format', () => {
  test('have a form for each length', () => {
    expect(ofIso('1998')).toBe('1998-01-01T00:00:00Z');
    expect(ofIso('1998-08')).toBe('1998-08-01T00:00:00Z');
    expect(ofIso('1998-08-24')).toBe('1998-08-24T00:00:00Z');
    for (const t of ['T', ' ']) {
      expect(ofIso(`1998-08-24${t}17`)).toBe('1998-08-24T17:00:00Z');
      expect(ofIso(`1998-08-24${t}17:45`)).toBe('1998-08-24T17:45:00Z');
      expect(ofIso(`1998-08-24${t}17:45:09`)).toBe('1998-08-24T17:45:09Z');
      expect(ofIso(`1998-08-24${t}17:45:09Z`)).toBe('1998-08-24T17:45:09Z');
      expect(ofIso(`1998-08-24${t}17:45:09-11`)).toBe('1998-08-24T17:45:09-1100');
      expect(ofIso(`1998-08-24${t}17:45:09+0545`)).toBe('1998-08-24T17:45:09+0545');
    }
  });

  test('are told by the default place, by UTC, or by the offset', () => {
    const amsterdam = at('Europe/Amsterdam');
    expect(ofIso('2020-07-01T12', amsterdam)).toBe('2020-07-01T12:00:00+0200');
    expect(ofIso('2020-03-29T02:30', amsterdam)).toBe('2020-03-29T03:30:00+0200');
    expect(parseIso('datetime', '1998-08-24T17:45:09Z', amsterdam).zone?.name).toBe('UTC');
    expect(parseIso('datetime', '1998-08-24T17:45:09+00', amsterdam).zone).toBeNull();
    expect(parseIso('timeval', '1998-08-24T17:45:09-0000', amsterdam)).toMatchObject({
      kind: 'timeval',
      zone: null,
      offsetMinutes: 0,
    });
    expect(ofIso('1998-08-24T17:45:09+12')).toBe('1998-08-24T17:45:09+1200');
  });

  test('may have spaces for digits', () => {
    expect(ofIso('1998- 8- 4T 7: 5: 9')).toBe('1998-08-04T07:05:09Z');
    expect(ofIso('   7')).toBe('7-01-01T00:00:00Z');
    expect(ofIso('0000')).toBe('0-01-01T00:00:00Z');
  });

  test('texts of any other form are value_err', () => {
    const bad = [
      ...[
        '',
        '98',
        'soon',
        '1998/08/24',
        '1998-8-24',
        '1998-08-24_17',
        '1998-08-24T17:45:9',
        '1998-08-24t17',
      ],
      ...[
        '1998-08-24T17:45:09.500Z',
        '1998-08-24T17:45:09z',
        '1998-08-24T17:45:09+1',
        '1998-08-24T17:45:09+01:00',
      ],
      ...[
        '1998-08-24T17:45:09+13',
        '1998-08-24T17:45:09-1201',
        '1998-08-24T17:45:09+0160',
        '1998-08-24T17:45:09 01',
      ],
      ...[
        '1998-13',
        '1998-00',
        '1998-08-32',
        '1998-08-00',
        '1998-08-24T24',
        '1998-08-24T17:60',
        '-998-08-24',
      ],
      ...['1998-08-24T17:45:62', '1998 08 24', '１９９８', 'x'.repeat(1_000_000)],
    ];
    expectValueErrors(bad, ofIso);
  });

  test('texts of dates and times that do not exist are value_err', () => {
    expectValueErrors(['1998-02-29', '1900-02-29', '1998-04-31T10'], ofIso);
    expect(ofIso('2000-02-29')).toBe('2000-02-29T00:00:00Z');
  });

  test('texts with second 60 or 61 run over into the next minute', () => {
    expect(ofIso('1998-08-24T23:59:60')).toBe('1998-08-25T00:00:00Z');
    expect(ofIso('1998-12-31T23:59:61Z')).toBe('1999-01-01T00:00:01Z');
    expect(ofIso('1998-08-24T23:59:60+0545')).toBe('1998-08-25T00:00:00+0545');
    expect(ofFormat('59 61', '%M %S')).toBe('1900-01-01T01:00:01Z');
  });

  test('read what toIso writes', () => {
    const place = fc.constantFrom(
      'UTC',
      'Europe/Amsterdam',
      'America/New_York',
      '+0545',
      '-03',
      'Australia/Lord_Howe',
    );
    fc.assert(
      // Years of four digits, and offsets of whole minutes.
      fc.property(place, fc.integer({ min: -1_000_000_000, max: 253_000_000_000 }), (name, moment) => {
        const time = fromMoment('datetime', moment, at(name));
        expect(parseIso('datetime', toIso(time), UTC_PLACE).moment).toBe(moment);
      }),
    );
  });
});

describe('texts with a format', () => {
  test('numbers', () => {
    expect(ofFormat('4/8/1998 7:5', '%d/%m/%Y %H:%M')).toBe('1998-08-04T07:05:00Z');
    expect(ofFormat('  4 8 1998', '%e %m %Y')).toBe('1998-08-04T00:00:00Z');
    expect(ofFormat('08/24/98', '%x')).toBe('1998-08-24T00:00:00Z');
    expect(ofFormat('17:45:09', '%X')).toBe('1900-01-01T17:45:09Z');
    expect(ofFormat('1998-8-24 5:45:09 pm', '%F %r')).toBe('1998-08-24T17:45:09Z');
    expect(ofFormat('Mon Aug 24 17:45:09 1998', '%c')).toBe('1998-08-24T17:45:09Z');
    expect(ofFormat('17:45', '%R')).toBe('1900-01-01T17:45:00Z');
    expect(ofFormat('98 1998 34 x', '%g %G %V x')).toBe('1900-01-01T00:00:00Z');
  });

  test('a number stops where one more digit would exceed its maximum', () => {
    expect(ofFormat('45', '%d%m')).toBe('1900-05-04T00:00:00Z');
    expect(ofFormat('24081998', '%d%m%Y')).toBe('1998-08-24T00:00:00Z');
    expect(ofFormat('31121998', '%d%m%Y')).toBe('1998-12-31T00:00:00Z');
    expect(ofFormat('199845', '%Y%j')).toBe('1998-02-14T00:00:00Z');
    expect(ofFormat('725', '%H%M')).toBe('1900-01-01T07:25:00Z');
    expectValueErrors(['11998', '-998', '+998', '', 'x'], (text) => ofFormat(text, '%Y'));
    // 32 is read as a whole and then found too large.
    expectValueErrors(['32', '0', '00'], (text) => ofFormat(text, '%d'));
  });

  test('years and centuries', () => {
    expect(['00', '68', '69', '99'].map((text) => ofFormat(text, '%y').slice(0, 4))).toEqual([
      '2000',
      '2068',
      '1969',
      '1999',
    ]);
    expect(ofFormat('17 89', '%C %y')).toBe('1789-01-01T00:00:00Z');
    expect(ofFormat('89 17', '%y %C')).toBe('1789-01-01T00:00:00Z');
    expect(ofFormat('17', '%C')).toBe('1700-01-01T00:00:00Z');
    expect(ofFormat('17 1998', '%C %Y')).toBe('1998-01-01T00:00:00Z');
    expect(ofFormat('1998 05', '%Y %y')).toBe('2005-01-01T00:00:00Z');
  });

  test('names, in full or by three letters, in any case', () => {
    for (const text of ['24 AUG 1998', '24 august 1998', '24 Aug 1998']) {
      for (const fmt of ['%d %b %Y', '%d %B %Y', '%d %h %Y'])
        expect(ofFormat(text, fmt)).toBe('1998-08-24T00:00:00Z');
    }
    expect(ofFormat('Sunday 24 08 1998', '%A %d %m %Y')).toBe('1998-08-24T00:00:00Z');
    expect(ofFormat('mon 24 08 1998', '%A %d %m %Y')).toBe('1998-08-24T00:00:00Z');
    expectValueErrors(['Funday 1998', 'Su 1998', 'Sund 1998'], (text) => ofFormat(text, '%A %Y'));
  });

  test('hours of half a day', () => {
    const texts = ['12:30 AM', '01:30 am', '12:30 PM', '11:30 pm'];
    expect(texts.map((text) => ofFormat(text, '%I:%M %p').slice(11, 13))).toEqual(['00', '01', '12', '23']);
    expect(ofFormat('pm 1', '%p %l')).toBe('1900-01-01T13:00:00Z');
    expect(ofFormat('pm 1', '%p %k')).toBe('1900-01-01T01:00:00Z');
    expectValueErrors(['0 am', '13 am', '1 xm'], (text) => ofFormat(text, '%I %p'));
  });

  test('days of the year and of the week fill in what was not given', () => {
    expect(ofFormat('1998 236', '%Y %j')).toBe('1998-08-24T00:00:00Z');
    expect(ofFormat('236 1998 Tue', '%j %Y %a')).toBe('1998-08-24T00:00:00Z');
    expect(ofFormat('2000 366', '%Y %j')).toBe('2000-12-31T00:00:00Z');
    expect(ofFormat('1998 12 236', '%Y %m %j')).toBe('1998-12-24T00:00:00Z');
    expect(ofFormat('1998 5 236', '%Y %d %j')).toBe('1998-08-05T00:00:00Z');
    expect(ofFormat('1998 1 2 236', '%Y %m %d %j')).toBe('1998-01-02T00:00:00Z');
    expect(ofFormat('1998 34 1', '%Y %U %w')).toBe('1998-08-24T00:00:00Z');
    expect(ofFormat('1998 34 1', '%Y %W %u')).toBe('1998-08-24T00:00:00Z');
    expect(ofFormat('1998 34 7', '%Y %W %u')).toBe('1998-08-30T00:00:00Z');
    expect(ofFormat('1998 34', '%Y %U')).toBe('1998-01-01T00:00:00Z');
    expect(ofFormat('1998 3', '%Y %w')).toBe('1998-01-01T00:00:00Z');
  });

  test('days that do not exist are value_err', () => {
    expectValueErrors(['1998 366', '1900 366'], (text) => ofFormat(text, '%Y %j'));
    expectValueErrors(['29 02 1998', '31 04 1998'], (text) => ofFormat(text, '%d %m %Y'));
    // Monday of week 0 is in 1997, Saturday of week 53 in 1999.
    expectValueErrors(['1998 0 1', '1998 53 6'], (text) => ofFormat(text, '%Y %U %w'));
    expectValueErrors(['62'], (text) => ofFormat(text, '%S'));
  });

  test('seconds since the epoch set everything', () => {
    expect(ofFormat('951868799', '%s')).toBe('2000-02-29T23:59:59Z');
    expect(ofFormat('951868799', '%s', at('Asia/Tokyo'))).toBe('2000-03-01T08:59:59+0900');
    expect(ofFormat('0 +0130', '%s %z')).toBe('1970-01-01T01:30:00+0130');
    expect(ofFormat('1 pm 951868799', '%I %p %s')).toBe('2000-02-29T23:59:59Z');
    expect(ofFormat('951868799 2004', '%s %Y')).toBe('2004-02-29T23:59:59Z');
    // Both occurrences of half past two.
    const amsterdam = at('Europe/Amsterdam');
    expect(ofFormat('1603585800', '%s', amsterdam)).toBe('2020-10-25T02:30:00+0200');
    expect(ofFormat('1603589400', '%s', amsterdam)).toBe('2020-10-25T02:30:00+0100');
    expectValueErrors(['67768036191676800', '9223372036854775808', '-1', '9'.repeat(119)], (text) =>
      ofFormat(text, '%s'),
    );
  });

  test('white space and literal text', () => {
    expect(ofFormat('24 \t 08\n1998', '%d %m %Y')).toBe('1998-08-24T00:00:00Z');
    expect(ofFormat('24081998', '%d %m %Y')).toBe('1998-08-24T00:00:00Z');
    expect(ofFormat('24 \v\f\r\n08', '%d%n%m')).toBe('1900-08-24T00:00:00Z');
    expect(ofFormat('on 24-08-1998!', 'on %d-%m-%Y!')).toBe('1998-08-24T00:00:00Z');
    expect(ofFormat('100% 1998', '100%% %Y')).toBe('1998-01-01T00:00:00Z');
    expect(ofFormat('é😀1998', 'é😀%Y')).toBe('1998-01-01T00:00:00Z');
    expect(ofFormat('xy', 'xy')).toBe('1900-01-01T00:00:00Z');
    expectValueErrors(['24-08-1998 x', '24-08', '24\u00a0-08-1998'], (text) => ofFormat(text, '%d-%m-%Y'));
  });

  test('the last character of the format chooses the place', () => {
    expect(ofFormat('24-08-1998 +0530', '%d-%m-%Y %z')).toBe('1998-08-24T00:00:00+0530');
    expect(ofFormat('24-08-1998 -03', '%d-%m-%Y %z')).toBe('1998-08-24T00:00:00-0300');
    expect(ofFormat('+0530 24-08-1998', '%z %d-%m-%Y')).toBe('1998-08-24T00:00:00Z');
    expect(ofFormat('+1400 24-08-1998', '%z %d-%m-%Y', at('Asia/Tokyo'))).toBe('1998-08-24T00:00:00+0900');
    expect(ofFormat('24-08-1998Z', '%d-%m-%YZ', at('Asia/Tokyo'))).toBe('1998-08-24T00:00:00Z');
    expect(ofFormat('24-08-1998 CEST', '%d-%m-%Y %Z', at('Asia/Tokyo'))).toBe('1998-08-24T00:00:00Z');
    expect(ofFormat('CEST 24-08-1998', '%Z %d-%m-%Y', at('Asia/Tokyo'))).toBe('1998-08-24T00:00:00+0900');
    const bad = ['24-08-1998 +05:30', '24-08-1998 +13', '24-08-1998 Z', '24-08-1998', '24-08-1998 +5'];
    expectValueErrors(bad, (text) => ofFormat(text, '%d-%m-%Y %z'));
  });

  test('unknown specifiers are value_err', () => {
    expectValueErrors(['%Q', '%Y%', '%-d', '%E', '%P', '%5Y', 'Y', ''], (fmt) => ofFormat('1998', fmt));
  });

  test('lengths are limited, in bytes', () => {
    expect(ofFormat(`1998${'x'.repeat(77)}`, `%Y${'x'.repeat(77)}`)).toBe('1998-01-01T00:00:00Z');
    expectValueErrors([`%Y${'x'.repeat(78)}`, `%Y${'é'.repeat(39)}`, '%Y'.repeat(1_000_000)], (fmt) =>
      ofFormat(`1998${fmt.slice(2)}`, fmt),
    );
    expect(ofFormat(`1998${' '.repeat(115)}`, '%Y %n')).toBe('1998-01-01T00:00:00Z');
    expectValueErrors([`1998${' '.repeat(116)}`, `1998${' '.repeat(5_000_000)}`], (text) =>
      ofFormat(text, '%Y %n'),
    );
  });

  test('fail with a DateTimeError, or give a date, whatever they are', () => {
    const piece = fc.oneof(
      fc.constantFrom(...'YyCmbBhdejaAwuUWHkIlpMSsgGVntzZDxFRTXrc%'),
      fc.string({ maxLength: 1 }),
    );
    const formats = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.map((p) => `%${p} `).join(''));
    const digits = fc.array(fc.constantFrom(...'0123456789 +-:/aAmMpPonjJ'), { maxLength: 40 });
    fc.assert(
      fc.property(formats, digits, (fmt, text) => {
        try {
          parseFormat('datetime', text.join(''), fmt, at('Europe/Amsterdam'));
        } catch (error) {
          expect(error).toBeInstanceOf(DateTimeError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('read what format writes', () => {
    const formats = fc.constantFrom(
      ...[
        '%Y-%m-%d %H:%M:%S',
        '%c',
        '%D %T %C',
        '%a %e %B %Y, %r',
        '%Y %j %X',
        '%Y %U %w %T',
        '%G %Y %W %u %T',
        '%s',
      ],
    );
    fc.assert(
      fc.property(formats, fc.integer({ min: 0, max: 4_000_000_000 }), (fmt, moment) => {
        const text = format(fromMoment('datetime', moment, UTC_PLACE), fmt);
        expect(parseFormat('datetime', text, fmt, UTC_PLACE).moment).toBe(moment);
      }),
    );
  });
});
