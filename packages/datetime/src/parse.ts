import { DateTime, type DateTimeKind } from './datetime.js';
import { DateTimeError } from './error.js';
import { FORMAT_BYTES_MAX, FORMAT_BYTES_MIN, TEXT_BYTES_MAX, utf8Length } from './names.js';
import { type Place, parseOffset, UTC_PLACE } from './place.js';
import { readMoment } from './strptime.js';

const FORMAT_BY_LENGTH: ReadonlyMap<number, string> = new Map([
  [4, '%Y'],
  [7, '%Y-%m'],
  [10, '%Y-%m-%d'],
  [13, '%Y-%m-%dT%H'],
  [16, '%Y-%m-%dT%H:%M'],
  [19, '%Y-%m-%dT%H:%M:%S'],
]);

/** `datetime(text)`, §11.4: the form follows from the length. The default place is for texts without `Z` or offset. */
export function parseIso(kind: DateTimeKind, text: string, defaultPlace: Place): DateTime {
  const { local, place } = splitIso(text, defaultPlace);
  const format = FORMAT_BY_LENGTH.get(local.length);
  if (format === undefined) throw notIso();
  return new DateTime(
    kind,
    readMoment(local, local[10] === ' ' ? format.replace('T', ' ') : format, place),
    place,
  );
}

/** `datetime(text, format)`, §11.5. The default place is for formats that end neither in `Z` nor in `z`. */
export function parseFormat(kind: DateTimeKind, text: string, format: string, defaultPlace: Place): DateTime {
  const formatBytes = utf8Length(format, FORMAT_BYTES_MAX);
  if (formatBytes < FORMAT_BYTES_MIN || formatBytes > FORMAT_BYTES_MAX) {
    throw new DateTimeError(
      'value_err',
      `the format must have ${FORMAT_BYTES_MIN} to ${FORMAT_BYTES_MAX} bytes`,
    );
  }
  if (utf8Length(text, TEXT_BYTES_MAX) > TEXT_BYTES_MAX) {
    throw new DateTimeError('value_err', `the text must have at most ${TEXT_BYTES_MAX} bytes`);
  }
  const place = placeByFormat(text, format, defaultPlace);
  return new DateTime(kind, readMoment(text, format, place), place);
}

function splitIso(text: string, defaultPlace: Place): { local: string; place: Place } {
  switch (text.length) {
    case 20:
      if (!text.endsWith('Z')) throw notIso();
      return { local: text.slice(0, 19), place: UTC_PLACE };
    case 22:
    case 24:
      return { local: text.slice(0, 19), place: fixedPlace(text.slice(19)) };
    default:
      return { local: text, place: defaultPlace };
  }
}

function placeByFormat(text: string, format: string, defaultPlace: Place): Place {
  if (format.endsWith('Z')) return UTC_PLACE;
  if (!format.endsWith('z')) return defaultPlace;
  return fixedPlace(text.slice(Math.max(0, text.lastIndexOf('+'), text.lastIndexOf('-'))));
}

function fixedPlace(text: string): Place {
  const offsetMinutes = parseOffset(text);
  if (offsetMinutes === undefined) {
    throw new DateTimeError(
      'value_err',
      'the text must end in an offset such as +01 or -0330, at most 12:00',
    );
  }
  return { zone: null, offsetMinutes };
}

function notIso(): DateTimeError {
  return new DateTimeError(
    'value_err',
    'not a date; write YYYY, YYYY-MM, YYYY-MM-DD, then THH, THH:MM or THH:MM:SS, and after seconds Z, ±hh or ±hhmm',
  );
}
