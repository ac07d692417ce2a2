import type { Change } from '../calls/call.js';
import { beginCheckpoint } from '../state/checkpoint.js';
import type { CollectionGroup } from '../state/collection-group.js';
import { allThings, groupLines } from '../state/describe.js';
import type { Marking } from '../state/marking.js';
import { Preparation } from '../state/preparation.js';
import { EMPTY_SOURCE, RecordKind, type RecordSource } from '../state/records.js';
import { takeBack } from '../state/transaction.js';
import { Harness } from './harness.js';
import { VARS } from './life-statements.js';
import { nameOf, RecordMap, StagedRecords } from './record-map.js';
import { brokenRules, savedRecords, schemaLines, sharedLines, stateLines } from './state-lines.js';

/** A collection with its log and its disk. */
export class Life {
  readonly harness: Harness;
  private readonly disk = new RecordMap();
  /** Effects of all changes so far; those of `pending` are the last ones. */
  log: Uint8Array[] = [];
  readonly pending: Change[] = [];
  /** The number of changes that the disk stands for. */
  private applied = 0;
  /** Another node, which takes everything from the log. */
  private mirror = newHarness();
  private mirrored = 0;
  private readonly saved = new Map<string, Uint8Array>();
  private checkpoint: Checkpoint | null = null;
  private marking: Marking | null = null;

  constructor() {
    this.harness = newHarness(this.disk);
  }

  get group(): CollectionGroup {
    return this.harness.collection;
  }

  query(code: string, mustSucceed = false): void {
    const outcome = this.harness.outcome(code, { vars: VARS });
    if (mustSucceed && outcome.kind === 'error') throw outcome.error;
    if (outcome.kind === 'value' && outcome.change !== null) this.changed(outcome.change);
  }

  /** A query at another node, which leads now: what is not committed here is lost, and ids that were used for it are given again there. */
  queryElsewhere(code: string): void {
    this.depose(this.pending.length);
    this.catchUp();
    const outcome = this.mirror.outcome(code, { vars: VARS });
    if (outcome.kind !== 'value' || outcome.change === null) return;
    this.log.push(outcome.change.effects);
    this.mirrored = this.log.length;
    const { effects } = outcome.change;
    for (const _ of new Preparation(1).of(this.group, effects) ?? []) this.evictSome();
    this.group.apply(effects);
  }

  commit(): void {
    this.pending.length = 0;
    this.settle();
  }

  /** Says which changes are committed. */
  private settle(): void {
    this.group.settle(this.group.changeCount - this.pending.length);
  }

  /** Takes the last changes that are not committed back. Does not look at anything: that would touch every thing. */
  depose(count: number): void {
    for (let i = 0; i < count; i++) {
      const change = this.pending.pop();
      if (change === undefined) return;
      takeBack(change.undo);
      this.log.pop();
      if (this.checkpoint !== null && this.checkpoint.index > this.log.length) this.checkpoint.isLost = true;
      if (this.mirrored > this.log.length) {
        this.resetMirror();
      }
    }
  }

  begin(): void {
    if (this.checkpoint !== null) return;
    this.checkpoint = new Checkpoint(this.group, this.log.length, this.lines());
  }

  encode(count: number): void {
    this.checkpoint?.encode(count);
  }

  /** All of the checkpoint is durable, or nothing. */
  finish(succeeds: boolean): void {
    const { checkpoint, group } = this;
    if (checkpoint === null) return;
    this.checkpoint = null;
    const records = checkpoint.finish();
    if (succeeds && !checkpoint.isLost) {
      // It waits for what it stands for.
      this.pending.splice(0, Math.max(0, checkpoint.index - (this.log.length - this.pending.length)));
      this.settle();
      records.moveTo(this.disk);
      this.applied = checkpoint.index;
      group.dirty.release();
      this.checkDisk(checkpoint.lines);
    } else {
      group.abandonCheckpoint();
    }
  }

  /** Takes up so many more instances of an index that is not complete. */
  build(instances: number): void {
    let left = instances;
    const change = this.harness.engine.upkeep.indexes.slice(this.group.id, () => --left <= 0);
    if (change !== null) this.changed(change);
  }

  /** Lets go of what expires, so many seconds from now on, looking into so many things. */
  expire(seconds: number, things: number): void {
    let left = things;
    const { harness } = this;
    harness.nowMs += 1000 * seconds;
    const change = harness.engine.upkeep.expiry.slice(this.group.id, () => --left <= 0);
    if (change !== null) this.changed(change);
  }

  /** Does a slice of a job, in which so many instances have their turn. */
  work(instances: number): void {
    let left = instances;
    const change = this.harness.engine.upkeep.jobs.slice(this.group.id, () => --left <= 0);
    if (change !== null && !('kind' in change)) this.changed(change);
  }

  evict(): void {
    for (let i = 0; i < 5; i++) this.evictSome();
  }

  private evictSome(): void {
    this.harness.engine.collections.evict(0, Number.POSITIVE_INFINITY);
  }

  restart(): void {
    this.checkpoint = null;
    this.marking = null;
    // Changes that are not committed may be lost.
    this.log.length -= this.pending.length;
    this.pending.length = 0;
    if (this.mirrored > this.log.length) {
      this.resetMirror();
    }
    this.harness.reopen(this.disk);
    this.disk.load(this.group);
    for (const effects of this.log.slice(this.applied)) this.group.apply(effects);
  }

