/**
 * How a command that moves backups ends.
 */
import type { Command } from 'commander';
import { QueryFailed } from './connection.js';
import { Exit } from './exit-codes.js';
import { ConnectionError, partsOf } from './http.js';
import { UsageError } from './input.js';
import { type Io, tell } from './io.js';

/** Does what a command is for. */
export type Work = (command: Command, io: Io) => Promise<void>;

/**
 * Runs a command, says what went wrong, and gives the exit code.
 *
 * @param isExpected whether an error is one that the command knows, besides those of connections and files
 * @param mayChange whether it changes something
 */
export async function finished(
  name: string,
  io: Io,
  work: () => Promise<void>,
  isExpected: (error: unknown) => boolean,
  mayChange = false,
): Promise<number> {
  try {
    await work();
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const isKnown =
      isUsage ||
      error instanceof ConnectionError ||
      error instanceof QueryFailed ||
      isFileError(error) ||
      isExpected(error);
    if (!isKnown) throw error;
    await tell(io, `althing ${name}: ${partsOf(error).message}`);
    if (isUsage) return 2;
    if (!(error instanceof ConnectionError || error instanceof QueryFailed)) return Exit.Failed;
    return error.exitCode === Exit.Unknown && !mayChange ? Exit.Failed : error.exitCode;
  }
}

/** No such file, no room, and the like. */
function isFileError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'syscall' in error;
}
