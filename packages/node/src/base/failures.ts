import { FormatError, DamagedStateError as MissingRecordError } from '@althing/engine';
import { isStorageDamage } from './exit-code.js';

/** True if what is on the disk is not what was written there, or can't be read by this version. */
export function isDamage(error: unknown): boolean {
  return error instanceof MissingRecordError || error instanceof FormatError || isStorageDamage(error);
}
