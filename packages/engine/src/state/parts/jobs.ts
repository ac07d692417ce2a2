/**
 * Jobs of a collection: what goes over all instances of a type, too many for one change. The leader does a slice at a time, in changes like
 * any other. How far a job is is a part of the state, so another leader goes on there, and no instance has its turn twice.
 *
 *   effect   := 1d job                                     a new job
 *             | 1e id:varint                               it is forgotten
 *             | 1f id:varint progress added:ids taken:ids  how far it is, and what came to its waiting instances, or went
 *             | 28 count:varint (thing:varint value)*      instances have values of the successor of a field
 *
 * Where `job`, `progress` and `ids` are as in `job.ts`. Record: JOB (id) holds `job`.
 */
import { ByteReader, ByteWriter, FormatError } from '../../bytes.js';
import { quotaError } from '../../error.js';
import type { Field, TypeDef } from '../../schema/type.js';
import { equals } from '../../value/kinds.js';
import type { Thing } from '../../value/thing.js';
import type { Value } from '../../value/value.js';
import { type BoundEffect, effect, effectsOn, perform } from '../effect.js';
import { nextIdOf, takeIdsBack } from '../ids.js';
import { RecordKind } from '../records.js';
import type { Store } from '../store.js';
import { one } from '../tally.js';
import { NS_PER_PUT_BACK } from '../transaction/undo-costs.js';
import type { Transaction } from '../transaction.js';
import { readValue, writeValue } from '../value-codec.js';
import {
  BEGINNING,
  isOpen,
  type Job,
  type JobDef,
  type JobProgress,
  readJob,
  readProgress,
  writeJob,
  writeProgress,
} from './job.js';
import type { GroupPart } from './part.js';
import { SchemaEditor } from './schema.js';

/** Jobs that are not at their end, at most. */
export const JOBS_MAX = 100;

/** Instances that changed behind their turn and wait at most, before all have their turn anew: they lie in the record of the job. */
const REWRITTEN_MAX = 10_000;

/** Instances that got the default of a property before a job gives it to them, at most: they lie in the record of the job, too. */
const GIVEN_MAX = 100_000;

/** Jobs that have ended and are still known. */
const ENDED_JOBS_MAX = 20;

export class Jobs implements GroupPart {
  readonly effects: readonly BoundEffect[] = effectsOn(this, JobEffect);
  readonly kinds = [RecordKind.JOB];
  private readonly byId = new Map<number, Job>();
  /** Ids of jobs whose records differ from what was put last. */
  private readonly changed = new Set<number>();

  /** Open jobs that give a property to instances. */
  fills: readonly Job[] = NO_JOBS;

  constructor(readonly store: Store) {}

  /** All that are known, in the order in which they were made. */
  get all(): readonly Job[] {
    return [...this.byId.values()].sort((a, b) => a.def.id - b.def.id);
  }

  find(id: number): Job | undefined {
    return this.byId.get(id);
  }

  /** The job whose turn it is: they are done one after the other. */
  get current(): Job | undefined {
    if (this.byId.size === 0) return undefined;
    return this.all.find(isOpen);
  }

  /** Jobs that give a property a successor: instances that change behind their turn have another one. */
  get successions(): readonly Job[] {
    if (this.byId.size === 0) return NO_JOBS;
    return this.all.filter((job) => isOpen(job) && job.def.kind === 'succeed');
  }

  put(job: Job): void {
    const { id } = job.def;
    this.byId.set(id, job);
    if (id >= this.store.nextId) this.store.nextId = id + 1;
    this.changed.add(id);
    this.noteFills(job);
  }

  delete(id: number): void {
    const job = this.byId.get(id);
    if (job === undefined) return;
    this.byId.delete(id);
    this.changed.add(id);
    this.noteFills(job);
  }

  move(id: number, progress: JobProgress, added: readonly number[], taken: readonly number[]): void {
    const job = this.known(id);
    const wasOpen = isOpen(job);
    job.progress = progress;
    if (isOpen(job) !== wasOpen) this.noteFills(job);
    for (const other of added) job.waiting.add(other);
    for (const other of taken) job.waiting.delete(other);
    this.changed.add(id);
  }

  known(id: number): Job {
    const job = this.byId.get(id);
    if (job === undefined) throw new FormatError(`there is no job ${id}`);
    return job;
  }

  load(_kind: RecordKind, id: number, _part: number, value: Uint8Array): void {
    const job = readJob(new ByteReader(value), this.store);
    this.byId.set(id, job);
    this.noteFills(job);
  }

