/**
 * The end of a command that moves backups.
 */

import { AlthingError } from '@althing/client';
import type { Command } from 'commander';
import { exitCodeOf, wordsOf } from './connection.js';
import { Exit } from './exit-codes.js';
import { UsageError } from './input.js';
import { type Io, tell } from './io.js';
import { messageOf } from './system-error.js';

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
    const isKnown = isUsage || error instanceof AlthingError || isFileError(error) || isExpected(error);
    if (!isKnown) throw error;
    const isOfClient = error instanceof AlthingError;
    await tell(io, `althing ${name}: ${isOfClient ? wordsOf(error) : messageOf(error)}`);
    if (isUsage) return 2;
    if (!isOfClient) return Exit.Failed;
    const exitCode = exitCodeOf(error);
    return exitCode === Exit.Unknown && !mayChange ? Exit.Failed : exitCode;
  }
}

/** No such file, no room, and the like. */
function isFileError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'syscall' in error;
}
