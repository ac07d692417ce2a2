/**
 * Reads a text by a format: `strptime` of POSIX with the names of the C locale, as chapter 02 §11.5 has it. A number
 * stops where one more digit could only exceed its maximum.
 */
import { daysFromCivil, isLeapYear, weekdayOf } from './calendar.js';
import { DateTimeError } from './error.js';
import { type DateFields, daysOfDate, localFields, secondOfDay, type TimeFields } from './fields.js';
import { type Int, toInt } from './int64.js';
import { COMPOSITES, MONTH_NAMES, WEEKDAY_NAMES } from './names.js';
import { momentOf, type Place } from './place.js';

/** As in C a text may name leap seconds; 60 and 61 run over into the next minute. */
const SECOND_MAX = 61;

/** The parts that were read so far. Parts that nobody gave are undefined. */
interface Reading {
  readonly text: string;
  readonly place: Place;
  /** In `text`. */
  position: number;
  year: number;
  /** With `%C`: the century and, with `%y`, the year in it. Undefined after `%Y`. */
  century: number | undefined;
  yearOfCentury: number | undefined;
  month: number | undefined;
  day: number | undefined;
  hour: number;
  /** True if the hour is one of `%I`, to which `%p` applies. */
  isTwelveHour: boolean;
  isAfternoon: boolean;
  minute: number;
  second: number;
  /** 1–366 */
  dayOfYear: number | undefined;
  weekday: number | undefined;
  week: { readonly number: number; readonly firstDay: 0 | 1 } | undefined;
  /** The offset of a moment read by `%s`, which tells the two occurrences of a local time apart. */
  offset: number | undefined;
}

/** The moment of the text in the place; `value_err` if the text does not fit the format or is no date. */
export function readMoment(text: string, format: string, place: Place): Int {
  const reading = emptyReading(text, place);
  readFormat(reading, format);
  if (reading.position !== text.length) throw mismatch();
  const second = secondOfDay(timeOf(reading));
  return momentOf(place, daysOfDate(dateOf(reading)), second, reading.offset);
}

function emptyReading(text: string, place: Place): Reading {
  return {
    text,
    place,
    position: 0,
    year: 1900,
    century: undefined,
    yearOfCentury: undefined,
    month: undefined,
    day: undefined,
    hour: 0,
    isTwelveHour: false,
    isAfternoon: false,
    minute: 0,
    second: 0,
    dayOfYear: undefined,
    weekday: undefined,
    week: undefined,
    offset: undefined,
  };
}

function readFormat(reading: Reading, format: string): void {
  for (let i = 0; i < format.length; i++) {
    const char = format.charAt(i);
    if (isSpace(char)) skipSpace(reading);
    else if (char === '%') readSpecifier(reading, format.charAt(++i));
    else readLiteral(reading, char);
  }
}

function readSpecifier(reading: Reading, specifier: string): void {
  const composite = COMPOSITES.get(specifier);
  if (composite !== undefined) {
    readFormat(reading, composite);
    return;
  }
  switch (specifier) {
    case 'Y':
      reading.year = readNumber(reading, 0, 9999, 4);
      reading.century = undefined;
      reading.yearOfCentury = undefined;
      return;
    case 'y':
      reading.yearOfCentury = readNumber(reading, 0, 99, 2);
      return;
    case 'C':
      reading.century = readNumber(reading, 0, 99, 2);
      return;
    case 'm':
      reading.month = readNumber(reading, 1, 12, 2);
      return;
    case 'b':
    case 'B':
    case 'h':
      reading.month = readName(reading, MONTH_NAMES) + 1;
      return;
    case 'd':
    case 'e':
      reading.day = readNumber(reading, 1, 31, 2);
      return;
    case 'j':
      reading.dayOfYear = readNumber(reading, 1, 366, 3);
      return;
    case 'a':
    case 'A':
      reading.weekday = readName(reading, WEEKDAY_NAMES);
      return;
    case 'w':
      reading.weekday = readNumber(reading, 0, 6, 1);
      return;
    case 'u':
      reading.weekday = readNumber(reading, 1, 7, 1) % 7;
      return;
    case 'U':
      reading.week = { number: readNumber(reading, 0, 53, 2), firstDay: 0 };
      return;
    case 'W':
      reading.week = { number: readNumber(reading, 0, 53, 2), firstDay: 1 };
      return;
    case 'H':
    case 'k':
      reading.hour = readNumber(reading, 0, 23, 2);
      reading.isTwelveHour = false;
      return;
    case 'I':
    case 'l':
      reading.hour = readNumber(reading, 1, 12, 2) % 12;
      reading.isTwelveHour = true;
      return;
    case 'p':
      reading.isAfternoon = readAnyOf(reading, ['am', 'pm']) === 1;
      return;
    case 'M':
      reading.minute = readNumber(reading, 0, 59, 2);
      return;
    case 'S':
      reading.second = readNumber(reading, 0, SECOND_MAX, 2);
      return;
    case 's':
      readMomentField(reading);
      return;
    case 'g':
      readNumber(reading, 0, 99, 2);
      return;
    case 'G':
      readNumber(reading, 0, 9999, 4);
      return;
    case 'V':
      readNumber(reading, 0, 53, 2);
      return;
    case 'n':
    case 't':
      skipSpace(reading);
      return;
    case 'z':
      skipOffset(reading);
      return;
    case 'Z':
      // As in glibc the text may also be missing.
      skipSpace(reading);
      while (reading.position < reading.text.length && !isSpace(reading.text.charAt(reading.position))) {
        reading.position++;
      }
      return;
    case '%':
      readLiteral(reading, '%');
      return;
    default:
      throw new DateTimeError('value_err', `unknown specifier %${specifier} in the format`);
  }
}

