/**
 * Effects as rows: a row has all that there is to know of one kind of change. One without a column does not compile, and each part of
 * a group hands its rows over as a list, so that followers know whatever a leader can write.
 */
import type { ByteReader, ByteWriter } from '../bytes.js';
import type { Counted, Tally } from './tally.js';

/** Takes one step of a change back. Steps are taken back in reverse order. */
export type Undo = () => void;

/** An effect that is applied when it is committed and never before: no query makes it, so nothing takes it back. */
export interface CommittedEffectRow<State, Args extends readonly unknown[], Result = void> {
  /** The byte that it begins with. */
  readonly code: number;
  /** Writes what follows that byte. */
  readonly write: (out: ByteWriter, ...args: Args) => void;
  /** Reads what `write` wrote. */
  readonly read: (input: ByteReader, state: State) => Args;
  /** Makes the change in memory, on leaders and followers. */
  readonly apply: (state: State, ...args: Args) => Result;
}

/** An effect of a query: the leader makes the change before it is committed, and may have to take it back. */
export interface EffectRow<State, Args extends readonly unknown[], Result = void>
  extends CommittedEffectRow<State, Args, Result> {
  /** The way back, which takes what `apply` gave. To be called before that. */
  readonly inverse: (state: State, ...args: Args) => (result: Result) => void;
  /** Time that the way back takes, in nanoseconds, as measured on a slow machine. To be called before `apply`. */
  readonly cost: (state: State, ...args: Args) => number;
  /** Its kind in the figures of a dry run. To be called before `apply`. */
  readonly counts: (state: State, ...args: Args) => Counted;
}

/** A row for those that apply effects, whatever they are. */
export interface Effect<State> {
  readonly code: number;
  /** Reads one effect and applies it. */
  repeat(input: ByteReader, state: State): void;
  /** Reads one effect and does nothing. */
  pass(input: ByteReader, state: State): void;
}

/** The row of an effect that queries make. */
export function effect<State, Args extends readonly unknown[], Result = void>(
  row: EffectRow<State, Args, Result>,
): EffectRow<State, Args, Result> & Effect<State> {
  return { ...row, ...committedEffect(row) };
}

/** The row of an effect that is applied when it is committed. */
export function committedEffect<State, Args extends readonly unknown[], Result = void>(
  row: CommittedEffectRow<State, Args, Result>,
): CommittedEffectRow<State, Args, Result> & Effect<State> {
  return {
    ...row,
    repeat: (input, state) => {
      row.apply(state, ...row.read(input, state));
    },
    pass: (input, state) => {
      row.read(input, state);
    },
  };
}

/** A row with the state that it is about. */
export interface BoundEffect {
  readonly code: number;
  repeat(input: ByteReader): void;
  pass(input: ByteReader): void;
}

/** The effects of a state, for its group to apply. */
export function effectsOn<State>(
  state: State,
  rows: Readonly<Record<string, Effect<State>>>,
): readonly BoundEffect[] {
  return Object.values(rows).map((row) => ({
    code: row.code,
    repeat: (input) => row.repeat(input, state),
    pass: (input) => row.pass(input, state),
  }));
}

/** Where a leader records what a change does: a `Transaction`, or less. */
export interface Recorder {
  readonly effects: ByteWriter;
  /** Counts what a dry run changes; null where nobody wants to know. */
  readonly tally: Tally | null;
  /** Charges for a step, before it is made, and for its way back, which takes so many nanoseconds. */
  chargeStep(ns: number): void;
  onUndo(undo: Undo, ns: number): void;
}

/** Makes one step of a change on a leader: applies it in memory, records the effect, and records the way back. */
export function perform<State, Args extends readonly unknown[], Result>(
  recorder: Recorder,
  row: EffectRow<State, Args, Result>,
  state: State,
  ...args: Args
): Result {
  const back = row.inverse(state, ...args);
  const ns = row.cost(state, ...args);
  recorder.chargeStep(ns);
  writeEffect(recorder.effects, row, ...args);
  recorder.tally?.add(row.counts(state, ...args));
  const result = row.apply(state, ...args);
  recorder.onUndo(() => back(result), ns);
  return result;
}

/** Writes an effect as a whole. */
export function writeEffect<Args extends readonly unknown[]>(
  out: ByteWriter,
  row: Pick<CommittedEffectRow<never, Args>, 'code' | 'write'>,
  ...args: Args
): void {
  out.u8(row.code);
  row.write(out, ...args);
}
