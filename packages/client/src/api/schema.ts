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
  /** What the call would return. Ids of things and keys of tokens that it made are good for nothing. */
  readonly result: T;
  /** How many of what it would change, by category, such as `things_removed`: those that are not 0. */
  readonly changes: Readonly<Record<string, number>>;
  /** How many futures it would start; nothing for none. They were not. */
  readonly futures?: number;
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
