/** The meaning of an error for the node: the exit code that tells what to do about it. */
import { FormatError, DamagedStateError as MissingRecordError } from '@althing/engine';
import { StorageError } from '@althing/storage';
import { ExitCode } from '../config/index.js';

/** True if what is on the disk is not what was written there, or can't be read by this version. */
export function isDamage(error: unknown): boolean {
  if (error instanceof MissingRecordError || error instanceof FormatError) return true;
  return error instanceof StorageError && (error.code.startsWith('damaged') || error.code === 'newer_format');
}

/** The exit code of a node that can't go on because of an error. */
export function exitCodeOf(error: unknown): number {
  if (isDamage(error)) return ExitCode.DataDamaged;
  const isDisk = error instanceof StorageError && error.code !== 'misuse';
  return isDisk ? ExitCode.Fatal : ExitCode.InvariantBroken;
}
