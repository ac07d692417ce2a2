import { describe, expect, test } from '@jest/globals';
import { Harness, NOW_MS } from '../testing/harness.js';
import { Float } from '../value/scalars.js';

const harness = new Harness();
const run = harness.run.bind(harness);
const error = harness.error.bind(harness);

describe('the clock', () => {
  test('now has a fraction, dates have none', () => {
    expect(run('[now(), timeval(), datetime(), datetime().zone()]')).toEqual([
      new Float(NOW_MS / 1000),
      Math.floor(NOW_MS / 1000),
      '2024-05-06T07:08:09Z',
      'UTC',
    ]);
  });
});

describe('constructors', () => {
  test('take numbers, dates, texts and fields', () => {
    expect(
      run(`[
        datetime(0), datetime(-1.9), timeval(datetime(7)), datetime('2020-02-29'),
        datetime('29.02.2020 7', '%d.%m.%Y %H'), datetime(2020, 2, 29), datetime(2020, 2, 29, 7, 8, 9, '+0530'),
        datetime(2020, 2, 29, 'Asia/Tokyo'), datetime(2020, 2, 29, 7, '-03'), datetime(2020, 2, 29, 7, 8, 'UTC')
      ]`),
    ).toEqual([
      '1970-01-01T00:00:00Z',
      '1969-12-31T23:59:59Z',
      7,
      '2020-02-29T00:00:00Z',
      '2020-02-29T07:00:00Z',
      '2020-02-29T00:00:00Z',
      '2020-02-29T07:08:09+0530',
      '2020-02-29T00:00:00+0900',
      '2020-02-29T07:00:00-0300',
      '2020-02-29T07:08:00Z',
    ]);
  });

  test('check each argument before the next is evaluated', () => {
    expect(error("datetime('2020', raise('inside'))")).toBe('err');
    expect(error("datetime(2020, raise('never'))")).toBe('type_err');
    expect(error("datetime(0, raise('never'), 1)")).toBe('value_err');
    expect(error("datetime(2020, 13, raise('never'))")).toBe('value_err');
    expect(error("datetime(2020, 1, 1, 24, raise('never'))")).toBe('value_err');
    expect(error("datetime(2020, 1, 1, 'UTC', raise('never'))")).toBe('type_err');
    expect(error("datetime('2020', 1, 1)")).toBe('type_err');
    expect(error('datetime(2020, 1, 1, 1.0)')).toBe('type_err');
    expect(error('datetime(2020, 1, 1, 1, 1, 1, 1)')).toBe('type_err');
    expect(error("datetime(2020, 1, 1, 1, 1, 1, 'UTC', 1)")).toBe('num_arguments_err');
    expect(error('timeval(nil)')).toBe('type_err');
    expect(error('timeval(true)')).toBe('type_err');
  });

  test('refuse what does not exist (decision 4)', () => {
    const bad = [
      '2020, 2, 30',
      '2021, 2, 29',
      '2020, 1, 1, 25',
      '2020, 1, 1, 1, 1, 60',
      '10000, 1, 1',
      '0, 1, 1',
    ];
    for (const args of bad) expect(error(`datetime(${args})`)).toBe('value_err');
    expect(error("datetime('2021-02-29')")).toBe('value_err');
    expect(error("datetime('30 02 2020', '%d %m %Y')")).toBe('value_err');
    expect(error('datetime(nan)')).toBe('overflow_err');
    expect(error('datetime(1.0e+19)')).toBe('overflow_err');
  });

  test('accept any moment of int64; one outside the calendar has no date', () => {
    expect(run('[datetime(INT_MAX), timeval(INT_MIN), datetime(INT_MAX) > datetime(0)]')).toEqual([
      '1970-01-01T00:00:00Z',
      -(2n ** 63n),
      true,
    ]);
    expect(error('str(datetime(INT_MAX))')).toBe('value_err');
    expect(error("datetime(INT_MAX).extract('year')")).toBe('value_err');
    expect(error("datetime(INT_MIN).move('days', 1)")).toBe('value_err');
    expect(error('datetime(INT_MAX).yday()')).toBe('overflow_err');
    expect(run("datetime(INT_MAX).move('seconds', -INT_MAX)")).toBe('1970-01-01T00:00:00Z');
  });

  test('use the time zone of the scope', () => {
    const own = new Harness();
    own.run("set_time_zone('//stuff', 'Asia/Tokyo')", { scope: 'thingsdb' });
    expect(
      own.run("[datetime(0), datetime(1970, 1, 1), datetime('1970').zone(), datetime(1970, 1, 1, 'UTC')]"),
    ).toEqual(['1970-01-01T09:00:00+0900', '1970-01-01T00:00:00+0900', 'Asia/Tokyo', '1970-01-01T00:00:00Z']);
  });
});

