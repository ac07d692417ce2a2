export type DateTimeErrorCode = 'value_err' | 'overflow_err' | 'type_err';

/** Every failure of this module that a program can cause. */
export class DateTimeError extends Error {
  constructor(
    readonly code: DateTimeErrorCode,
    message: string,
  ) {
    super(message);
    this.name = 'DateTimeError';
  }
}
