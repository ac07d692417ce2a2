/**
 * Checks that a checkpoint holds what it says. The entries of each group are repeated, one by one, on states that only this
 * has; what a checkpoint holds must be what the entries up to its index make, record by record, and its membership the
 * one that is known for that index. So what was captured a moment too early or too late is found at once, also where the
 * log would make it good later.
 */
import {
  CollectionGroup,
  EMPTY_SOURCE,
  type Group,
  RecordKind,
  RootGroup,
  ShapeTree,
  writeCheckpoint,
} from '@althing/engine';
import {
  decodeApplied,
  decodeEntry,
  decodeMembership,
  type Event,
  type GroupId,
  ROOT_GROUP,
  SessionRecord,
  SessionTable,
  StateDigest,
  stateDigest,
} from '@althing/node/parts';
import type { StateRecord } from '@althing/storage';
import type { TraceEvent } from 'raft-ts';
import type { Process } from './process.js';
import { Violation } from './watcher.js';

/** Checkpoints of a run whose contents are looked at. */
const LOOKS_MAX = 200;

interface Look {
  readonly node: string;
  readonly group: GroupId;
  readonly index: number;
  readonly digest: string;
}

/** The kind of a log record that holds a change. */
const NORMAL = 1;

export class Contents {
  /** Payloads of changes by their index; undefined for an entry of Raft's own. */
  private readonly entries = new Map<GroupId, Map<number, Uint8Array | undefined>>();
  /** Each membership, as text, by the index from which it holds. */
  private readonly memberships = new Map<GroupId, Map<number, string>>();
  private readonly reading = new WeakMap<Process, Set<GroupId>>();
  private readonly looks: Look[] = [];

  onTrace(group: GroupId, event: TraceEvent): void {
    if (event.type === 'membership')
      ofGroup(this.memberships, group).set(event.index, JSON.stringify(event.membership));
  }

  /** The entries of a group that are committed, by their index; undefined for one of Raft's own. */
  entriesOf(group: GroupId): ReadonlyMap<number, Uint8Array | undefined> {
    return ofGroup(this.entries, group);
  }

  /** Takes up what is committed. */
  onEvent(process: Process, event: Event): void {
    if (event.kind !== 'entries' && event.kind !== 'committed') return;
    const entries = ofGroup(this.entries, event.group);
    const view = process.view(event.group);
    if (view === undefined) return;
    // Back from the last one to those that are known.
    let low = Math.min(event.last.index, view.lastIndex);
    while (low >= view.firstIndex && !entries.has(low)) low -= 1;
    const high = Math.min(event.last.index, view.lastIndex) + 1;
    if (high <= low + 1) return;
    for (const { index, type, payload } of view.entries(low + 1, high, Number.MAX_SAFE_INTEGER))
      entries.set(index, type === NORMAL ? payload.slice() : undefined);
  }

  /** Reads a checkpoint that has just become durable. */
  onCheckpoint(process: Process, group: GroupId, violate: (error: unknown) => void): void {
    const reading = this.reading.get(process) ?? new Set();
    this.reading.set(process, reading);
    if (this.looks.length >= LOOKS_MAX || reading.has(group)) return;
    reading.add(group);
    this.read(process, group)
      .catch((error: unknown) => {
        if (error instanceof Violation) violate(error);
        // Anything else is found by those who need the state: it may also have been closed meanwhile.
      })
      .finally(() => reading.delete(group));
  }

  private async read(process: Process, group: GroupId): Promise<void> {
    const source = await process.state?.store.openSnapshot(group);
    if (source === undefined) return;
    try {
      const { index, membership } = decodeApplied(source.header.applied);
      const known = this.membershipAt(group, index);
      const held = JSON.stringify(decodeMembership(membership));
      const where = `the checkpoint of group ${group} at ${index} on ${process.machine.name}`;
      if (known !== null && held !== known) throw new Violation('I4', `${where} has the membership ${held}`);
      const digest = await stateDigest(group, source, () => Promise.resolve());
      this.looks.push({ node: process.machine.name, group, index, digest: digest.toString('hex') });
    } finally {
      await source.close();
    }
  }

