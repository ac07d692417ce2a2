import type { StateStore } from '@althing/storage';

/**
 * The state on disk as the node works with it. A store that had no room for a write takes no further ones,
 * though it can be read; it takes them again after it was closed and opened once more.
 */
export class State {
  private readonly open: () => Promise<StateStore>;
  private current: StateStore;
  private reopening: Promise<void> | null = null;

  /** @param open opens the state again after it was closed */
  constructor(store: StateStore, open: () => Promise<StateStore>) {
    this.current = store;
    this.open = open;
  }

  /** The store. Closed while it is being opened again. */
  get store(): StateStore {
    return this.current;
  }

  /** False while it is being opened again, and after that failed. */
  get isOpen(): boolean {
    return this.reopening === null;
  }

  /** Index of the last log entry that is durable in the state of a group; 0 while that can't be told. */
  storedIndex(group: number): number {
    return this.isOpen ? (this.current.applied(group)?.index ?? 0) : 0;
  }

  /** Resolves when the store is not being opened again. */
  async available(): Promise<void> {
    await this.reopening?.catch(() => {});
  }

  /**
   * Closes the store and opens it again. Nothing may read or write meanwhile. When it fails, the store stays
   * closed, and this may be called again.
   *
   * @throws what opening throws: DiskFullError as long as there is no room
   */
  async reopen(): Promise<void> {
    const reopening = this.openAgain();
    this.reopening = reopening;
    await reopening;
    this.reopening = null;
  }

  async close(): Promise<void> {
    await this.available();
    await this.current.close();
  }

  private async openAgain(): Promise<void> {
    await this.current.close();
    this.current = await this.open();
  }
}
