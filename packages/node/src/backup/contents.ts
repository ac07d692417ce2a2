/** The contents of a backup or an export, group by group, checked on the way. */
import { type Applied, SnapshotReader, SnapshotRefusedError, type StateRecord } from '@althing/storage';
import { BackupError, type BackupHead, readBackup } from './format.js';

export type BackupPart =
  | { readonly kind: 'head'; readonly head: BackupHead }
  | { readonly kind: 'group'; readonly group: number; readonly applied: Applied }
  | { readonly kind: 'records'; readonly group: number; readonly records: readonly StateRecord[] }
  /** Everything of the group has come. */
  | { readonly kind: 'complete'; readonly group: number }
  /** All of it has come, and is right; the digest tells it from every other file. */
  | { readonly kind: 'end'; readonly digest: string };

/**
 * Reads a backup. It is right as a whole only when this has ended.
 *
 * @throws BackupError
 */
export async function* backupContents(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<BackupPart, void, undefined> {
  let head: BackupHead | null = null;
  let reader: SnapshotReader | null = null;
  let groups = 0;
  let last = -1;
  let digest = '';
  for await (const frame of readBackup(source)) {
    if (frame.kind === 'head') {
      head = frame.head;
      yield { kind: 'head', head };
    } else if (frame.kind === 'chunk') {
      if (reader === null || reader.isComplete) reader = new SnapshotReader();
      const isNew = reader.header === undefined;
      const records = taken(reader, frame.chunk);
      const { header } = reader;
      if (header === undefined)
        throw new BackupError('damaged', 'the backup is damaged: a group has no header');
      const { group, applied } = header;
      if (isNew) {
        if (group <= last || (last === -1 && (group === 0) !== (head?.collection === undefined)))
          throw new BackupError('damaged', 'the backup is damaged: its groups are out of order');
        last = group;
        groups += 1;
        yield { kind: 'group', group, applied };
      }
      if (records.length > 0) yield { kind: 'records', group, records };
      if (reader.isComplete) yield { kind: 'complete', group };
    } else {
      digest = frame.digest;
    }
  }
  if (reader?.isComplete === false || head?.groups !== groups) {
    throw new BackupError('damaged', 'the backup is damaged: not all groups are in it');
  }
  yield { kind: 'end', digest };
}

export interface BackupSummary {
  readonly head: BackupHead;
  readonly records: number;
}

export interface VerifiedBackup extends BackupSummary {
  /** Tells the file from every other, as 64 hexadecimal digits. */
  readonly digest: string;
}

/**
 * Reads a backup to its end.
 *
 * @throws BackupError
 */
export async function verifyBackup(source: AsyncIterable<Uint8Array>): Promise<VerifiedBackup> {
  let head: BackupHead | null = null;
  let digest = '';
  let records = 0;
  for await (const part of backupContents(source)) {
    if (part.kind === 'head') head = part.head;
    else if (part.kind === 'records') records += part.records.length;
    else if (part.kind === 'end') digest = part.digest;
  }
  if (head === null) throw new BackupError('damaged', 'the backup is damaged: it has no head');
  return { head, records, digest };
}

function taken(
  reader: SnapshotReader,
  chunk: Parameters<SnapshotReader['take']>[0],
): ReturnType<SnapshotReader['take']> {
  try {
    return reader.take(chunk);
  } catch (error) {
    if (error instanceof SnapshotRefusedError)
      throw new BackupError('damaged', `the backup is damaged: ${error.message}`);
    throw error;
  }
}
