import type { StateStore } from '@althing/storage';

/** Threads of their own that have the store open, which stays locked until they let it go. */
export interface OtherReaders {
  close(): Promise<void>;
  /** The store is open again. */
  reopen(): void;
}

/**
 * The state on disk as the node works with it. A store that had no room for a write takes no further ones,
 * though it can be read; it takes them again after it was closed and opened once more.
 *
 * Work of several steps runs within `use`, and the store is never closed under it. Work of
 * one step asks `isOpen`, or belongs to a session, which stands still while the store is closed.
 */
export class State {
  private current: StateStore;
  /** Others who have the store open. */
  otherReaders: OtherReaders = { close: async () => {}, reopen: () => {} };
  private isShut = false;
  private isHeld = false;
  private users = 0;
  /** Callers that wait until nothing is under way, and for `release`. */
  private untilIdle: (() => void)[] = [];
  private untilReleased: (() => void)[] = [];

  /** @param open opens the state again after it was closed */
  constructor(
    store: StateStore,
    private readonly open: () => Promise<StateStore>,
  ) {
    this.current = store;
  }

  /** The store. Closed while it is being opened again. */
  get store(): StateStore {
    return this.current;
  }

  /** False while it is being opened again, and after that failed. */
  get isOpen(): boolean {
    return !this.isShut;
  }

  /** Index of the last log entry that is durable in the state of a group; 0 while that can't be told. */
  storedIndex(group: number): number {
    return this.isOpen ? (this.current.applied(group)?.index ?? 0) : 0;
  }

  /**
   * Works on the store in several steps: begins when it is open, and keeps it open to the end. Must wait for
   * nothing that comes about only after the store was opened again.
   */
  async use<T>(work: (store: StateStore) => Promise<T>): Promise<T> {
    while (this.isHeld) await this.released();
    this.users += 1;
    try {
      return await work(this.current);
    } finally {
      this.users -= 1;
      if (this.users === 0) for (const resolve of this.untilIdle.splice(0)) resolve();
    }
  }

  /** Lets nothing begin to work on the store until `release`; resolves when nothing does. */
  async hold(): Promise<void> {
    this.isHeld = true;
    if (this.users > 0) await new Promise<void>((resolve) => this.untilIdle.push(resolve));
  }

  /** Lets those go on who wait for the store. */
  release(): void {
    this.isHeld = false;
    for (const resolve of this.untilReleased.splice(0)) resolve();
  }

  /** Resolves when the store is another one than this, since it was opened again. */
  async reopened(former: StateStore): Promise<void> {
    while (this.current === former) await this.released();
  }

  /**
   * Closes the store and opens it again, after `hold`. When it fails, the store stays closed, and this may be
   * called again.
   *
   * @throws what opening throws: DiskFullError as long as there is no room
   */
  async reopen(): Promise<void> {
    if (!this.isHeld || this.users > 0) throw new Error('the state is opened again while something uses it');
    this.isShut = true;
    await this.otherReaders.close();
    await this.current.close();
    this.current = await this.open();
    this.isShut = false;
    this.otherReaders.reopen();
  }

  async close(): Promise<void> {
    await this.hold();
    await this.otherReaders.close();
    await this.current.close();
  }

  private released(): Promise<void> {
    return new Promise((resolve) => this.untilReleased.push(resolve));
  }
}
