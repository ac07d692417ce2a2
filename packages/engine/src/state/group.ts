/**
 * The state of one Raft group, and what all groups have in common.
 *
 *   effects := effect*
 *   effect  := 01 to 0c: things, see `effects.ts`
 *            | 10 to 14: types and enums, see `parts/schema.ts`
 *            | 15 to 19: indexes, see `parts/indexes.ts`
 *            | 1a and 1b: loads, see `parts/loads.ts`
 *            | 1c: a definition as it was, see `parts/former-definitions.ts`
 *            | 1d to 1f: jobs, see `parts/jobs.ts`
 *            | 20 to 22: procedures, see `parts/procedures.ts`
 *            | 23 and 24: commit history, see `parts/commits.ts`
 *            | 25 to 27: tasks, see `parts/tasks.ts`
 *            | 29 to 2c: rooms and their events, see `parts/rooms.ts`
 *            | 30 kind:u8 id:varint part:varint length:varint bytes    a record of a backup
 *            | 31 length:varint contents    things, types and enums of an empty collection, see `transfer.ts`
 *            | 40 and above: the root scope, see `admin/root-effects.ts`
 *
 *   META    := format:u8 changes:varint ...    the counters; the rest is described by the kinds of groups
 */
import { ByteReader, ByteWriter, FormatError } from '../bytes.js';
import type { Thing } from '../value/thing.js';
import type { Dirty } from './dirty.js';
import { type BoundEffect, committedEffect, effectsOn } from './effect.js';
import type { RoomEvent } from './events.js';
import { Commits } from './parts/commits.js';
import { claim, type GroupPart, GroupParts } from './parts/part.js';
import { Procedures } from './parts/procedures.js';
import { Tasks } from './parts/tasks.js';
import { RecordKind, type RecordSink } from './records.js';

/** A record of a group, as it lies on disk. */
export interface GroupRecord {
  readonly kind: number;
  readonly id: number;
  readonly part: number;
  readonly value: Uint8Array;
}

export const GroupEffect = {
  /** Takes a record of a backup over. */
  RESTORE: committedEffect<Pick<Group, 'restoreRecord'>, [record: GroupRecord]>({
    code: 0x30,
    write: (out, { kind, id, part, value }) => {
      out.u8(kind);
      out.varint(id);
      out.varint(part);
      out.blob(value);
    },
    read: (input) => [{ kind: input.u8(), id: input.varint(), part: input.varint(), value: input.blob() }],
    apply: (group, record) => group.restoreRecord(record),
  }),
};

/**
 * The state of one Raft group: of the root scope, or of one collection. It changes by effects alone. `Transaction` and
 * the editors that use it make and record them on the leader; `apply` repeats them everywhere else.
 */
export abstract class Group {
  /** Number of the last change; rises by one with each. */
  changeCount = 0;
  readonly procedures: Procedures;
  readonly commits: Commits;
  readonly tasks: Tasks;
  readonly parts: GroupParts;
  /** All effects that the group knows, by code. */
  private readonly effects = new Map<number, BoundEffect>();

  /** @param parts those that only this kind of group has */
  constructor(
    readonly dirty: Dirty,
    parts: readonly GroupPart[],
  ) {
    this.procedures = new Procedures(dirty);
    this.commits = new Commits(dirty);
    this.tasks = new Tasks(dirty);
    this.parts = new GroupParts([this.procedures, this.commits, this.tasks, ...parts]);
    this.takeEffects(effectsOn(this, GroupEffect));
    for (const part of this.parts) this.takeEffects(part.effects);
    dirty.beforeFreeze = () => {
      for (const part of this.parts) part.flush?.();
    };
  }

  /** Takes up effects that belong to no part. */
  protected takeEffects(effects: readonly BoundEffect[]): void {
    for (const effect of effects) claim(this.effects, effect.code, effect);
  }

