/**
 * The meaning of an error for the node: the exit code that tells what to do about it, and its words for the
 * log.
 */
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
