/** Messages between the page and the worker that holds results. */
import type { ChangeOutcome, CodePlace, Credentials, WireValue } from '@althing/client';
import type { FunctionInfo } from '@althing/language';
import type { Verdict } from '../query/rules.js';

/** Items of a list, or rows of a table, that are shown at a time. */
export const PAGE = 100;

/** Characters of a text that are shown before somebody asks for all. */
export const PREVIEW = 200;

/** The ways of a run whose changes the node takes back: it tells what they would be, or what each statement took. */
export type DryRunKind = 'true' | 'explain';

export type Question =
  /** The worker asks by itself, so that no answer, however large, keeps the page waiting. */
  | { readonly kind: 'login'; readonly credentials: Credentials | null; readonly readOnly: boolean }
  | {
      readonly kind: 'run';
      readonly result: string;
      readonly scope: string;
      readonly code: string;
      readonly vars: ReadonlyMap<string, WireValue>;
      /** The name of a procedure to run by its arguments, in place of code. */
      readonly procedure: string | null;
      readonly dry: DryRunKind | null;
    }
  | {
      /** Judges what a text would do: a long one takes longer to parse than a key may take. */
      readonly kind: 'judge';
      readonly code: string;
      readonly scope: string;
      /** Null for those that the worker was told before: to copy them takes as long as a key may. */
      readonly functions: readonly FunctionInfo[] | null;
    }
  | { readonly kind: 'cancel'; readonly result: string }
  | {
      readonly kind: 'items';
      readonly result: string;
      readonly path: readonly number[];
      readonly from: number;
    }
  | { readonly kind: 'table'; readonly result: string; readonly from: number }
  | { readonly kind: 'raw'; readonly result: string; readonly from: number }
  | { readonly kind: 'text'; readonly result: string; readonly path: readonly number[] }
  | { readonly kind: 'file'; readonly result: string; readonly format: FileFormat }
  | { readonly kind: 'forget'; readonly result: string };

export type FileFormat = 'json' | 'csv' | 'msgpack';

/** A value as far as it is shown at once. */
export interface Shown {
  /** As the language calls it; a map that has an id is a thing. */
  readonly type: 'nil' | 'bool' | 'int' | 'float' | 'str' | 'bytes' | 'list' | 'set' | 'thing';
  readonly text: string;
  /** True if the text goes on. */
  readonly isCut: boolean;
  /** Items or properties; 0 for a value that has none. */
  readonly size: number;
  /** The id of a thing; null for none. */
  readonly id: bigint | null;
}

/** The way of a run to its answer. */
export interface Way {
  readonly ms: number;
  readonly bytes: number;
  /** The address of the node; empty when none was asked. */
  readonly node: string;
  readonly attempts: number;
  /** The index of the log that the answer reflects; 0 where nothing tells. */
  readonly index: number;
  /** The node's own times by their names (`queue`, `run`, `commit`, or `forward`), in milliseconds. */
  readonly parts: readonly (readonly [name: string, ms: number])[];
}

/** The end of a run that succeeded. */
export interface Ran {
  readonly ok: true;
  readonly root: Shown;
  readonly way: Way;
}

/** The end of a run that failed. */
export interface Failed {
  readonly ok: false;
  readonly way: Way;
  readonly name: string;
  readonly message: string;
  readonly outcome: ChangeOutcome | 'not_sent';
  readonly at: CodePlace | null;
  readonly procedure: string | null;
}

/** An attempt of a run that came to nothing; the next one is under way. */
export interface Waiting {
  readonly result: string;
  /** Attempts up to now. */
  readonly attempts: number;
  readonly why: string;
}

export interface Items {
  readonly total: number;
  /** With the key or the index of each. */
  readonly items: readonly { readonly key: string; readonly value: Shown }[];
}

export interface TablePage {
  readonly total: number;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (Shown | null)[])[];
}

export interface RawPage {
  readonly text: string;
  /** Characters of the whole. */
  readonly total: number;
}

export interface Answers {
  readonly login: null;
  readonly run: Ran | Failed;
  readonly judge: Verdict;
  readonly cancel: null;
  readonly items: Items;
  readonly table: TablePage;
  readonly raw: RawPage;
  readonly text: string;
  readonly file: Blob;
  readonly forget: null;
}

/** A message to the worker, and the one back. */
export interface Asked {
  readonly number: number;
  readonly question: Question;
}

export interface Answered {
  readonly number: number;
  readonly answer: Answers[keyof Answers] | null;
  /** A defect of the worker; null for none. */
  readonly defect: string | null;
}

/** Messages of the worker: answers, and meanwhile why a run still waits. */
export type Told = Answered | { readonly waiting: Waiting };
