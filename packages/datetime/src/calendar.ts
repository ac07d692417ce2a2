/**
 * The proleptic Gregorian calendar on day numbers (1970-01-01 is day 0), exact far beyond the years of JavaScript's Date.
 *
 * `daysFromCivil` and `civilFromDays` are the algorithms of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms"
 * (2013), sections days_from_civil and civil_from_days. They count in eras of 400 years which begin on March 1st.
 */
export interface CivilDate {
  readonly year: number;
  /** 1–12 */
  readonly month: number;
  /** 1–31 */
  readonly day: number;
}

export const SECONDS_PER_DAY = 86_400;
const DAYS_PER_ERA = 146_097;

/** The same dates, weekdays and clock changes come back after 400 years. */
export const SECONDS_PER_ERA = DAYS_PER_ERA * SECONDS_PER_DAY;

export const YEAR_MIN = -2_147_481_748;
export const YEAR_MAX = 2_147_485_547;
export const DAYS_MIN = daysFromCivil(YEAR_MIN, 1, 1);
export const DAYS_MAX = daysFromCivil(YEAR_MAX, 12, 31);

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/** month: 1–12; day: any integer, also beyond the month. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_PER_ERA + dayOfEra - 719_468;
}

export function civilFromDays(days: number): CivilDate {
  const z = days + 719_468;
  const era = Math.floor(z / DAYS_PER_ERA);
  const dayOfEra = z - era * DAYS_PER_ERA;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** 0–365; January 1st is 0. */
export function dayOfYear(year: number, month: number, day: number): number {
  return DAYS_BEFORE_MONTH[month - 1]! + day - 1 + (month > 2 && isLeapYear(year) ? 1 : 0);
}

/** 0–6, Sunday is 0. */
export function weekdayOf(days: number): number {
  return (((days + 4) % 7) + 7) % 7;
}
