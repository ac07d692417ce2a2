/** Errors by which nodes tell that data of theirs are damaged. */
import { ExitCode } from '@althing/node/parts';
import { StorageError } from '@althing/storage';
import { LostVoteError } from './consensus-side.js';
import { NodeFailure } from './node-failure.js';

/** The way in which it came out that a disk had lied. */
export function lieNoticedBy(error: unknown): string {
  if (error instanceof LostVoteError) return 'a vote is gone';
  if (error instanceof StorageError) return 'the log tells';
  return error instanceof NodeFailure && error.message.includes('has acknowledged')
    ? 'the leader tells'
    : 'log and state do not fit';
}

/** True if a node ends because it found that its data are damaged. */
export function isDamage(error: unknown): boolean {
  if (error instanceof StorageError) return error.code.startsWith('damaged');
  if (error instanceof LostVoteError) return true;
  return error instanceof NodeFailure && error.exitCode === ExitCode.DataDamaged;
}
