/**
 * A collection that is being made of data of ThingsDB: things, rooms and types by the ids that they have there. It is one of its own, so
 * that whatever is wrong with the data, nothing is left of it.
 */
import { ByteWriter } from '../bytes.js';
import type { Type } from '../schema/type.js';
import { CollectionGroup } from '../state/collection-group.js';
import { TaskEditor } from '../state/parts/tasks.js';
import { EMPTY_SOURCE } from '../state/records.js';
import type { Store } from '../state/store.js';
import { type Charge, Transaction } from '../state/transaction.js';
import { eachThing } from '../value/kinds.js';
import { Room } from '../value/room.js';
import { ShapeTree } from '../value/shape.js';
import { Task } from '../value/task.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { DamagedDataError } from './input.js';

/** The id of the root of every collection. */
const ROOT = 1;

/** Highest id that a thing may have. */
const ID_MAX = 2 ** 47;

/** Units charged for a thing, and for the places of others near it that may not be there. */
const UNITS_PER_THING = 256;

export class CollectionBuilder {
  readonly store: Store;
  /** The id of the root in the data, which is another one in collections of old versions; null until it is known. */
  rootId: number | null = null;
  /** True if the next thing is the root. */
  private expectsRoot = false;
  /** Things that came without an id. */
  private readonly unnumbered: Thing[] = [];
  /**
   * True if changes are being repeated that a server made one after the other. What is loose between two of them, and what does not fit
   * its definition yet, may be in its place by the end.
   */
  isReplaying = false;
  /** Instances that came since they were looked at last, while changes are being repeated. */
  readonly newInstances: Thing[] = [];
  /** The users that tasks belong to, by the ids of both in the data, where these tell. */
  readonly taskOwners = new Map<number, number>();

  constructor(
    readonly charge: Charge,
    readonly group: CollectionGroup = new CollectionGroup(0, new ShapeTree(), EMPTY_SOURCE),
  ) {
    this.store = group.store;
  }

  /** The root; made when there is none yet. */
  get root(): Thing {
    const known = this.store.table.get(ROOT);
    if (known !== undefined) return known;
    this.group.create();
    return this.store.root;
  }

  /** The thing with an id of the data; undefined for one that did not come yet. */
  find(id: number): Thing | undefined {
    const own = this.ownId(id);
    return own === null ? undefined : this.store.find(own);
  }

  /** A new thing, without properties. */
  make(id: number, offset: number): Thing {
    this.charge(UNITS_PER_THING);
    const { store } = this;
    const thing = new Thing(0, store.shapes.empty(), []);
    if (this.expectsRoot) {
      this.expectsRoot = false;
      this.rootId = id;
      // The collection itself refers to its root.
      thing.refs = 1;
    } else if (id === 0) {
      this.unnumbered.push(thing);
      return thing;
    }
    const own = this.ownId(id);
    if (own === null || id > ID_MAX || this.isTaken(own))
      throw new DamagedDataError(offset, `there are two with the id ${id}, or it can not be`);
    store.register(thing, own);
    return thing;
  }

  /** A thing has its properties: what they refer to is counted. */
  complete(thing: Thing): void {
    if (thing.id !== 0) this.store.adopt(thing);
    if (this.isReplaying && thing.shape.type !== null) this.newInstances.push(thing);
  }

  /** Says that the next thing is the root. */
  expectRoot(): void {
    this.expectsRoot = true;
  }

  get hasRoot(): boolean {
    return this.store.table.get(ROOT) !== undefined;
  }

  room(id: number, offset: number): Room {
    const { rooms } = this.store;
    const known = rooms.byId.get(id);
    if (known !== undefined) return known;
    if (id === 0 || id > ID_MAX || this.isTaken(id))
      throw new DamagedDataError(offset, `a room can not have the id ${id}`);
    this.charge(UNITS_PER_THING);
    const room = new Room();
    rooms.register(room, id);
    return room;
  }

  task(id: number): Task {
    return this.group.tasks.stateOf(id) === undefined ? new Task(0, null) : this.store.taskOf(id);
  }

  /** True if a thing, room or task has this id. */
  isTaken(id: number): boolean {
    const { store, group } = this;
    return store.find(id) !== undefined || store.rooms.byId.has(id) || group.tasks.stateOf(id) !== undefined;
  }

  /** A type that values name: one that was deleted, if there is none with the id. */
  type(id: number): Type {
    const { schema } = this.store;
    if (schema.stateOfType(id) === undefined) {
      // No type that is made later has this name, and so none gets the id.
      schema.setType(id, { gone: `#${id}`, generation: 0 });
      schema.typeIds.nextId = Math.max(schema.typeIds.nextId, id + 1);
    }
    return schema.type(id);
  }

  /** Does a change to what is there. */
  change<T>(work: (transaction: Transaction) => T): T {
    const transaction = new Transaction(this.store, true, new ByteWriter(), this.charge);
    const result = work(transaction);
    if (!this.isReplaying) transaction.finish();
    return result;
  }

  /** Removes things that neither the root, nor a member of an enum, nor an argument of a task leads to. */
  removeUnreached(): void {
    const { store, group, charge } = this;
    const reached = new Set<Thing>([store.root]);
    const open = [store.root];
    const reach = (value: Value): void =>
      eachThing(value, (thing) => {
        if (reached.has(thing)) return;
        reached.add(thing);
        open.push(thing);
      });
    for (const { def } of store.schema.allEnums()) for (const { value } of def?.members ?? []) reach(value);
    for (const args of group.tasks.arguments()) reach(args);
    for (let thing = open.pop(); thing !== undefined; thing = open.pop()) {
      charge(1);
      thing.forEach((_, value) => {
        reach(value);
      });
    }
    const garbage = [...store.all()].filter((thing) => !reached.has(thing)).map(({ id }) => id);
    if (garbage.length > 0) this.change((transaction) => transaction.removeGarbage(garbage));
  }

  /** Ends it: what has no id gets one, and what nothing refers to goes. */
  finish(): void {
    const { store } = this;
    void this.root;
    // Things that a change put somewhere have one.
    const loose = this.unnumbered.splice(0).filter(({ id }) => id === 0);
    for (const thing of loose) store.register(thing, store.nextId);
    for (const thing of loose) store.adopt(thing);
    // Arguments of a task that there is not are read, and nobody keeps them.
    for (const thing of store.all()) if (thing.refs === 0) store.orphans.add(thing);
    for (const room of store.rooms.byId.values()) if (room.refs === 0) store.rooms.orphans.add(room);
    this.change(() => {});
  }

  /** The id here of an id of the data; null for one that nothing can have. */
  private ownId(id: number): number | null {
    const { rootId } = this;
    if (rootId === null || rootId === ROOT) return id;
    if (id === rootId) return ROOT;
    return id === ROOT ? null : id;
  }
}

/** Takes the tasks of a collection away, with what only their arguments hold. */
export function dropTasks(group: CollectionGroup): void {
  new CollectionBuilder(() => {}, group).change((transaction) => {
    const editor = new TaskEditor(group.tasks, transaction);
    for (const task of group.tasks.list()) editor.delete(task);
  });
}

/**
 * Gives the tasks of a collection to users.
 *
 * @param owners ids of users by those of tasks
 * @param other the user who gets the others
 */
export function giveTasks(
  { tasks }: CollectionGroup,
  owners: ReadonlyMap<number, number>,
  other: number,
): void {
  for (const state of [...tasks.all()]) tasks.put({ ...state, owner: owners.get(state.id) ?? other });
}