  flush(): void {
    for (const id of this.changed) {
      const job = this.byId.get(id);
      const out = new ByteWriter();
      if (job !== undefined) writeJob(out, job);
      this.store.dirty.put(RecordKind.JOB, id, 0, job === undefined ? null : out.take());
    }
    this.changed.clear();
  }

  clear(): void {
    this.byId.clear();
    this.changed.clear();
    this.fills = NO_JOBS;
  }

  /** The open job that has still to give an instance a property, which no program gave it before; undefined for none. */
  fillOf(thing: Thing, { type, id, slot, initial }: Field): Job | undefined {
    return this.fills.find(
      ({ def, progress, waiting, turn }) =>
        def.type === type.id &&
        def.field === id &&
        thing.id > Math.max(progress.cursor, turn) &&
        thing.id <= def.upTo &&
        !waiting.has(thing.id) &&
        equals(thing.slots[slot] ?? null, initial),
    );
  }

  private noteFills({ def: { kind, type } }: Job): void {
    if (kind !== 'fill') return;
    this.fills = this.all.filter((job) => isOpen(job) && job.def.kind === 'fill');
    const fields = this.fills.filter(({ def }) => def.type === type).map(({ def }) => def.field);
    this.store.schema.setFilling(type, new Set(fields));
  }

  /** Jobs are no data that would be in the way of an import. */
  contents(): string | null {
    return null;
  }
}

const NO_JOBS: readonly Job[] = [];

/** Time it takes to take a change of a job back, in nanoseconds, and for each id in it. */
const NS_PER_UNDO = 1000;
const NS_PER_ID = 300;

const JobEffect = {
  PUT: effect<Jobs, [job: Job]>({
    code: 0x1d,
    write: writeJob,
    read: (input, { store }) => [readJob(input, store)],
    apply: (jobs, job) => jobs.put(job),
    inverse: (jobs, { def }) => {
      const { nextId } = jobs.store;
      return () => {
        jobs.delete(def.id);
        takeIdsBack(jobs.store, nextId);
      };
    },
    cost: () => NS_PER_UNDO,
    counts: one('jobs'),
  }),
  DELETE: effect<Jobs, [id: number]>({
    code: 0x1e,
    write: (out, id) => out.varint(id),
    read: (input) => [input.varint()],
    apply: (jobs, id) => jobs.delete(id),
    inverse: (jobs, id) => {
      const job = jobs.known(id);
      return () => jobs.put(job);
    },
    cost: () => NS_PER_UNDO,
    counts: () => ['jobs', 0],
  }),
  MOVE: effect<Jobs, [id: number, progress: JobProgress, added: readonly number[], taken: readonly number[]]>(
    {
      code: 0x1f,
      write: (out, id, progress, added, taken) => {
        out.varint(id);
        writeProgress(out, progress);
        out.varints(added);
        out.varints(taken);
      },
      read: (input) => [input.varint(), readProgress(input), input.varints(), input.varints()],
      apply: (jobs, id, progress, added, taken) => jobs.move(id, progress, added, taken),
      inverse: (jobs, id, _, added, taken) => {
        const { progress } = jobs.known(id);
        return () => jobs.move(id, progress, taken, added);
      },
      cost: (_, __, ___, added, taken) => NS_PER_UNDO + NS_PER_ID * (added.length + taken.length),
      counts: one('jobs'),
    },
  ),
  SUCCEED: effect<Jobs, [things: readonly Thing[], values: readonly Value[]]>({
    code: 0x28,
    write: (out, things, values) => {
      out.varint(things.length);
      for (const [i, { id }] of things.entries()) {
        out.varint(id);
        writeValue(out, values[i] ?? null);
      }
    },
    read: (input, { store }) => {
      const pairs = input.list(() => [store.thingOfId(input.varint()), readValue(input, store)] as const);
      return [pairs.map(([thing]) => thing), pairs.map(([, value]) => value)];
    },
    apply: ({ store }, things, values) => {
      for (const [i, thing] of things.entries()) store.succeed(thing, values[i] ?? null);
    },
    inverse: ({ store }, things) => {
      const before = things.map((thing) => {
        store.load(thing);
        const { successor } = thing.shape;
        return successor === null ? undefined : thing.slots[successor.slot];
      });
      return () => {
        for (const [i, thing] of things.entries()) store.succeed(thing, before[i]);
      };
    },
    cost: (_, things) => NS_PER_PUT_BACK * things.length,
    counts: (_, things) => ['properties', things.length],
  }),
};

