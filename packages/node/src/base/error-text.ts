/** Errors as texts. The consensus thread loads this, and may not load the engine with it. */

/** An error with its trace, for the log only. */
export function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

export { messageOf } from '@althing/storage';
