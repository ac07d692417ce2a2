/**
 * Assertions: what must hold whatever arrives from outside. A failed assertion is a programming error (here
 * or in the host); the node must not go on, because a wrong answer is worse than none.
 */
export class RaftAssertionError extends Error {
  override readonly name = 'RaftAssertionError';
}

/**
 * Throws {@link RaftAssertionError} unless `condition` holds. `left` and `right` are shown when they are
 * given.
 */
export function assert(
  condition: boolean,
  message: string,
  left?: number,
  right?: number,
): asserts condition {
  if (!condition) fail(message, left, right);
}

/** An index, term, or counter: a safe integer that is not negative. */
export function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** A node id: a positive safe integer. */
export function isNodeId(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

function fail(message: string, left: number | undefined, right: number | undefined): never {
  const shown = [left, right].filter((value) => value !== undefined);
  throw new RaftAssertionError(shown.length === 0 ? message : `${message} (${shown.join(', ')})`);
}
