/** Writes dates: the ISO form, and `strftime` of C with the names of the C locale as chapter 02 §11.9 has it. */
import { isLeapYear } from './calendar.js';
import type { DateTime } from './datetime.js';
import { DateTimeError } from './error.js';
import { type LocalFields, localFields } from './fields.js';
import {
  COMPOSITES,
  FORMAT_BYTES_MAX,
  FORMAT_BYTES_MIN,
  MONTH_NAMES,
  TEXT_BYTES_MAX,
  utf8Length,
  WEEKDAY_NAMES,
} from './names.js';

const EPOCH_TEXT = '1970-01-01T00:00:00Z';

/** `str()`, §11.2; `value_err` outside the calendar. */
export function toIso(time: DateTime): string {
  const local = localFields(time.moment, time);
  const date = `${local.year}-${two(local.month)}-${two(local.day)}`;
  const clock = `${two(local.hour)}:${two(local.minute)}:${two(local.second)}`;
  const isUtc = time.zone === null ? time.offsetMinutes === 0 : time.zone.name === 'UTC';
  return `${date}T${clock}${isUtc ? 'Z' : offsetText(local.offset)}`;
}

/** The text of a datetime for clients: never fails, and shows the epoch for moments outside the calendar. */
export function toClientText(time: DateTime): string {
  try {
    return toIso(time);
  } catch (error) {
    if (error instanceof DateTimeError) return EPOCH_TEXT;
    throw error;
  }
}

/** `format(fmt)`; `value_err` for a format or a result of the wrong length, and outside the calendar. */
export function format(time: DateTime, fmt: string): string {
  const formatBytes = utf8Length(fmt, FORMAT_BYTES_MAX);
  if (formatBytes < FORMAT_BYTES_MIN || formatBytes > FORMAT_BYTES_MAX) {
    throw new DateTimeError(
      'value_err',
      `the format must have ${FORMAT_BYTES_MIN} to ${FORMAT_BYTES_MAX} bytes`,
    );
  }
  const result = write(fmt, time, localFields(time.moment, time));
  if (utf8Length(result, TEXT_BYTES_MAX) > TEXT_BYTES_MAX) {
    throw new DateTimeError('value_err', `the formatted text has more than ${TEXT_BYTES_MAX} bytes`);
  }
  return result;
}

/** The modifier between `%` and the letter. */
interface Flags {
  /** The last one of `-`, `_` and `0`. */
  readonly padding: string;
  readonly isUpper: boolean;
  readonly isOtherCase: boolean;
  readonly width: number;
}

