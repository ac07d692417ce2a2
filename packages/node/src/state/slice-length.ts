/** Milliseconds of a slice at least: shorter ones would come to nothing beside the change of turns. */
const SLICE_MIN_MS = 1;

/**
 * Milliseconds of the next slice of work that has to come to its end beside others. These wait for as long as a slice takes. Where they have
 * little to do, their turns are short, and short slices between them come to as much of the time as long ones between long turns. Behind a long
 * run those who came meanwhile have waited already, and need several turns each until they are answered: there it is the least.
 *
 * @param mayMs milliseconds that it may take beside turns of any length
 * @param othersMs milliseconds that others had behind the last slice
 * @param urgency at 0 the work has a quarter of the time that others had, and twice as much with each half more
 */
export function sliceLength(
  mayMs: number,
  othersMs: number,
  urgency: number,
  isBehindLongRun: boolean,
): number {
  if (isBehindLongRun) return SLICE_MIN_MS;
  return Math.min(mayMs, Math.max(SLICE_MIN_MS, othersMs * 4 ** (urgency - 1)));
}
