/** The content of an export as a digest, for comparing a collection with another that should be the same. */
import { isRestored, RecordKind } from '@althing/engine';
import { StateDigest } from '../state/state-digest.js';
import { backupContents } from './contents.js';
import { BackupError } from './format.js';

export interface ExportDigest {
  readonly things: number;
  /** The digest of all that the collection holds, but for its counters and its history; as hexadecimal digits. */
  readonly digest: string;
  /** The digest of the file, which tells it from every other; as hexadecimal digits. */
  readonly file: string;
}

/**
 * Reads an export to its end.
 *
 * @throws BackupError
 */
export async function digestOfExport(source: AsyncIterable<Uint8Array>): Promise<ExportDigest> {
  const digest = new StateDigest(GROUP);
  let things = 0;
  let file = '';
  for await (const part of backupContents(source)) {
    if (part.kind === 'head' && part.head.collection === undefined)
      throw new BackupError('refused', 'this is a backup, and no export of a collection');
    if (part.kind === 'end') file = part.digest;
    if (part.kind !== 'records') continue;
    for (const record of part.records) {
      const { kind } = record;
      if (!isRestored(record) || kind === RecordKind.META || kind === RecordKind.COMMIT) continue;
      if (kind === RecordKind.THING && record.part === 0) things += 1;
      digest.add(record);
    }
  }
  return { things, digest: digest.end().toString('hex'), file };
}

/** Any but that of the root scope. */
const GROUP = 1;
