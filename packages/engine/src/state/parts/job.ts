/**
 * One job of a collection, see `jobs.ts`, and its form in effects and records.
 *
 *   job      := id:varint kind:u8 type:varint field:varint owner:varint upTo:varint begun:varint source:text value progress waiting:ids
 *                                                          the value is the tuple of arguments, see `value-codec.ts`
 *   progress := state:u8 cursor:varint chosen:varint kept:varint searched:varint found:u8 why:text
 *   ids      := count:varint id:varint*
 */
import { type ByteReader, type ByteWriter, FormatError } from '../../bytes.js';
import { Closure } from '../../value/closure.js';
import { List } from '../../value/containers.js';
import type { Store } from '../store.js';
import { readValue, writeValue } from '../value-codec.js';

/**
 * The step for an instance: it goes if a closure says so; the closure is called; a property, or the successor of one, gets what the closure
 * gives.
 */
export type JobKind = 'remove' | 'call' | 'fill' | 'succeed';

export type JobState = 'open' | 'done' | 'cancelled' | 'failed';

/** The work of a job: decided when it is made. */
export interface JobDef {
  readonly id: number;
  readonly kind: JobKind;
  /** The id of the type. */
  readonly type: number;
  /** The id of the property that is filled, or gets a successor; 0 for none. */
  readonly field: number;
  /** The user who made it, with whose rights the closure runs. */
  readonly owner: number;
  /** The highest id of an instance that has its turn: what comes later is none of the job's concern, unless a property gets a successor. */
  readonly upTo: number;
  /** Unix seconds. */
  readonly begunAt: number;
  readonly closure: Closure;
  /** Arguments of the closure behind the instance: nothing that refers to something stored. */
  readonly args: List;
}

export interface JobProgress {
  readonly state: JobState;
  /** The id of the instance that had its turn last. */
  readonly cursor: number;
  /** Instances that were chosen to go, or that something was done with. */
  readonly chosen: number;
  /** Chosen instances that stay, because another thing refers to them and can't do without. */
  readonly kept: number;
  /** The id of the thing that was looked into last for references to what waits; 0 while none is looked for. */
  readonly searched: number;
  /** True once the search found something in the round that it is in. */
  readonly found: boolean;
  /** The error that ended it; empty for none. */
  readonly why: string;
}

/** A job; it changes by effects alone. */
export interface Job {
  readonly def: JobDef;
  progress: JobProgress;
  /**
   * Ids of chosen instances that are still referred to; of instances that changed behind their turn, and have another one; of those that have
   * the default of a property before their turn, and keep it.
   */
  readonly waiting: Set<number>;
  /** The id of the instance that has its turn now, in a slice that is not done; 0 for none. */
  turn: number;
}

export function isOpen({ progress }: Job): boolean {
  return progress.state === 'open';
}

export const BEGINNING: JobProgress = {
  state: 'open',
  cursor: 0,
  chosen: 0,
  kept: 0,
  searched: 0,
  found: false,
  why: '',
};

const KINDS: readonly JobKind[] = ['remove', 'call', 'fill', 'succeed'];
const STATES: readonly JobState[] = ['open', 'done', 'cancelled', 'failed'];

export function writeJob(out: ByteWriter, { def, progress, waiting }: Job): void {
  out.varint(def.id);
  out.u8(KINDS.indexOf(def.kind));
  out.varint(def.type);
  out.varint(def.field);
  out.varint(def.owner);
  out.varint(def.upTo);
  out.varint(def.begunAt);
  out.text(def.closure.store());
  writeValue(out, def.args);
  writeProgress(out, progress);
  out.varints([...waiting].sort((a, b) => a - b));
}

export function readJob(input: ByteReader, store: Store): Job {
  const id = input.varint();
  const kind = KINDS[input.u8()];
  if (kind === undefined) throw new FormatError('the kind of a job is not known');
  const [type, field] = [input.varint(), input.varint()];
  const [owner, upTo, begunAt] = [input.varint(), input.varint(), input.varint()];
  const source = input.text();
  const args = readValue(input, store);
  if (!(args instanceof List)) throw new FormatError(`the arguments of job ${id} are no tuple`);
  const closure = new Closure(source, null, source);
  return {
    def: { id, kind, type, field, owner, upTo, begunAt, closure, args },
    progress: readProgress(input),
    waiting: new Set(input.varints()),
    turn: 0,
  };
}

export function writeProgress(out: ByteWriter, progress: JobProgress): void {
  out.u8(STATES.indexOf(progress.state));
  out.varint(progress.cursor);
  out.varint(progress.chosen);
  out.varint(progress.kept);
  out.varint(progress.searched);
  out.u8(progress.found ? 1 : 0);
  out.text(progress.why);
}

export function readProgress(input: ByteReader): JobProgress {
  const state = STATES[input.u8()];
  if (state === undefined) throw new FormatError('the state of a job is not known');
  const [cursor, chosen, kept, searched] = [input.varint(), input.varint(), input.varint(), input.varint()];
  return { state, cursor, chosen, kept, searched, found: input.u8() !== 0, why: input.text() };
}
