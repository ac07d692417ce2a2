import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SECONDS_PER_ERA } from './calendar.js';
import { INTERESTING_MOMENTS } from './testing.js';
import { UTC, type Zone, zoneByName } from './zone.js';
import { ABBREVIATIONS } from './zone-abbreviations.generated.js';
import { ZONE_NAMES } from './zone-names.js';

const HOUR = 3600;

function zone(name: string): Zone {
  const found = zoneByName(name);
  if (found === undefined) throw new Error(`no zone ${name}`);
  return found;
}

/** Seconds since 1970 of a UTC time, or of a local one as if it were UTC. */
function seconds(text: string): number {
  return Date.parse(`${text}Z`) / 1000;
}

function show(moment: number | bigint): string {
  return new Date(Number(moment) * 1000).toISOString().slice(0, 19);
}

/** The moment of a local time, as UTC text. */
function utcOfLocal(name: string, local: string, preferredOffset?: number): string {
  return show(zone(name).momentOfLocal(seconds(local), preferredOffset));
}

/** The offset by the fields that Intl shows, a way that the tables do not use. */
function offsetByIntl(name: string, moment: number): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: name,
    calendar: 'iso8601',
    hourCycle: 'h23',
    ...{
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    },
  });
  const parts = new Map(format.formatToParts(moment * 1000).map((part) => [part.type, Number(part.value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? Number.NaN;
  const local = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return local / 1000 - moment;
}

describe('the names', () => {
  test('are 597, UTC and Europe/Amsterdam first', () => {
    expect(ZONE_NAMES).toHaveLength(597);
    expect(new Set(ZONE_NAMES).size).toBe(597);
    expect(ZONE_NAMES.slice(0, 3)).toEqual(['UTC', 'Europe/Amsterdam', 'Africa/Abidjan']);
  });

  test('have the places that data of ThingsDB name them by: zones, then older aliases, then the newest as they came', () => {
    const pacific = ZONE_NAMES.indexOf('US/Pacific');
    const zulu = ZONE_NAMES.indexOf('Zulu');
    const zones = ZONE_NAMES.slice(2, pacific + 1);
    const aliases = ZONE_NAMES.slice(pacific + 1, zulu + 1);
    expect(zones).toEqual([...zones].sort());
    expect(aliases).toEqual([...aliases].sort());
    expect([aliases[0], aliases[1], aliases.at(-1)]).toEqual(['Africa/Asmera', 'Africa/Timbuktu', 'Zulu']);
    expect(ZONE_NAMES[7]).toBe('Africa/Bamako');
    expect(ZONE_NAMES.slice(zulu + 1)).toEqual([
      'America/Ciudad_Juarez',
      'Europe/Kyiv',
      'Pacific/Kanton',
      'America/Coyhaique',
    ]);
  });

  test('are exact', () => {
    for (const name of [
      'UTC',
      'Europe/Amsterdam',
      'Europe/Kyiv',
      'Europe/Kiev',
      'Etc/GMT+5',
      'EST5EDT',
      'Zulu',
    ]) {
      expect(zoneByName(name)?.name).toBe(name);
    }
    for (const name of [
      'utc',
      'Europe',
      '+01',
      '',
      ' UTC',
      'Z',
      'europe/amsterdam',
      'Factory',
      'constructor',
    ]) {
      expect(zoneByName(name)).toBeUndefined();
    }
  });

  test('are all known to this Node.js, and all have abbreviations', () => {
    const named = new Set(ABBREVIATIONS.flatMap((line) => line.slice(0, line.indexOf('=')).split(' ')));
    for (const name of ZONE_NAMES) {
      expect(zone(name).offsetAt(0)).toBe(offsetByIntl(name, 0));
      expect(named).toContain(name);
    }
  });
});

describe('offsets', () => {
  test('change at the second', () => {
    const cases: [name: string, change: string, before: number, after: number][] = [
      ['Europe/Amsterdam', '2020-03-29T01:00:00', 1, 2],
      ['Europe/Amsterdam', '2020-10-25T01:00:00', 2, 1],
      ['America/New_York', '2020-03-08T07:00:00', -5, -4],
      ['America/New_York', '2020-11-01T06:00:00', -4, -5],
      ['Australia/Lord_Howe', '2020-10-03T15:30:00', 10.5, 11],
      ['Africa/Casablanca', '2019-05-05T02:00:00', 1, 0],
      ['Africa/Casablanca', '2019-06-09T02:00:00', 0, 1],
      ['Asia/Kolkata', '1945-10-14T17:30:00', 6.5, 5.5],
      ['Pacific/Apia', '2011-12-30T10:00:00', -10, 14],
      ['America/Recife', '2000-10-15T02:00:00', -2, -3],
    ];
    for (const [name, change, before, after] of cases) {
      expect(zone(name).offsetAt(seconds(change) - 1)).toBe(before * HOUR);
      expect(zone(name).offsetAt(seconds(change))).toBe(after * HOUR);
    }
  });

  test('know seconds, as they were before standard time', () => {
    expect(zone('America/New_York').offsetAt(seconds('1883-11-18T16:59:59'))).toBe(-17_762);
    expect(zone('America/New_York').offsetAt(seconds('1883-11-18T17:00:00'))).toBe(-18_000);
    expect(zone('America/New_York').offsetAt(-62_135_596_800)).toBe(-17_762);
  });

  test('agree with Intl in every zone, also when a table has outgrown its bound', () => {
    const name = fc.constantFrom(...ZONE_NAMES, 'Europe/Amsterdam', 'Africa/Casablanca', 'Asia/Gaza');
    const moment = fc.oneof(
      fc.integer({ min: seconds('1840-01-01T00:00:00'), max: seconds('2100-01-01T00:00:00') }),
      fc.integer({ min: seconds('1800-01-01T00:00:00'), max: seconds('9999-01-01T00:00:00') }),
    );
    fc.assert(
      fc.property(name, moment, (n, m) => expect(zone(n).offsetAt(m)).toBe(offsetByIntl(n, m))),
      { numRuns: 1500 },
    );
  });

  test('a table that is dropped for its size is filled anew with the same', () => {
    const years = Array.from({ length: 400 }, (_, i) => seconds('2000-07-01T00:00:00') + i * 31_556_952);
    const once = years.map((moment) => zone('Europe/Paris').offsetAt(moment));
    expect(years.map((moment) => zone('Europe/Paris').offsetAt(moment))).toEqual(once);
    expect(new Set(once)).toEqual(new Set([2 * HOUR]));
  });

  test('follow the rules for ever, by the calendar of 400 years', () => {
    const name = fc.constantFrom(
      'Europe/Amsterdam',
      'America/New_York',
      'Australia/Lord_Howe',
      'America/Nuuk',
    );
    const era = BigInt(SECONDS_PER_ERA);
    fc.assert(
      fc.property(
        name,
        fc.integer({ min: seconds('2100-01-01T00:00:00'), max: seconds('2500-01-01T00:00:00') }),
        fc.bigInt({ min: 1n, max: 5_000_000n }),
        (n, moment, eras) => {
          const later = BigInt(moment) + eras * era;
          const small = Number(later);
          const far = Number.isSafeInteger(small) ? small : later;
          expect(zone(n).offsetAt(far)).toBe(zone(n).offsetAt(moment));
        },
      ),
    );
  });

  test('exist for every moment of 64 bits', () => {
    for (const moment of [-(2n ** 63n), 2n ** 63n - 1n, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
      expect(zone('Asia/Kolkata').offsetAt(moment)).toBe(moment > 0 ? 5.5 * HOUR : 21_208);
      expect(UTC.offsetAt(moment)).toBe(0);
    }
  });
});

describe('local time', () => {
  test('local time in a gap moves forward by the gap', () => {
    const cases: [name: string, local: string, utc: string][] = [
      ['Europe/Amsterdam', '2020-03-29T02:00:00', '2020-03-29T01:00:00'],
      ['Europe/Amsterdam', '2020-03-29T02:30:00', '2020-03-29T01:30:00'],
      ['Europe/Amsterdam', '2020-03-29T02:59:59', '2020-03-29T01:59:59'],
      ['Europe/Amsterdam', '2020-03-29T03:00:00', '2020-03-29T01:00:00'],
      ['America/New_York', '2020-03-08T02:30:00', '2020-03-08T07:30:00'],
      // Half an hour: 02:15 is shown as 02:45.
      ['Australia/Lord_Howe', '2020-10-04T02:15:00', '2020-10-03T15:45:00'],
      ['Africa/Casablanca', '2019-06-09T02:30:00', '2019-06-09T02:30:00'],
      // At midnight: the day begins at 01:00.
      ['America/Sao_Paulo', '2018-11-04T00:00:00', '2018-11-04T03:00:00'],
      // A whole day that Samoa left out.
      ['Pacific/Apia', '2011-12-30T12:00:00', '2011-12-30T22:00:00'],
    ];
    for (const [name, local, utc] of cases) expect(utcOfLocal(name, local)).toBe(utc);
  });

  test('local time that exists twice means the first, or the preferred one', () => {
    const cases: [name: string, local: string, first: string, second: string, secondOffset: number][] = [
      ['Europe/Amsterdam', '2020-10-25T02:30:00', '2020-10-25T00:30:00', '2020-10-25T01:30:00', 1],
      ['America/New_York', '2020-11-01T01:00:00', '2020-11-01T05:00:00', '2020-11-01T06:00:00', -5],
      ['Australia/Lord_Howe', '2020-04-05T01:45:00', '2020-04-04T14:45:00', '2020-04-04T15:15:00', 10.5],
      ['Africa/Casablanca', '2019-05-05T02:59:59', '2019-05-05T01:59:59', '2019-05-05T02:59:59', 0],
      ['Asia/Kolkata', '1945-10-14T23:30:00', '1945-10-14T17:00:00', '1945-10-14T18:00:00', 5.5],
    ];
    for (const [name, local, first, second, offset] of cases) {
      expect(utcOfLocal(name, local)).toBe(first);
      expect(utcOfLocal(name, local, offset * HOUR)).toBe(second);
      // An offset that is none of the two does not count.
      expect(utcOfLocal(name, local, 7 * HOUR)).toBe(first);
    }
  });

  test('outside gaps and overlaps has one moment, whatever is preferred', () => {
    expect(utcOfLocal('Europe/Amsterdam', '2020-07-01T12:00:00')).toBe('2020-07-01T10:00:00');
    expect(utcOfLocal('Europe/Amsterdam', '2020-07-01T12:00:00', HOUR)).toBe('2020-07-01T10:00:00');
    expect(utcOfLocal('Europe/Amsterdam', '2020-10-25T03:00:00', 2 * HOUR)).toBe('2020-10-25T02:00:00');
  });

  test('leads back to its moment when the offset is preferred', () => {
    const name = fc.constantFrom(...ZONE_NAMES);
    const moment = fc.oneof(
      fc.integer({ min: -5_000_000_000, max: 5_000_000_000 }),
      fc.integer({ min: -1_000_000_000_000, max: 1_000_000_000_000 }),
      fc.constantFrom(...INTERESTING_MOMENTS),
    );
    fc.assert(
      fc.property(name, moment, (n, m) => {
        const offset = zone(n).offsetAt(m);
        expect(zone(n).momentOfLocal(m + offset, offset)).toBe(m);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('abbreviations', () => {
  test('change with the clock', () => {
    const cases: [name: string, moment: string, letters: string][] = [
      ['Europe/Amsterdam', '2020-01-24T00:00:00', 'CET'],
      ['Europe/Amsterdam', '2020-07-24T00:00:00', 'CEST'],
      ['America/New_York', '2020-09-01T00:00:00', 'EDT'],
      ['America/New_York', '2020-02-01T00:00:00', 'EST'],
      ['America/New_York', '1850-01-01T00:00:00', 'LMT'],
      ['America/New_York', '1945-08-14T22:59:59', 'EWT'],
      ['America/New_York', '1945-08-14T23:00:00', 'EPT'],
      ['Europe/London', '1970-01-01T00:00:00', 'BST'],
      ['Asia/Kolkata', '2020-01-01T00:00:00', 'IST'],
      ['America/Sao_Paulo', '2020-01-01T00:00:00', '-03'],
      ['Asia/Kathmandu', '2020-01-01T00:00:00', '+0545'],
      ['Australia/Lord_Howe', '2020-01-01T00:00:00', '+11'],
      ['Africa/Casablanca', '2019-05-20T00:00:00', '+00'],
      ['Zulu', '2020-01-01T00:00:00', 'UTC'],
      ['GMT', '2020-01-01T00:00:00', 'GMT'],
    ];
    for (const [name, moment, letters] of cases) {
      expect([name, moment, zone(name).abbreviationAt(seconds(moment))]).toEqual([name, moment, letters]);
    }
  });

  test('abbreviations of the far future are those of the rules', () => {
    expect(zone('Europe/Amsterdam').abbreviationAt(seconds('9999-07-01T00:00:00'))).toBe('CEST');
    expect(zone('Europe/Amsterdam').abbreviationAt(60_000_000_000_000_000n)).toMatch(/^CES?T$/);
  });
});
