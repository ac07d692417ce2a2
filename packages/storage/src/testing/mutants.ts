/**
 * Planted bugs: what would be wrong, and the lines that would have to be different for it. Nothing of them is
 * in the stores: `ModulePlanter` makes a copy of the compiled modules in which the lines are different. A test
 * harness runs against such a copy to show that it would notice the bug.
 */
import type { PlantedBug } from 'raft-ts/testing';

const MUTANTS = {
  ack_before_sync: {
    what: 'an append is acknowledged when its write is issued, not when it is durable',
    edits: [
      {
        file: 'log/log-store',
        code: `this.written(taken, lastCrc);
            this.afterWrite();`,
        bug: 'this.afterWrite();',
      },
      {
        file: 'log/log-store',
        code: 'active.file.write([bytes], active.end, written, true);',
        bug: `active.file.write([bytes], active.end, written, true);
        this.written(taken, lastCrc);`,
      },
    ],
  },
  crc_ignored: {
    what: 'neither checksums nor chain hashes of log records are compared, nor checksums of state values',
    edits: [
      { file: 'log/format', code: 'crc32c(bytes, at + 8, at + length, salt) !== crc', bug: 'false' },
      { file: 'log/reader', code: 'record.index !== index', bug: 'false' },
      { file: 'log/reader', code: 'record.term !== term', bug: 'false' },
      { file: 'log/reader', code: '!isSameLink(previous, expected)', bug: 'false' },
      {
        file: 'log/reader',
        code: '!holdsItsHash(bytes, record, previous, link, segments.chainHash)',
        bug: 'false',
      },
      { file: 'log/recovered-groups', code: '!isSameLink(entry.previous, this.log.lastLink)', bug: 'false' },
      {
        file: 'log/recovered-groups',
        code: '!holdsItsHash(content, record, previous, link, this.chainHash)',
        bug: 'false',
      },
      { file: 'state/values', code: '!isValueOf(crc32c(key), bytes, 0, bytes.length)', bug: 'false' },
      {
        file: 'state/sequential-reads',
        code: 'isNamed && !isValueOf(keyCrc, bytes, valueAt, end)',
        bug: 'false',
      },
      { file: 'state/values', code: 'format !== VALUE_FORMAT', bug: 'false' },
    ],
  },
  unsynced_tail_trusted: {
    what: 'recovery trusts a log tail that it read but that may be only in the page cache, or torn',
    edits: [{ file: 'log/recovery', code: 'await scan.makeTailDurable();', bug: '' }],
  },
  lost_tail_not_noticed: {
    what: 'recovery does not compare the end of the log with the high-water mark',
    edits: [{ file: 'log/recovery', code: 'this.nextSequence > this.markedSequence', bug: 'true' }],
  },
  snapshot_install_not_atomic: {
    what: 'the group switches to an incoming snapshot when its first chunk arrives, not when the last is verified',
    edits: [
      { file: 'state/snapshot-install', code: 'await this.switch(header);', bug: '' },
      {
        file: 'state/snapshot-install',
        code: 'await this.stage();',
        bug: 'await this.stage(); await this.switch(header);',
      },
    ],
  },
  read_ahead_kept: {
    what: 'what was read ahead is used though a checkpoint has ended since',
    edits: [{ file: 'state/state-store', code: 'this.sequentialReads.drop();', bug: '{}' }],
  },
  snapshot_within_redo: {
    what: 'a view is taken while a checkpoint is half in the records',
    edits: [
      { file: 'state/snapshot-reads', code: 'if (redo !== undefined)\n            return null;', bug: '' },
    ],
  },
  generation_cleared_under_reader: {
    what: 'a view reads the records as they are now, under the generation that the group had',
    edits: [
      {
        file: 'state/snapshot-reads',
        code: 'this.store.getSync(key, this.snapshot)',
        bug: 'this.store.getSync(key)',
      },
    ],
  },
  read_ahead_of_another_state: {
    what: 'a view has records read ahead as they are in a later moment',
    edits: [{ file: 'state/snapshot-reads', code: 'if (isSame && this.isOpen)', bug: 'if (this.isOpen)' }],
  },
  applied_index_outside_batch: {
    what: 'the applied index is written before, and not together with, the records of its checkpoint',
    edits: [
      {
        file: 'state/checkpoint',
        code: 'if (this.redo === undefined)\n                await this.commitAtOnce',
        bug: `await this.write({ ...this.meta, applied });
            if (this.redo === undefined)
                await this.commitAtOnce`,
      },
    ],
  },
} as const satisfies Readonly<Record<string, PlantedBug>>;

export type StorageMutant = keyof typeof MUTANTS;

/** All planted bugs by their names. */
export const STORAGE_MUTANTS: Readonly<Record<StorageMutant, PlantedBug>> = MUTANTS;

/** True if there is a planted bug with this name. */
export function isStorageMutant(name: string): name is StorageMutant {
  return Object.hasOwn(MUTANTS, name);
}
