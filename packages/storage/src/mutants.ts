/**
 * Planted bugs of the storage layer. A simulator switches them on one at a time to prove that it would find
 * such a bug; nothing else may. Each name is checked at the one place where the bug would live.
 */
export type StorageMutant =
  /** An append is acknowledged when its write is issued, not when it is durable. */
  | 'ack_before_sync'
  /** Checksums of log records and of state values are not compared. */
  | 'crc_ignored'
  /** Recovery trusts a log tail that it read but that may be only in the page cache, or torn. */
  | 'unsynced_tail_trusted'
  /** Recovery does not compare the end of the log with the high-water mark. */
  | 'lost_tail_not_noticed'
  /**
   * The group switches to an incoming snapshot when its first chunk arrives, not when the last is verified.
   */
  | 'snapshot_install_not_atomic'
  /** The applied index is written before, and not together with, the records of its checkpoint. */
  | 'applied_index_outside_batch';

/** All names, for option parsing and for the list of mutants in a simulator's report. */
export const storageMutants: readonly StorageMutant[] = [
  'ack_before_sync',
  'crc_ignored',
  'unsynced_tail_trusted',
  'lost_tail_not_noticed',
  'snapshot_install_not_atomic',
  'applied_index_outside_batch',
];

/** The production setting: no planted bug. */
export const noMutants: ReadonlySet<StorageMutant> = new Set();
