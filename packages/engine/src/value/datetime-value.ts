import { type DateTime, DateTimeError } from '@althing/datetime';
import { ErrorCode, QueryError } from '../error.js';
import { Tag } from './tag.js';

/** A datetime or a timeval. */
export class DateTimeValue {
  constructor(readonly time: DateTime) {}

  get tag(): typeof Tag.DATETIME | typeof Tag.TIMEVAL {
    return this.time.kind === 'datetime' ? Tag.DATETIME : Tag.TIMEVAL;
  }
}

const CODES = { value_err: ErrorCode.VALUE, overflow_err: ErrorCode.OVERFLOW, type_err: ErrorCode.TYPE };

/** Runs work on dates; its errors become errors of the language. */
export function withDates<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof DateTimeError) throw new QueryError(CODES[error.code], error.message);
    throw error;
  }
}
