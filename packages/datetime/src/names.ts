export const WEEKDAY_NAMES: readonly string[] = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
];

export const MONTH_NAMES: readonly string[] = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** The formats that stand for others, for reading and for writing alike. */
export const COMPOSITES: ReadonlyMap<string, string> = new Map([
  ['c', '%a %b %e %H:%M:%S %Y'],
  ['D', '%m/%d/%y'],
  ['x', '%m/%d/%y'],
  ['F', '%Y-%m-%d'],
  ['r', '%I:%M:%S %p'],
  ['R', '%H:%M'],
  ['T', '%H:%M:%S'],
  ['X', '%H:%M:%S'],
]);

export const FORMAT_BYTES_MIN = 2;
export const FORMAT_BYTES_MAX = 79;
/** Longest text that is read with a format, or made by one. */
export const TEXT_BYTES_MAX = 119;

/** The length in UTF-8; a text that is too long anyway is not measured. */
export function utf8Length(text: string, max: number): number {
  return text.length > max ? text.length : Buffer.byteLength(text, 'utf8');
}
