import {
  type CollectionEvent,
  type Engine,
  ErrorCode,
  type Group,
  QueryError,
  RecordKind,
  type Target,
} from '@althing/engine';
import type { StateStore } from '@althing/storage';
import { genesis } from '../consensus/membership.js';
import { type Applied, type Consensus, type Event, type GroupId, ROOT_GROUP } from '../consensus/protocol.js';
import { groupIdentity, type Identity } from '../identity.js';
import { decodeApplied } from './applied.js';
import type { Checkpointer } from './checkpointer.js';
import { GroupSession } from './group-session.js';

export interface SessionsOptions {
  readonly engine: Engine;
  readonly states: StateStore;
  readonly consensus: Consensus;
  readonly identity: Identity;
  readonly now: () => number;
  readonly changed: (session: GroupSession) => void;
  readonly onFailure: (error: unknown) => void;
}

/** The sessions of all groups of this node. A collection's comes and goes with the collection. */
export class Sessions {
  private readonly options: SessionsOptions;
  private readonly sessions = new Map<GroupId, GroupSession>();
  private readonly opening = new Map<GroupId, Promise<void>>();
  private checkpointer: Checkpointer | null = null;

  constructor(options: SessionsOptions) {
    this.options = options;
  }

  /** Tells who writes checkpoints: a group that goes away must not be written any more. */
  useCheckpointer(checkpointer: Checkpointer): void {
    this.checkpointer = checkpointer;
  }

  get all(): IterableIterator<GroupSession> {
    return this.sessions.values();
  }

  get root(): GroupSession {
    const root = this.sessions.get(ROOT_GROUP);
    if (root === undefined) throw new Error('the root group is not open');
    return root;
  }

  of(target: Target): GroupSession | undefined {
    return this.sessions.get(target === 'thingsdb' || target === 'node' ? ROOT_GROUP : target);
  }

  /** Opens the root group, and every collection that the root state on disk knows. */
  async open(): Promise<void> {
    const { engine } = this.options;
    await this.openGroup(ROOT_GROUP, engine.root);
    for (const id of engine.root.collections.keys()) await this.openCollection(id);
    engine.root.collectionEvents.length = 0;
  }

  handle(event: Extract<Event, { readonly group: GroupId }>): void {
    this.sessions.get(event.group)?.handle(event);
  }

  setDiskFull(full: boolean): void {
    for (const session of this.sessions.values()) session.setDiskFull(full);
  }

  /** Opens and closes groups after collections came or went for good. */
  private followCollections(events: readonly CollectionEvent[]): void {
    const { engine, onFailure } = this.options;
    for (const { id } of events) {
      const exists = engine.root.collections.has(id);
      if (exists && !this.sessions.has(id) && !this.opening.has(id)) {
        const opening = this.openCollection(id)
          .catch(onFailure)
          .finally(() => this.opening.delete(id));
        this.opening.set(id, opening);
      } else if (!exists) {
        this.closeCollection(id).catch(onFailure);
      }
    }
  }

  private async openCollection(id: GroupId): Promise<void> {
    const { engine, states } = this.options;
    const source = {
      read: (kind: number, thing: number, part: number) => states.read(id, kind, thing, part),
    };
    const group = engine.openCollection(id, source);
    await this.openGroup(id, group, () => group.create());
  }

  /** Brings the state of a group into memory, as far as it must be, and starts its session. */
  private async openGroup(id: GroupId, group: Group, create?: () => void): Promise<void> {
    const { states, consensus, now, changed } = this.options;
    const stored = states.applied(id);
    if (stored === undefined) create?.();
    else await this.load(id, group);
    const applied = stored === undefined ? this.genesisOf(id) : decodeApplied(stored);
    const collectionsChanged = (events: readonly CollectionEvent[]): void => this.followCollections(events);
    const context = { consensus, now, changed, collectionsChanged };
    this.sessions.set(id, new GroupSession(id, group, applied, context));
  }

  private async load(id: GroupId, group: Group): Promise<void> {
    for (const kind of Object.values(RecordKind)) {
      if (kind === RecordKind.THING) continue;
      for await (const record of this.options.states.scan(id, kind)) {
        group.loadRecord(record.kind, record.id, record.value);
      }
    }
  }

  private genesisOf(id: GroupId): Applied {
    const { identity } = this.options;
    return genesis([identity.nodeId], groupIdentity(identity, id));
  }

  private async closeCollection(id: GroupId): Promise<void> {
    await this.opening.get(id);
    const session = this.sessions.get(id);
    if (session === undefined) return;
    const { engine, states, consensus } = this.options;
    this.sessions.delete(id);
    engine.closeCollection(id);
    session.abandon(gone());
    consensus.send({ kind: 'drop', group: id });
    await this.checkpointer?.forget(session);
    await states.dropGroup(id);
  }
}

function gone(): QueryError {
  return new QueryError(ErrorCode.LOOKUP, 'the collection was deleted');
}
