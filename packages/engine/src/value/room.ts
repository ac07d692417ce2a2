import { Tag } from './tag.js';

/**
 * A room: clients join it, and programs tell them of events by it. A stored one has an id, and there is one object for each id, which
 * shows its present name. It goes when the last reference from stored data goes.
 */
export class Room {
  /** 0 until it is stored. */
  id = 0;
  /** Unique in the collection; null for none. */
  name: string | null = null;
  /** References from stored data. */
  refs = 0;
  /** True if it was stored, and is no more: a variable may hold it still. */
  gone = false;

  get tag(): typeof Tag.ROOM {
    return Tag.ROOM;
  }

  /** True if stored data refer to it, or did when the query began. */
  get stored(): boolean {
    return this.id !== 0 && !this.gone;
  }

  get text(): string {
    return `room:${this.id === 0 ? 'nil' : this.id}`;
  }
}
