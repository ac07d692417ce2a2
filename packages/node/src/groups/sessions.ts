import {
  type CollectionEvent,
  type CollectionGroup,
  type Engine,
  type Group,
  loadGroup,
  lookupError,
  Preparation,
  type QueryError,
  type RoomEvent,
  type Target,
} from '@althing/engine';
import { isDiskFull, type StateStore } from '@althing/storage';
import type { Membership } from 'raft-ts';
import { groupIdentity } from '../base/identity.js';
import type { ClusterRecord } from '../between/cluster-record.js';
import { firstVoters, genesis, nothing } from '../between/membership.js';
import type { DiskLevel } from '../between/protocol.js';
import { type Applied, type Event, type GroupId, type NodeId, ROOT_GROUP } from '../between/protocol.js';
import { decodeApplied } from './applied.js';
import { GroupSession } from './group-session.js';
import type { SessionContext, SessionStart } from './session-context.js';
import { SessionRecord } from './session-records.js';
import { SessionTable } from './session-table.js';
import type { State } from './state.js';

export interface SessionsOptions
  extends Pick<
    SessionContext,
    'consensus' | 'snapshots' | 'now' | 'monotonic' | 'soon' | 'failed' | 'changed'
  > {
  readonly engine: Engine;
  readonly state: State;
  readonly nodeId: NodeId;
  readonly cluster: ClusterRecord;
  readonly rooms: RoomsOfGroups;
  /**
   * Called with a session whose collection is gone: resolves when nothing of it is written to the state, or
   * read from there, any more.
   */
  readonly closing: (session: GroupSession) => Promise<void>;
  /** Called when the state had no room for what was to be removed; that is done when it is opened again. */
  readonly onDiskFull: () => void;
  readonly onFailure: (error: unknown) => void;
}

/** The part of the node that has clients in rooms. */
export interface RoomsOfGroups {
  /** Takes events that are committed, in the order of the log. */
  readonly told: (session: GroupSession, events: readonly RoomEvent[]) => void;
  /** The state of a group was replaced: events may have been missed. */
  readonly replaced: (group: GroupId) => void;
  readonly deleted: (collection: GroupId) => void;
}

/** The sessions of all groups of this node. A collection's comes and goes with the collection. */
export class Sessions {
  private readonly sessions = new Map<GroupId, GroupSession>();
  /** Users with lower ids are committed. */
  private committedIds = 0;
  private readonly opening = new Map<GroupId, Promise<void>>();
  /** Sessions that stand still until `resume`, and whether those that are opened meanwhile do. */
  private readonly paused = new Set<GroupSession>();
  private isPaused = false;
  /**
   * Collections that are gone while their data are not, each with the index in the root log behind its
   * deletion.
   */
  private readonly deleted = new Map<GroupId, number>();
  /** Settles when the data of those that may go are gone. */
  private dropping: Promise<void> = Promise.resolve();
  /** Settles when everything that is there at the start is open. */
  private started: Promise<void> = Promise.resolve();
  private disk: DiskLevel = 'ok';
  private readonly preparation = new Preparation();

  constructor(private readonly options: SessionsOptions) {}

  get all(): IterableIterator<GroupSession> {
    return this.sessions.values();
  }

  get count(): number {
    return this.sessions.size;
  }

  get root(): GroupSession {
    const root = this.sessions.get(ROOT_GROUP);
    if (root === undefined) throw new Error('the root group is not open');
    return root;
  }

  /**
   * True if this node is its whole cluster. Who leads the root group knows of every node that was let in,
   * even before it takes part in anything.
   */
  get alone(): boolean {
    const root = this.sessions.get(ROOT_GROUP);
    return root?.leading === true && this.options.engine.root.members.size < 2;
  }

  ofGroup(group: GroupId): GroupSession | undefined {
    return this.sessions.get(group);
  }

  of(target: Target): GroupSession | undefined {
    return this.sessions.get(target === 'thingsdb' || target === 'node' ? ROOT_GROUP : target);
  }

