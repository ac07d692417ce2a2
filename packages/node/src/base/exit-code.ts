/** The exit code that an error means for the process. The consensus thread loads this, and may not load the engine with it. */
import { FolderInUseError, StorageError } from '@althing/storage';
import { ExitCode } from '../config/exit-codes.js';

/**
 * The exit code of a node that can't go on because of an error: the one that the error tells, or the one of its kind.
 *
 * @param otherwise for errors that are neither of the storage nor tell one
 */
export function exitCodeOf(error: unknown, otherwise: number = ExitCode.InvariantBroken): number {
  if (typeof error !== 'object' || error === null) return otherwise;
  if ('exitCode' in error && typeof error.exitCode === 'number') return error.exitCode;
  if (isStorageDamage(error)) return ExitCode.DataDamaged;
  if (error instanceof FolderInUseError) return ExitCode.StorageInUse;
  return error instanceof StorageError && error.code !== 'misuse' ? ExitCode.Fatal : otherwise;
}

/** True if what the storage found is not what was written there, or can't be read by this version. */
export function isStorageDamage(error: unknown): boolean {
  return error instanceof StorageError && (error.code.startsWith('damaged') || error.code === 'newer_format');
}
