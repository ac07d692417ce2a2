/** The types by which `althing types` describes a collection. */

/**
 * A procedure.
 *
 * @typeParam Named its parameters by name
 * @typeParam Positional the same by position
 * @typeParam Result what it returns
 */
export interface Procedure<Named extends object, Positional extends readonly unknown[], Result> {
  readonly named: Named;
  readonly positional: Positional;
  readonly result: Result;
}

/** The schema of a collection. `althing types //stuff` writes it. */
export interface CollectionSchema {
  /** The types of its things, by name. */
  readonly types?: object;
  /** Its enums, by name. */
  readonly enums?: object;
  /** The type of its root. */
  readonly root?: unknown;
  /** Its procedures, by name, each a {@link Procedure}. */
  readonly procs?: object;
}

type ParametersOf<P> = P extends Procedure<object, infer Positional, unknown> ? Positional : never;
type NamedOf<P> = P extends Procedure<infer Named, readonly unknown[], unknown> ? Named : never;
type ResultOf<P> = P extends Procedure<object, readonly unknown[], infer Result> ? Result : never;

/** Where nothing is known of a collection, it may have any procedure. */
type AnyProcedures = Readonly<
  Record<string, Procedure<Readonly<Record<string, unknown>>, readonly unknown[], unknown>>
>;

/** The procedures of a schema. */
export type ProceduresOf<S> = S extends { readonly procs: infer Procs extends object }
  ? Procs
  : AnyProcedures;

/** Procedures as functions, called by position. */
export type ProcedureCalls<Procs> = {
  readonly [Name in keyof Procs]: (...args: ParametersOf<Procs[Name]>) => Promise<ResultOf<Procs[Name]>>;
};

/** The answer to a call that was only tried out: everything that it changed was taken back. */
export interface DryRun<T> {
  /** The result that the call would have. Ids of things and keys of tokens that it made are good for nothing. */
  readonly result: T;
  /** Numbers of what it would change, by category, such as `things_removed`: those that are not 0. */
  readonly changes: Readonly<Record<string, number>>;
  /** The number of futures it would start, which were not started; nothing for none. */
  readonly futures?: number;
  /** The cost of the call, where `dryRun` is `explain`. */
  readonly explain?: Explanation;
  /** The error that ended it, where it was to be explained: there is no result then. */
  readonly error?: ExplainedError;
}

/** The cost of some code. */
export interface CodeUsage {
  readonly ms: number;
  /** Work, in the units that limits of time go by: calls, rounds of loops, and what built-in functions count. */
  readonly steps: number;
  /** Number of looks into things in memory, and of things read from disk. */
  readonly from_memory: number;
  readonly from_disk: number;
  /** Records that were read from disk: those of things, and pages of what is large. */
  readonly records: number;
}

/** The cost of a call that was explained. */
export interface Explanation extends CodeUsage {
  /** Bytes that the heap grew by. */
  readonly memory: number;
  /** The cost of packing the result. */
  readonly packing: CodeUsage;
  /** The costliest first; nothing for a user who may not read the sources of procedures. */
  readonly statements?: readonly ExplainedStatement[];
  /** The number of statements that are not among them; nothing for none. */
  readonly left_off?: number;
}

/** The cost of a statement, without the statements in it. */
export interface ExplainedStatement extends CodeUsage {
  /** The procedure or method that it is in; null for the text of the query. */
  readonly in: string | null;
  readonly line: number;
  readonly column: number;
  /** Its beginning. */
  readonly code: string;
  readonly runs: number;
  /** With the statements in it, and what it calls. */
  readonly total_ms: number;
  readonly total_steps: number;
  /** About how many bytes the heap grew by in all its runs, with the statements in it. */
  readonly memory: number;
  readonly changes?: Readonly<Record<string, number>>;
  /** Look-ups in indexes; the index `#` has all instances of a type. */
  readonly indexes?: readonly {
    readonly type: string;
    readonly index: string;
    readonly look_ups: number;
    readonly entries: number;
  }[];
  /** Hints at a faster way. */
  readonly hints?: readonly string[];
}

/** The error of a call that was explained. */
export interface ExplainedError {
  readonly code: number;
  readonly name: string;
  readonly message: string;
  /** The place of the error; missing where nobody knows it. */
  readonly at?: {
    readonly line: number;
    readonly column: number;
    readonly offset: number;
    readonly length: number;
  };
  /** The procedure or method that it is in; null for the text of the query. */
  readonly in?: string | null;
}

/** Procedures that are only tried out, called by position. */
export type ProcedureTrials<Procs> = {
  readonly [Name in keyof Procs]: (
    ...args: ParametersOf<Procs[Name]>
  ) => Promise<DryRun<ResultOf<Procs[Name]>>>;
};

/** Tries a procedure out by the names of its parameters. */
export type NamedTrial<Procs> = <Name extends keyof Procs & string>(
  procedure: Name,
  args?: NamedOf<Procs[Name]>,
) => Promise<DryRun<ResultOf<Procs[Name]>>>;

/** Calls a procedure by the names of its parameters. */
export type NamedCall<Procs> = <Name extends keyof Procs & string>(
  procedure: Name,
  args?: NamedOf<Procs[Name]>,
) => Promise<ResultOf<Procs[Name]>>;