  /** The sessions of all groups; null while some of them are not open here. */
  get complete(): readonly GroupSession[] | null {
    return this.openOf([ROOT_GROUP, ...this.options.engine.root.collections.keys()]);
  }

  /** Memberships of all groups but root's; null while some of them are not open here. */
  get memberships(): readonly Membership[] | null {
    const sessions = this.openOf([...this.options.engine.root.collections.keys()]);
    return sessions?.map((session) => session.membership) ?? null;
  }

  /** The nodes that vote in the group of a new collection: those of the root group. */
  get voters(): readonly NodeId[] {
    const { members } = this.options.engine.root;
    const { voters } = this.root.membership;
    const staying = voters.filter((id) => members.get(id)?.leaving === false);
    return staying.length > 0 ? staying : voters;
  }

  /** True if the change that made a user is committed, as far as is known. Ids rise, and what is there while nothing is under way is committed. */
  isCommittedUser(id: number): boolean {
    if (!this.root.hasUncommitted) this.committedIds = this.options.engine.root.nextId;
    return id < this.committedIds;
  }

  /** Changes that the states hold for good, of all groups. */
  get changes(): number {
    let changes = 0;
    for (const { group, uncommitted } of this.sessions.values()) changes += group.changeCount - uncommitted;
    return changes;
  }

  /** Requests of all groups that wait for a commit, and for being allowed to read. */
  get queues(): GroupSession['queues'] {
    const all = { commit: 0, read: 0 };
    for (const { queues } of this.sessions.values()) {
      all.commit += queues.commit;
      all.read += queues.read;
    }
    return all;
  }

  private openOf(groups: readonly GroupId[]): readonly GroupSession[] | null {
    const sessions = groups.map((id) => this.sessions.get(id)).filter((session) => session !== undefined);
    return sessions.length === groups.length ? sessions : null;
  }

  /** Opens the root group, and every collection that the root state on disk knows. */
  open(): Promise<void> {
    this.started = this.openAll();
    return this.started;
  }

  private async openAll(): Promise<void> {
    const { engine } = this.options;
    await this.openGroup(ROOT_GROUP, engine.root);
    const { collections, nextId, collectionEvents } = engine.root;
    const ids = [...collections.keys()];
    collectionEvents.length = 0;
    // From here on the log of the root group is applied, so that collections may come and go.
    for (const id of ids) await this.follow(id);
    const known = new Set([ROOT_GROUP, ...ids]);
    await this.options.state.use(async (store) => this.dropLeftOvers(store, known, nextId));
  }

  /** True if every collection has a session, and every group a leader that is known. */
  get areServing(): boolean {
    for (const id of this.options.engine.root.collections.keys()) if (!this.sessions.has(id)) return false;
    for (const session of this.all) if (!session.leading && session.leader === 0) return false;
    return true;
  }

  handle(event: Extract<Event, { readonly group: GroupId }>): void {
    this.sessions.get(event.group)?.handle(event);
  }

  /** The state of a group was written to the disk. */
  checkpointed(session: GroupSession): void {
    if (session.id === ROOT_GROUP) this.dropDeleted();
  }

  /** Room on the disk, which decides if changes are taken. */
  setDisk(level: DiskLevel): void {
    this.disk = level;
    for (const session of this.sessions.values()) session.setDisk(level);
  }

  /** Lets no call run and no state change, for `resume` to end. May be called again before. */
  pause(): void {
    this.isPaused = true;
    for (const session of this.sessions.values()) this.pauseOne(session);
  }

  /** Resolves when what was to be opened or removed by now is. That may wait for the state on disk. */
  async whenOpened(): Promise<void> {
    await Promise.allSettled([this.started, ...this.opening.values(), this.dropping]);
  }

  /** The state can't be opened while everything is paused: whoever waits for it is told. */
  shut(): void {
    for (const session of this.paused) session.shut();
  }

  resume(): void {
    this.isPaused = false;
    const paused = [...this.paused];
    this.paused.clear();
    for (const session of paused) session.resume();
    // The disk may have had no room for that.
    this.dropDeleted();
  }