  mark(things: number): void {
    const { engine, collection } = this.harness;
    this.marking ??= engine.upkeep.searchGarbage(collection.id, CIRCLE_MAX);
    this.marking.step(things);
  }

  sweep(): void {
    const { marking } = this;
    if (marking === null) return;
    this.marking = null;
    const { upkeep } = this.harness.engine;
    for (;;) {
      while (marking.step(1000));
      const change = upkeep.removeGarbage(this.group.id, marking);
      if (change === null) return;
      this.changed(change);
    }
  }

  /** Looks at everything. */
  look(): void {
    expectSame(linesOf(this.group), this.lines());
    expectSame(brokenRules(this.group), []);
  }

  changed(change: Change): void {
    this.log.push(change.effects);
    this.pending.push(change);
  }

  /** The lines of a node that only applied the effects. */
  private lines(): string[] {
    this.catchUp();
    return linesOf(this.mirror.collection);
  }

  private catchUp(): void {
    for (; this.mirrored < this.log.length; this.mirrored++)
      this.mirror.collection.apply(this.log[this.mirrored] as Uint8Array);
  }

  /** Compares the disk with the lines: a start finds these, and there is no other record. */
  private checkDisk(expected: readonly string[]): void {
    const read = new Set<string>();
    const probe = new Harness().reopen({
      read: (kind, id, part) => {
        read.add(nameOf(kind, id, part));
        return this.disk.read(kind, id, part);
      },
    });
    this.disk.load(probe);
    expectSame(linesOf(probe), expected);
    expectSame(brokenRules(probe), []);
    const names = [...this.disk.values.keys()];
    const things = names.filter((name) => !name.includes('/'));
    const pages = names.filter((name) => name.startsWith(`${RecordKind.INDEX_PAGE}/`));
    expectSame(
      [...things, ...pages].filter((name) => !read.has(name)),
      [],
    );
    if (this.applied !== this.log.length) return;
    // The lines that nodes compare do not depend on how the state came about.
    this.lines();
    const records = new Map(things.map((name) => [name, this.disk.values.get(name) as Uint8Array]));
    expectSame(
      sharedLines(records, probe.store.schema).split('\n'),
      sharedLines(this.mirrorRecords(), this.mirror.collection.store.schema).split('\n'),
    );
  }

  private mirrorRecords(): ReadonlyMap<string, Uint8Array> {
    // Pieces that did not change are saved but once.
    for (const [name, value] of savedRecords(this.mirror.collection)) this.saved.set(name, value);
    const ids = new Set(allThings(this.mirror.collection).map(({ id }) => id));
    for (const name of this.saved.keys()) if (!ids.has(Number.parseInt(name, 10))) this.saved.delete(name);
    return this.saved;
  }

  private resetMirror(): void {
    this.mirror = newHarness();
    this.mirrored = 0;
    this.saved.clear();
  }
}

/** A node with an empty collection. */
function newHarness(source: RecordSource = EMPTY_SOURCE): Harness {
  const harness = new Harness();
  harness.reopen(source).create();
  // So most indexes are built in slices.
  harness.engine.runtime.indexedAtOnce = 20;
  return harness;
}

/** A checkpoint that is under way. */
class Checkpoint {
  /** True if some of it was taken back. */
  isLost = false;
  private readonly records = new StagedRecords();
  private readonly steps: Generator<void, void, undefined>;

  constructor(
    group: CollectionGroup,
    readonly index: number,
    /** The lines that it has to hold. */
    readonly lines: readonly string[],
  ) {
    this.steps = beginCheckpoint(group, this.records);
    this.records.put(RecordKind.META, 0, 0, group.encodeMeta());
  }

  encode(count: number): void {
    for (let i = 0; i < count; i++) this.steps.next();
  }

  finish(): StagedRecords {
    while (this.steps.next().done !== true);
    return this.records;
  }
}

/** The state in words. The order of a set's members is no contract: taking back what was done to a large one may change it. */
function linesOf(group: CollectionGroup): string[] {
  return [...stateLines(group), ...schemaLines(group), ...groupLines(group).sort()].map((line) =>
    line.replace(MEMBERS, sorted),
  );
}

/** Few things, so that many circles are too large to go in one step. */
const CIRCLE_MAX = 6;

const MEMBERS = /\{#\d+(?:, #\d+)+\}/g;

function sorted(members: string): string {
  return members.slice(1, -1).split(', ').sort().join(', ');
}

/** As `toEqual`, which takes long for long lines. */
function expectSame(actual: readonly string[], expected: readonly string[]): void {
  if (actual.length === expected.length && actual.every((line, i) => line === expected[i])) return;
  const wrong = Math.max(
    0,
    actual.findIndex((line, i) => line !== expected[i]),
  );
  const [a, b] = [actual[wrong] ?? 'nothing', expected[wrong] ?? 'nothing'];
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  const from = Math.max(0, at - 40);
  throw new Error(
    `line ${wrong} of ${actual.length}, ${expected.length}: ${a.slice(0, 30)} ... ${a.slice(from, at + 60)} instead of ${b.slice(from, at + 60)}`,
  );
}