function readLiteral(reading: Reading, char: string): void {
  if (reading.text.charAt(reading.position) !== char) throw mismatch();
  reading.position++;
}

/** Leading spaces, then 1 to `digits` digits, as many as can matter. */
function readNumber(reading: Reading, min: number, max: number, digits: number): number {
  skipBlanks(reading);
  let value = readDigit(reading);
  if (value === undefined) throw mismatch();
  for (let left = digits - 1; left > 0 && value * 10 <= max; left--) {
    const digit = readDigit(reading);
    if (digit === undefined) break;
    value = value * 10 + digit;
  }
  if (value < min || value > max) throw mismatch();
  return value;
}

/** `%s`: takes all digits, and sets everything. */
function readMomentField(reading: Reading): void {
  skipBlanks(reading);
  const start = reading.position;
  while (readDigit(reading) !== undefined);
  if (reading.position === start) throw mismatch();
  const seconds = BigInt(reading.text.slice(start, reading.position));
  if (seconds >= 2n ** 63n) throw new DateTimeError('value_err', 'the moment is outside the calendar');
  const local = localFields(toInt(seconds), reading.place);
  reading.year = local.year;
  reading.century = undefined;
  reading.yearOfCentury = undefined;
  reading.month = local.month;
  reading.day = local.day;
  reading.hour = local.hour;
  reading.isTwelveHour = false;
  reading.minute = local.minute;
  reading.second = local.second;
  reading.dayOfYear = undefined;
  reading.offset = local.offset;
}

/** `%z`: its place is taken from the end of the text, if at all. */
function skipOffset(reading: Reading): void {
  skipSpace(reading);
  const match = /^[+-]\d\d(?:[0-5]\d)?/.exec(reading.text.slice(reading.position, reading.position + 5));
  if (match === null) throw mismatch();
  reading.position += match[0].length;
}

/** The index of the name, given in full or by its first three letters. */
function readName(reading: Reading, names: readonly string[]): number {
  const lower = names.map((name) => name.toLowerCase());
  return readAnyOf(reading, [...lower, ...lower.map((name) => name.slice(0, 3))]) % names.length;
}

/** The index of the first of the words, which are in lower case, that stands here in any case. */
function readAnyOf(reading: Reading, words: readonly string[]): number {
  const { text, position } = reading;
  const index = words.findIndex(
    (word) => text.slice(position, position + word.length).toLowerCase() === word,
  );
  if (index === -1) throw mismatch();
  reading.position += words[index]!.length;
  return index;
}

function readDigit(reading: Reading): number | undefined {
  const digit = reading.text.charCodeAt(reading.position) - 48;
  if (!(digit >= 0 && digit <= 9)) return undefined;
  reading.position++;
  return digit;
}

function skipBlanks(reading: Reading): void {
  while (reading.text.charAt(reading.position) === ' ') reading.position++;
}

function skipSpace(reading: Reading): void {
  while (isSpace(reading.text.charAt(reading.position))) reading.position++;
}

function isSpace(char: string): boolean {
  return char === ' ' || (char >= '\t' && char <= '\r');
}

function timeOf({ hour, minute, second, isTwelveHour, isAfternoon }: Reading): TimeFields {
  return { hour: isTwelveHour && isAfternoon ? hour + 12 : hour, minute, second };
}

function dateOf(reading: Reading): DateFields {
  const year = yearOf(reading);
  if (reading.dayOfYear === 366 && !isLeapYear(year)) {
    throw new DateTimeError('value_err', `there is no day 366 in ${year}`);
  }
  if (reading.month !== undefined && reading.day !== undefined) {
    return { year, month: reading.month, day: reading.day };
  }
  const { month, day } = monthAndDay(year, reading.dayOfYear ?? dayOfYearByWeek(year, reading) ?? 1);
  return { year, month: reading.month ?? month, day: reading.day ?? day };
}

function yearOf({ year, century, yearOfCentury }: Reading): number {
  if (century !== undefined) return century * 100 + (yearOfCentury ?? 0);
  if (yearOfCentury !== undefined) return yearOfCentury + (yearOfCentury < 69 ? 2000 : 1900);
  return year;
}

/** dayOfYear: 1–366 */
function monthAndDay(year: number, dayOfYear: number): { month: number; day: number } {
  let month = 12;
  while (dayOfYear <= daysBefore(year, month)) month--;
  return { month, day: dayOfYear - daysBefore(year, month) };
}

function daysBefore(year: number, month: number): number {
  return daysFromCivil(year, month, 1) - daysFromCivil(year, 1, 1);
}

/** The day that `%U` or `%W` with a weekday tells. `value_err` for a day of the week that lies in another year. */
function dayOfYearByWeek(year: number, { week, weekday }: Reading): number | undefined {
  if (week === undefined || weekday === undefined) return undefined;
  const newYear = weekdayOf(daysFromCivil(year, 1, 1));
  const firstOfWeekOne = (7 + week.firstDay - newYear) % 7;
  const index = firstOfWeekOne + (week.number - 1) * 7 + ((weekday + 7 - week.firstDay) % 7);
  if (index < 0 || index >= (isLeapYear(year) ? 366 : 365)) {
    throw new DateTimeError('value_err', `this day of week ${week.number} is not in ${year}`);
  }
  return index + 1;
}

function mismatch(): DateTimeError {
  return new DateTimeError('value_err', 'the text does not fit the format');
}