  /**
   * Compares what was read.
   *
   * @returns how many checkpoints were compared
   * @throws Violation
   */
  check(): number {
    let compared = 0;
    for (const group of new Set(this.looks.map((look) => look.group))) {
      const looks = this.looks.filter((look) => look.group === group).sort((a, b) => a.index - b.index);
      const shadow = new Shadow(group, ofGroup(this.entries, group));
      for (const { index, digest, node } of looks) {
        if (!shadow.entries.advance(index)) break;
        compared += 1;
        if (shadow.digest() === digest) continue;
        throw new Violation(
          'I4',
          `the checkpoint of group ${group} at ${index} on ${node} holds something else`,
        );
      }
    }
    return compared;
  }

  private membershipAt(group: GroupId, index: number): string | null {
    let latest = -1;
    const known = ofGroup(this.memberships, group);
    for (const from of known.keys()) if (from <= index && from > latest) latest = from;
    return known.get(latest) ?? null;
  }
}

/** Takes the entries of a group, one by one, as far as they are known. */
export class Repetition {
  private index: number;

  constructor(
    private readonly entries: ReadonlyMap<number, Uint8Array | undefined>,
    private readonly take: (payload: Uint8Array) => void,
  ) {
    // The first index stands for the members that a group begins with.
    this.index = Math.min(1, ...entries.keys());
  }

  /** Takes entries up to an index; returns false when one of them is not known. */
  advance(index: number): boolean {
    while (this.index < index) {
      if (!this.entries.has(this.index + 1)) return false;
      this.index += 1;
      const payload = this.entries.get(this.index);
      if (payload !== undefined) this.take(payload);
    }
    return true;
  }
}

/** The state that the entries of a group make. */
class Shadow {
  readonly entries: Repetition;
  private readonly group: Group;
  private readonly table = new SessionTable();
  private readonly records = new Map<string, StateRecord>();

  constructor(
    private readonly id: GroupId,
    entries: ReadonlyMap<number, Uint8Array | undefined>,
  ) {
    this.entries = new Repetition(entries, (payload) => {
      const { head, effects } = decodeEntry(payload);
      this.group.apply(effects);
      this.table.note(head);
    });
    if (id === ROOT_GROUP) {
      this.group = new RootGroup();
    } else {
      const collection = new CollectionGroup(id, new ShapeTree(), EMPTY_SOURCE);
      collection.create();
      this.group = collection;
    }
  }

  /** The digest of what a checkpoint that stands for this index must hold. */
  digest(): string {
    const { group, records } = this;
    const sink = {
      put: (kind: number, id: number, part: number, value: Uint8Array) => {
        records.set(`${kind} ${id} ${part}`, { kind, id, part, value: Buffer.from(value) });
      },
      delete: (kind: number, id: number, part: number) => {
        records.delete(`${kind} ${id} ${part}`);
      },
    };
    writeCheckpoint(group, sink);
    group.dirty.release();
    sink.put(RecordKind.META, 0, 0, group.encodeMeta());
    for (const { kind, id, part } of [...records.values()]) {
      if (SESSION_KINDS.has(kind)) sink.delete(kind, id, part);
    }
    this.table.writeAll(sink);
    const digest = new StateDigest(this.id);
    for (const record of [...records.values()].sort(byName)) digest.add(record);
    return digest.end().toString('hex');
  }
}

const SESSION_KINDS: ReadonlySet<number> = new Set(Object.values(SessionRecord));

function byName(a: StateRecord, b: StateRecord): number {
  return a.kind - b.kind || a.id - b.id || a.part - b.part;
}

function ofGroup<Key, Value>(maps: Map<GroupId, Map<Key, Value>>, group: GroupId): Map<Key, Value> {
  let map = maps.get(group);
  if (map === undefined) {
    map = new Map();
    maps.set(group, map);
  }
  return map;
}