/** Changes jobs, in a query or in a slice of one. */
export class JobEditor {
  constructor(
    private readonly jobs: Jobs,
    private readonly transaction: Transaction,
  ) {}

  /** Makes a job; the oldest of those that have ended make room for it. */
  make(def: Omit<JobDef, 'id' | 'upTo'>): Job {
    const { jobs, transaction } = this;
    const ended = jobs.all.filter((job) => !isOpen(job));
    for (const job of ended.slice(0, Math.max(0, ended.length - ENDED_JOBS_MAX + 1)))
      perform(transaction, JobEffect.DELETE, jobs, job.def.id);
    const id = nextIdOf(jobs.store, transaction);
    const job: Job = { def: { ...def, id, upTo: id - 1 }, progress: BEGINNING, waiting: new Set(), turn: 0 };
    perform(transaction, JobEffect.PUT, jobs, job);
    return job;
  }

  /**
   * Says how far a job is.
   *
   * @param added ids of chosen instances that wait from now on, which did not before
   * @param taken ids of those that do not wait any more
   */
  move(
    job: Job,
    changes: Partial<JobProgress>,
    added: readonly number[] = [],
    taken: readonly number[] = [],
  ): void {
    const progress = { ...job.progress, ...changes };
    perform(this.transaction, JobEffect.MOVE, this.jobs, job.def.id, progress, added, taken);
  }

  /** Ends a job before its time: what waits stays where it is, and a property without its successor. */
  end(job: Job, state: 'cancelled' | 'failed', why: string): void {
    this.move(job, { state, why, searched: 0, found: false }, [], [...job.waiting]);
    const { def } = this.jobs.store.schema.type(job.def.type);
    if (job.def.kind === 'succeed' && def !== null) this.putType({ ...def, successor: null });
  }

  /** Gives instances values of the successor of a property. */
  succeed(things: readonly Thing[], values: readonly Value[]): void {
    perform(this.transaction, JobEffect.SUCCEED, this.jobs, things, values);
  }

  /** Ends a job whose instances all have values of the successor of a property: it takes the place of that. */
  completeSuccession(job: Job, now: number): void {
    const { def } = this.jobs.store.schema.type(job.def.type);
    if (def === null || def.successor === null) throw new Error('the type is gone');
    const { of, ...successor } = def.successor;
    const fields = def.fields.map((field) => (field.id === of ? { ...successor, name: field.name } : field));
    this.putType({ ...def, fields, successor: null, modifiedAt: now });
    this.move(job, { state: 'done' });
  }

  private putType(def: TypeDef): void {
    new SchemaEditor(this.jobs.store, this.transaction).putType(def);
  }

  /** Lets instances that the change rewrote have another turn, where they had theirs. */
  noteRewritten(): void {
    const { jobs, transaction } = this;
    const { rewritten } = jobs.store;
    if (rewritten === null || !transaction.changed) return;
    for (const job of jobs.successions) {
      const { def, progress, waiting } = job;
      const again = Array.from(rewritten).filter(
        ({ id, shape }) => id > 0 && id <= progress.cursor && shape.type?.id === def.type && !waiting.has(id),
      );
      const ids = again.map(({ id }) => id);
      if (waiting.size + ids.length > REWRITTEN_MAX)
        this.move(job, { cursor: 0, chosen: 0 }, [], [...waiting]);
      else if (ids.length > 0) this.move(job, {}, ids);
    }
  }

  /**
   * Lets instances keep the default of a property that the change gave them before their turn: another value tells by itself.
   *
   * @throws QueryError max_quota_err
   */
  noteGiven(): void {
    const { jobs } = this;
    const { given } = jobs.store;
    if (given === null) return;
    for (const job of jobs.fills) {
      const { def, waiting } = job;
      const ids: number[] = [];
      for (const thing of given.get(def.field) ?? []) {
        const field = thing.shape.fields.find(({ id }) => id === def.field);
        if (field !== undefined && jobs.fillOf(thing, field) === job) ids.push(thing.id);
      }
      if (ids.length === 0) continue;
      if (waiting.size + ids.length > GIVEN_MAX)
        throw quotaError(
          `${GIVEN_MAX} instances got the default of a property before job ${def.id} gives them a value, the most that there may be: try again when the job has got further`,
        );
      this.move(job, {}, ids);
    }
  }
}
