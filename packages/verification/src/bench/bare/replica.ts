/** The replica behind a door of the bare path. */
export interface Replica {
  /**
   * Replicates entries; what is given first is committed first.
   *
   * @param done takes the index of the first of them when all are on the disks of a majority
   */
  write(entries: Uint8Array, count: number, done: Done): void;
  /** @param done takes an index that no write has passed which was acknowledged before the call */
  read(done: Done): void;
}

export type Done = (index: number) => void;
