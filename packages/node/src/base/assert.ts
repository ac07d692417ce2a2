/**
 * Stops what is under way where an invariant does not hold: a programming error, never something that a client or
 * another node can cause.
 *
 * @throws Error
 */
export function assert(holds: boolean, invariant: string): asserts holds {
  if (!holds) throw new Error(`broken invariant: ${invariant}`);
}