const SPECIFIER = /%([-_0^#]*)(\d*)([%A-Za-z])/g;

function write(fmt: string, time: DateTime, local: LocalFields): string {
  return fmt.replace(SPECIFIER, (whole: string, flagText: string, width: string, letter: string) => {
    const flags = {
      padding: flagText.replace(/[\^#]/g, '').slice(-1),
      isUpper: flagText.includes('^'),
      isOtherCase: flagText.includes('#'),
      // A wider field makes the result too long in any case.
      width: Math.min(Number(width), TEXT_BYTES_MAX + 1),
    };
    return writeSpecifier(letter, flags, time, local) ?? whole;
  });
}

/** Undefined for an unknown letter. */
function writeSpecifier(
  letter: string,
  flags: Flags,
  time: DateTime,
  local: LocalFields,
): string | undefined {
  const composite = COMPOSITES.get(letter);
  if (composite !== undefined) {
    return writeText(write(composite, time, local), { ...flags, isOtherCase: false });
  }
  const { year, month, day, hour, minute, second, weekday, yday } = local;
  switch (letter) {
    case 'a':
      return writeName(WEEKDAY_NAMES[weekday]!.slice(0, 3), flags);
    case 'A':
      return writeName(WEEKDAY_NAMES[weekday]!, flags);
    case 'b':
    case 'h':
      return writeName(MONTH_NAMES[month - 1]!.slice(0, 3), flags);
    case 'B':
      return writeName(MONTH_NAMES[month - 1]!, flags);
    case 'p':
      return writeText(hour < 12 ? 'AM' : 'PM', flags);
    case 'P':
      return writeText(hour < 12 ? 'am' : 'pm', { ...flags, isUpper: false });
    case 'Z':
      return writeText(abbreviation(time), flags);
    case 'n':
      return writeText('\n', flags);
    case 't':
      return writeText('\t', flags);
    case '%':
      return writeText('%', flags);
    case 'Y':
      return writeNumber(year, 1, flags);
    case 'C':
      return writeNumber(Math.floor(year / 100), 1, flags);
    case 'y':
      return writeNumber(modulo(year, 100), 2, flags);
    case 'G':
      return writeNumber(isoWeek(local).year, 1, flags);
    case 'g':
      return writeNumber(modulo(isoWeek(local).year, 100), 2, flags);
    case 'V':
      return writeNumber(isoWeek(local).week, 2, flags);
    case 'm':
      return writeNumber(month, 2, flags);
    case 'd':
      return writeNumber(day, 2, flags);
    case 'e':
      return writeNumber(day, 2, flags, '_');
    case 'j':
      return writeNumber(yday + 1, 3, flags);
    case 'H':
      return writeNumber(hour, 2, flags);
    case 'k':
      return writeNumber(hour, 2, flags, '_');
    case 'I':
      return writeNumber(twelveHour(hour), 2, flags);
    case 'l':
      return writeNumber(twelveHour(hour), 2, flags, '_');
    case 'M':
      return writeNumber(minute, 2, flags);
    case 'S':
      return writeNumber(second, 2, flags);
    case 's':
      return writeText(String(time.moment), flags);
    case 'u':
      return writeNumber(weekday === 0 ? 7 : weekday, 1, flags);
    case 'w':
      return writeNumber(weekday, 1, flags);
    case 'U':
      return writeNumber(Math.floor((yday + 7 - weekday) / 7), 2, flags);
    case 'W':
      return writeNumber(Math.floor((yday + 7 - modulo(weekday - 1, 7)) / 7), 2, flags);
    case 'z':
      return writeOffset(local.offset, flags);
    default:
      return undefined;
  }
}

/** A weekday or a month, whose other case is upper case. */
function writeName(name: string, flags: Flags): string {
  return writeText(name, { ...flags, isUpper: flags.isUpper || flags.isOtherCase, isOtherCase: false });
}

/** The other case is lower case, and wins over upper case. */
function writeText(text: string, { padding, isUpper, isOtherCase, width }: Flags): string {
  const cased = isOtherCase ? text.toLowerCase() : isUpper ? text.toUpperCase() : text;
  return cased.padStart(width, padding === '0' ? '0' : ' ');
}

/** At least `digits` digits, or the width; the sign counts. */
function writeNumber(value: number, digits: number, flags: Flags, defaultPadding = '0'): string {
  const padding = flags.padding === '' ? defaultPadding : flags.padding;
  if (padding === '-') return String(value).padStart(flags.width);
  const length = Math.max(digits, flags.width);
  if (padding === '_') return String(value).padStart(length);
  return value < 0
    ? `-${String(value)
        .slice(1)
        .padStart(length - 1, '0')}`
    : String(value).padStart(length, '0');
}

/** As in glibc the sign and the number are padded each. */
function writeOffset(offset: number, flags: Flags): string {
  const minutes = Math.floor(Math.abs(offset) / 60);
  const number = Math.floor(minutes / 60) * 100 + (minutes % 60);
  return writeText(offset < 0 ? '-' : '+', flags) + writeNumber(number, 4, flags);
}

function offsetText(offset: number): string {
  const minutes = Math.floor(Math.abs(offset) / 60);
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`;
}

/** §11.9: a fixed offset is called UTC, but offset zero GMT. */
function abbreviation({ zone, moment, offsetMinutes }: DateTime): string {
  if (zone !== null) return zone.abbreviationAt(moment);
  return offsetMinutes === 0 ? 'GMT' : 'UTC';
}

/** ISO 8601: weeks begin on Monday and belong to the year that has their Thursday. */
function isoWeek({ year, yday, weekday }: LocalFields): { year: number; week: number } {
  const thursday = yday + 3 - modulo(weekday - 1, 7);
  if (thursday < 0) {
    const days = isLeapYear(year - 1) ? 366 : 365;
    return { year: year - 1, week: Math.floor((thursday + days) / 7) + 1 };
  }
  if (thursday >= (isLeapYear(year) ? 366 : 365)) return { year: year + 1, week: 1 };
  return { year, week: Math.floor(thursday / 7) + 1 };
}

function twelveHour(hour: number): number {
  return hour % 12 === 0 ? 12 : hour % 12;
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}
