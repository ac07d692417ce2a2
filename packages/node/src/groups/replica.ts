/** The state of a group on this node, with the results of recent changes, and where it stands in the log. */
import { type CollectionEvent, type Group, type RoomEvent, RootGroup } from '@althing/engine';
import { assert } from '../base/assert.js';
import type { Applied, CommittedEntry, LogPosition } from '../between/protocol.js';
import type { ChangeEntry } from './entry.js';
import type { PendingWrite } from './pipeline.js';
import type { SessionTable } from './session-table.js';
import { StateWatch } from './state-watch.js';

/** The listeners to what is committed. */
export interface ReplicaEvents {
  /** Collections came or went for good. */
  collectionsChanged(events: readonly CollectionEvent[]): void;
  /** Clients in rooms are to be told of something. */
  roomEvents(events: readonly RoomEvent[]): void;
}

export class Replica {
  /**
   * The place of the state in the log. Entries that hold no change move it on; a change makes it another object, and
   * leaves the one before where it is.
   */
  standing: { index: number };
  /** Bytes of changes since the last checkpoint began. */
  changedBytes = 0;
  readonly watch = new StateWatch();

  constructor(
    public group: Group,
    public table: SessionTable,
    /** Where the state stands, apart from changes that wait for their commit. */
    public applied: Applied,
    private readonly events: ReplicaEvents,
  ) {
    this.standing = { index: applied.index };
  }

  /** The state was replaced by that of a snapshot. */
  replace(group: Group, table: SessionTable, applied: Applied): void {
    this.watch.end(false);
    this.group = group;
    this.table = table;
    this.applied = applied;
    this.standing = { index: applied.index };
    this.changedBytes = 0;
  }

  noteMembership(membership: Uint8Array): void {
    this.applied = { ...this.applied, membership };
  }

  moveTo({ index, term, hash }: LogPosition): void {
    assert(index >= this.applied.index, 'a state never goes back in the log');
    this.applied = { ...this.applied, index, term, hash };
    this.standing.index = index;
  }

  /** Changes follow up to an index. */
  changesUpTo(index: number): void {
    this.standing = { index };
  }

  /** A change of this node is committed, whose effects the state has already unless they were imposed. */
  commit({ head, imposed, collectionEvents, roomEvents }: PendingWrite): void {
    this.table.note(head);
    if (imposed !== null) this.group.apply(imposed);
    if (imposed !== null) this.reportCollections();
    if (collectionEvents.length > 0) this.events.collectionsChanged(collectionEvents);
    if (roomEvents.length > 0) this.events.roomEvents(roomEvents);
  }

  /** Applies an entry of another leader. */
  apply(entry: CommittedEntry, { head, effects }: ChangeEntry): void {
    this.watch.approaching(entry.index);
    this.changesUpTo(entry.index);
    this.group.apply(effects);
    this.table.note(head);
    const roomEvents = this.group.takeRoomEvents();
    if (roomEvents.length > 0) this.events.roomEvents(roomEvents);
    this.reportCollections();
    this.changedBytes += entry.payload.length;
    // A watcher that looks at the state must see it at each index on its way.
    if (this.watch.isSet) this.moveTo(entry);
  }

  /** Changes that were not committed were taken back: what they did to collections is not reported. */
  forgetCollectionEvents(): void {
    if (this.group instanceof RootGroup) this.group.collectionEvents.length = 0;
  }

  private reportCollections(): void {
    if (!(this.group instanceof RootGroup)) return;
    const events = this.group.collectionEvents.splice(0);
    if (events.length > 0) this.events.collectionsChanged(events);
  }
}
