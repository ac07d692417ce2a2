/** The end of a command: what it says of an error, and its exit code. */
import { AlthingError, WireError } from '@althing/client';
import { exitCodeOf, wordsOf } from './connection.js';
import { Exit } from './exit-codes.js';
import { CommandError, UsageError } from './input.js';
import { type Io, tell } from './io.js';
import { messageOf } from './system-error.js';

/**
 * Runs a command, says what went wrong, and gives the exit code.
 *
 * @param work gives an exit code, or something else for 0
 * @param tellsUnknown whether the exit code tells an unknown outcome, which is a failure otherwise
 * @throws errors that are defects
 */
export async function finished(
  name: string,
  io: Io,
  work: () => Promise<unknown>,
  tellsUnknown = false,
): Promise<number> {
  try {
    const exitCode = await work();
    return typeof exitCode === 'number' ? exitCode : 0;
  } catch (error) {
    if (!(await isExpected(error))) throw error;
    const isOfClient = error instanceof AlthingError;
    await tell(io, `althing ${name}: ${isOfClient ? wordsOf(error) : messageOf(error)}`);
    if (error instanceof UsageError) return Exit.Usage;
    const exitCode = isOfClient ? exitCodeOf(error) : Exit.Failed;
    return exitCode === Exit.Unknown && !tellsUnknown ? Exit.Failed : exitCode;
  }
}

async function isExpected(error: unknown): Promise<boolean> {
  if ([CommandError, AlthingError, WireError].some((kind) => error instanceof kind)) return true;
  // No such file, no room, and the like.
  if (typeof error === 'object' && error !== null && 'syscall' in error) return true;
  const { BackupError } = await import('./node.js');
  return error instanceof BackupError;
}