  private pauseOne(session: GroupSession): void {
    if (this.paused.has(session)) return;
    this.paused.add(session);
    session.pause();
  }

  /**
   * Ids are never used again: a group below the next id that no collection has belongs to one that was
   * deleted just before a crash.
   *
   * @param known the groups of the root state on disk, and `below` its next id
   */
  private dropLeftOvers(store: StateStore, known: ReadonlySet<GroupId>, below: number): void {
    const { consensus } = this.options;
    consensus.send({ kind: 'retain', groups: [...known], below });
    for (const id of store.groups()) {
      if (id < below && !known.has(id)) this.deleted.set(id, LEFT_OVER);
    }
    this.dropDeleted();
  }

  /** Opens and closes groups after collections came or went for good. */
  private followCollections(events: readonly CollectionEvent[]): void {
    for (const { kind, id } of events) if (kind === 'deleted') this.options.rooms.deleted(id);
    for (const { id } of events) this.follow(id).catch(this.options.onFailure);
  }

  /** Opens or closes the group of a collection, whichever is due. */
  private async follow(id: GroupId): Promise<void> {
    if (!this.options.engine.root.collections.has(id)) {
      await this.closeCollection(id);
    } else if (!this.sessions.has(id) && !this.opening.has(id)) {
      const opening = this.openCollection(id).finally(() => this.opening.delete(id));
      this.opening.set(id, opening);
      await opening;
    }
  }

  private async openCollection(id: GroupId): Promise<void> {
    const group = this.makeCollection(id);
    try {
      await this.openGroup(id, group, () => group.create());
    } catch (error) {
      // Half a collection must not be found.
      this.options.engine.collections.close(id);
      throw error;
    }
  }

  private makeCollection(id: GroupId): CollectionGroup {
    const { engine, state } = this.options;
    return engine.collections.open(id, {
      read: (kind: number, thing: number, part: number) => state.store.read(id, kind, thing, part),
    });
  }

  /** Brings the state of a group into memory, as far as it must be, and starts its session. */
  private async openGroup(id: GroupId, group: Group, create?: () => void): Promise<void> {
    // Asked at once: a collection may be deleted while its state is read, and has no members then.
    const beginning = this.genesisOf(id);
    const campaigns = this.isFirst(id);
    await this.options.state.use(async (store) => {
      const stored = store.applied(id);
      const isNew = stored === undefined;
      const table = new SessionTable();
      if (!isNew) await this.load(store, id, group, table);
      const applied = isNew ? beginning : decodeApplied(stored);
      // A state that is not stored yet begins empty with the group, or comes as a snapshot.
      if (isNew && applied.index > 0) create?.();
      this.begin(id, group, table, applied, { isNew, campaign: isNew && campaigns });
    });
  }

  private begin(id: GroupId, group: Group, table: SessionTable, applied: Applied, start: SessionStart): void {
    const { consensus, now, monotonic, soon, failed, changed, rooms, snapshots } = this.options;
    const collectionsChanged = (events: readonly CollectionEvent[]): void => this.followCollections(events);
    const context = {
      consensus,
      now,
      monotonic,
      soon,
      failed,
      preparation: this.preparation,
      changed,
      collectionsChanged,
      roomEvents: rooms.told,
      snapshots,
      alone: () => this.alone,
    };
    const session = new GroupSession(id, group, table, applied, start, context);
    session.setDisk(this.disk);
    this.sessions.set(id, session);
    if (this.isPaused) this.pauseOne(session);
  }