describe('local time (decision 3)', () => {
  test('knows summer time', () => {
    expect(
      run("[datetime(2020, 7, 1, 12, 'Europe/Amsterdam'), datetime(2020, 1, 1, 12, 'Europe/Amsterdam')]"),
    ).toEqual(['2020-07-01T12:00:00+0200', '2020-01-01T12:00:00+0100']);
  });

  test('moves forward in a gap, and takes the first of two', () => {
    expect(run("datetime(2020, 3, 29, 2, 30, 'Europe/Amsterdam')")).toBe('2020-03-29T03:30:00+0200');
    expect(run("datetime(2020, 10, 25, 2, 30, 'Europe/Amsterdam')")).toBe('2020-10-25T02:30:00+0200');
    const second = "datetime(1603589400).to('Europe/Amsterdam')";
    expect(run(`[${second}, ${second}.move('days', 0), ${second}.replace({minute: 0})]`)).toEqual([
      '2020-10-25T02:30:00+0100',
      '2020-10-25T02:30:00+0100',
      '2020-10-25T02:00:00+0100',
    ]);
  });
});

describe('methods', () => {
  test('extract fields', () => {
    expect(run("datetime(2020, 2, 29, 7, 8, 9, '-0330').extract()")).toEqual({
      year: 2020,
      month: 2,
      day: 29,
      hour: 7,
      minute: 8,
      second: 9,
      gmt_offset: -12600,
    });
    expect(run("timeval(0).extract('year')")).toBe(1970);
    expect(error("datetime(0).extract('Year')")).toBe('value_err');
    expect(error('datetime(0).extract(1)')).toBe('type_err');
  });

  test('give things that can be stored', () => {
    expect(run('.t = datetime(0).extract(); .t.year')).toBe(1970);
  });

  test('move clamps to the last day of a month (decision 4)', () => {
    expect(
      run(`[datetime(2020, 1, 31).move('months', 1), datetime(2020, 2, 29).move('years', 1),
        datetime(2020, 3, 31).move('months', -1), timeval(0).move('weeks', 1)]`),
    ).toEqual(['2020-02-29T00:00:00Z', '2021-02-28T00:00:00Z', '2020-02-29T00:00:00Z', 604800]);
  });

  test('move checks the unit first', () => {
    expect(error("datetime(0).move('day', raise('never'))")).toBe('value_err');
    expect(error("datetime(0).move('days', 1.0)")).toBe('type_err');
    expect(error("datetime(0).move('hours', INT_MAX)")).toBe('overflow_err');
    expect(error("datetime(0).move('weeks', 2147483647)")).toBe('overflow_err');
  });

  test('replace takes the fields of a thing', () => {
    expect(run('datetime(2020, 2, 29).replace({year: 2024, hour: 5, name: nil})')).toBe(
      '2024-02-29T05:00:00Z',
    );
    expect(run('.f = {day: 1}; datetime(2020, 2, 29).replace(.f)')).toBe('2020-02-01T00:00:00Z');
    expect(error('datetime(2020, 2, 29).replace({year: 2021})')).toBe('value_err');
    expect(error('datetime(0).replace({hour: nil})')).toBe('type_err');
    expect(error('datetime(0).replace({hour: true})')).toBe('type_err');
    expect(error('datetime(0).replace({hour: 24})')).toBe('value_err');
  });

  test('go to other zones and back', () => {
    expect(run("d = datetime(0).to('+0545'); [d, d.zone(), d.to('UTC').zone(), d == datetime(0)]")).toEqual([
      '1970-01-01T05:45:00+0545',
      null,
      'UTC',
      true,
    ]);
    expect(error("datetime(0).to('utc')")).toBe('value_err');
    expect(error('datetime(0).to(nil)')).toBe('type_err');
  });

  test('count days and weeks', () => {
    expect(run('d = datetime(1998, 12, 31, 20); [d.week(), d.weekday(), d.yday()]')).toEqual([52, 4, 364]);
  });

  test('format', () => {
    expect(run("datetime(2020, 2, 29).to('America/New_York').format('%d.%m.%Y %H:%M %Z')")).toBe(
      '28.02.2020 19:00 EST',
    );
    expect(error("datetime(0).format('Y')")).toBe('value_err');
  });
});
