import { StorageError } from '@althing/storage';
import { RaftAssertionError } from 'raft-ts';
import { ExitCode } from '../config/exit-codes.js';
import { LostTailError, MisfitError } from './log-fit.js';

/** The exit code of a node whose groups can't go on because of an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof MisfitError || error instanceof LostTailError) return error.exitCode;
  if (error instanceof RaftAssertionError || !(error instanceof StorageError))
    return ExitCode.InvariantBroken;
  if (error.code.startsWith('damaged') || error.code === 'newer_format') return ExitCode.DataDamaged;
  return error.code === 'misuse' ? ExitCode.InvariantBroken : ExitCode.Fatal;
}
