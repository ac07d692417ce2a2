import { FormatError } from '@althing/engine';
import { holdFolder, StorageError } from '@althing/storage';
import { exitCodeOf } from '../../base/exit-code.js';
import { ExitCode } from '../../config/index.js';
import { StartError } from './running-node.js';

/**
 * Does some work with a data folder, with which no node works meanwhile.
 *
 * @throws StartError and others with an `exitCode`
 */
export async function withFolder<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    const letGo = await holdFolder(path);
    return await work().finally(letGo);
  } catch (error) {
    throw withExitCode(error);
  }
}

/** Gives errors of the storage the exit code that tells what to do about them. */
export function withExitCode(error: unknown): unknown {
  if (error instanceof FormatError) {
    return new StartError(`the stored state can not be read: ${error.message}`, ExitCode.DataDamaged);
  }
  return error instanceof StorageError ? new StartError(error.message, exitCodeOf(error)) : error;
}