  /** Applies the effects of one committed change. */
  apply(effects: Uint8Array): void {
    const input = new ByteReader(effects);
    while (input.remaining > 0) this.effect(input.u8()).repeat(input);
    this.noteChange(effects.length);
  }

  /** Says that the change which was made or applied is complete, whose effects have so many bytes. */
  noteChange(_bytes: number): void {
    this.changeCount += 1;
  }

  /** Says that no change up to one, which is committed, is taken back any more; `changeCount` is its number. */
  settle(_change: number): void {}

  /** Reads past an effect whose code was read already. */
  pass(code: number, input: ByteReader): void {
    this.effect(code).pass(input);
  }

  private effect(code: number): BoundEffect {
    const effect = this.effects.get(code);
    // A node that skipped it would have another state than the leader from then on.
    if (effect === undefined) throw new FormatError(`unknown effect ${code}`);
    return effect;
  }

  /** Events for clients, of changes that were applied since the last call. */
  takeRoomEvents(): readonly RoomEvent[] {
    return NO_EVENTS;
  }

  /** Empties the state, for that of a snapshot to be loaded. */
  clear(): void {
    this.changeCount = 0;
    for (const part of this.parts) part.clear();
    this.dirty.clear();
  }

  /** Takes up a record of the last checkpoint, in any order. Things are not among them: they are read when touched. */
  loadRecord(kind: number, id: number, value: Uint8Array, part = 0): void {
    if (kind === RecordKind.META) {
      this.loadMeta(value);
      return;
    }
    const owned = this.parts.ofKind(kind);
    if (owned === undefined) throw new FormatError(`unexpected record of kind ${kind}`);
    owned.part.load(owned.kind, id, part, value);
  }

  /** Takes a record of a backup over. The counters come last. */
  restoreRecord({ kind, id, part, value }: GroupRecord): void {
    this.loadRecord(kind, id, value, part);
    const owned = this.parts.ofKind(kind);
    if (owned !== undefined) this.dirty.put(owned.kind, id, part, value);
  }

  /** Counters that only some kinds of groups have. */
  protected abstract writeMeta(out: ByteWriter): void;
  protected abstract readMeta(input: ByteReader): void;

  /** The counters of the group as they are now, for the record META. */
  encodeMeta(): Uint8Array {
    const out = new ByteWriter();
    out.u8(META_FORMAT);
    out.varint(this.changeCount);
    this.writeMeta(out);
    return out.take();
  }

  /** The part of the record META that is the same on all nodes: they may have written it in different formats. */
  static sharedMeta(meta: Uint8Array): Uint8Array {
    return meta.subarray(1);
  }

  private loadMeta(value: Uint8Array): void {
    const input = new ByteReader(value);
    const format = input.u8();
    if (format < META_FORMAT_FIRST || format > META_FORMAT) {
      throw new FormatError(
        `state of format ${format}; this version reads ${META_FORMAT_FIRST} to ${META_FORMAT}`,
      );
    }
    this.changeCount = input.varint();
    this.readMeta(input);
  }

  /** Writes one thing to a checkpoint; `saveRest` follows when all were. Only collections have things. */
  saveThing(_thing: Thing, _sink: RecordSink): void {
    throw new Error('this group has no things');
  }

  /** Writes what `saveThing` left of large things, a little at each step. */
  *saveRest(_sink: RecordSink): Generator<void, void, undefined> {}

  /** Notes that a thing that was saved did not become durable. */
  saveThingAgain(_thing: Thing): void {
    throw new Error('this group has no things');
  }

  /** Ends a checkpoint that failed: everything that it should have written is dirty again. */
  abandonCheckpoint(): void {
    this.dirty.refreeze((thing) => this.saveThingAgain(thing));
  }
}

const NO_EVENTS: readonly RoomEvent[] = [];

/** 2: large values of things lie in pages, see `pages/value-pages.ts`. */
const META_FORMAT = 2;
const META_FORMAT_FIRST = 1;
