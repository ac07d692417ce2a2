/** Helpers of the tests of this folder. */
import { expect } from '@jest/globals';
import { DateTimeError, type DateTimeErrorCode } from './error.js';
import { type Place, parsePlace } from './place.js';

/** The code with which `run` fails; fails the test if it does not fail, or otherwise. */
export function codeOf(run: () => unknown): DateTimeErrorCode {
  let failure: unknown;
  try {
    run();
  } catch (error) {
    failure = error;
  }
  expect(failure).toBeInstanceOf(DateTimeError);
  if (!(failure instanceof DateTimeError)) throw new Error('unreachable: asserted above');
  return failure.code;
}

export const at: (name: string) => Place = parsePlace;
export const NO_ZONE: Place = { zone: null, offsetMinutes: 0 };

/** Moments on both sides of every kind of boundary: the far past, the tables, the rules that repeat, the far future. */
export const INTERESTING_MOMENTS: readonly number[] = [
  -62_135_596_801, -5_364_662_401, -5_364_662_400, -2_840_141_850, -1, 0, 951_868_799, 1_585_443_599,
  1_585_443_600, 4_102_444_799, 4_102_444_800, 16_725_225_600, 16_726_089_600, 253_402_300_800,
];
