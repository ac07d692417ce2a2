/** Errors as texts. The consensus thread loads this, and may not load the engine with it. */

/** An error with its trace, for the log only. */
export function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** The words of an error, also of one of another realm, as those of `fs` are in tests. */
export function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error
    ? String(error.message)
    : String(error);
}