  /**
   * Makes the state on disk, which was replaced by a snapshot, that of the session.
   *
   * @param session a session that is paused
   * @param store the state on disk, which stays open
   * @returns false if its collection was deleted meanwhile
   */
  async replace(session: GroupSession, applied: Applied, store: StateStore): Promise<boolean> {
    const { engine } = this.options;
    const { id } = session;
    const isGone = (): boolean => this.sessions.get(id) !== session;
    if (isGone()) return false;
    let group: Group = engine.root;
    if (id === ROOT_GROUP) {
      engine.root.clear();
    } else {
      engine.collections.close(id);
      group = this.makeCollection(id);
    }
    const table = new SessionTable();
    await this.load(store, id, group, table);
    if (id === ROOT_GROUP) engine.root.loaded();
    if (isGone()) return false;
    session.replaceState(group, table, applied);
    this.options.rooms.replaced(id);
    if (id === ROOT_GROUP) this.followRoot();
    return true;
  }

  /** Opens and closes groups so that they are those of the root state. */
  private followRoot(): void {
    const { collections, collectionEvents } = this.options.engine.root;
    collectionEvents.length = 0;
    const events: CollectionEvent[] = [];
    for (const id of collections.keys()) if (!this.sessions.has(id)) events.push({ kind: 'created', id });
    for (const id of this.sessions.keys()) {
      if (id !== ROOT_GROUP && !collections.has(id)) events.push({ kind: 'deleted', id });
    }
    this.followCollections(events);
  }

  private async load(store: StateStore, id: GroupId, group: Group, table: SessionTable): Promise<void> {
    await loadGroup(group, (first, last) => store.scan(id, first, last));
    const kinds = Object.values(SessionRecord);
    for await (const record of store.scan(id, Math.min(...kinds), Math.max(...kinds)))
      table.loadRecord(record.kind, record.id, record.part, record.value);
  }

  /** The nodes that a group begins with; null for one that began before this node came. */
  private firstMembers(id: GroupId): readonly NodeId[] | null {
    const { cluster, engine, nodeId } = this.options;
    const members =
      id === ROOT_GROUP
        ? cluster.founders?.map((founder) => founder.nodeId)
        : engine.root.collections.get(id)?.members;
    if (members === undefined) return null;
    const voters = firstVoters(members);
    return voters.includes(nodeId) ? voters : null;
  }

  private genesisOf(id: GroupId): Applied {
    const members = this.firstMembers(id);
    return members === null ? nothing() : genesis(members, groupIdentity(this.options.cluster, id));
  }

  /**
   * True if this node is the one that calls the first election: who leads the root group then also made the
   * collection.
   */
  private isFirst(id: GroupId): boolean {
    const members = this.firstMembers(id);
    if (members === null) return false;
    return id === ROOT_GROUP ? Math.min(...members) === this.options.nodeId : this.root.leading;
  }

  private async closeCollection(id: GroupId): Promise<void> {
    await this.opening.get(id);
    const session = this.sessions.get(id);
    if (session === undefined) return;
    const { engine } = this.options;
    this.sessions.delete(id);
    engine.collections.close(id);
    session.abandon(gone(), true);
    await this.options.closing(session);
    this.deleted.set(id, this.root.appliedIndex);
    this.dropDeleted();
  }

  /**
   * Removes the log and the state of deleted collections, once the root state on disk knows that they are
   * deleted. Until then a restart opens them once more, and must find both.
   */
  private dropDeleted(): void {
    if (this.deleted.size === 0) return;
    const { onDiskFull, onFailure } = this.options;
    this.dropping = this.dropping
      .then(() => this.dropDurablyDeleted())
      .catch((error: unknown) => (isDiskFull(error) ? onDiskFull() : onFailure(error)));
  }

  private dropDurablyDeleted(): Promise<void> {
    const { state, consensus } = this.options;
    return state.use(async (store) => {
      const durable = store.applied(ROOT_GROUP)?.index ?? 0;
      for (const [id, index] of [...this.deleted]) {
        if (index > durable) continue;
        if (index > LEFT_OVER) consensus.send({ kind: 'drop', group: id });
        await store.dropGroup(id);
        this.deleted.delete(id);
      }
    });
  }
}

/** In the place of an index: deleted before the start, and its log is let go already. */
const LEFT_OVER = 0;

function gone(): QueryError {
  return lookupError('the collection was deleted');
}
