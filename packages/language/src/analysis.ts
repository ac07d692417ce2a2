/** The input of the analysis of a text, and its result. */
import type { Closure } from './ast.js';
import type { Watch } from './limits.js';

/** Scopes in which a construct makes a query a change. In a node scope nothing does. */
export type ChangeScopes = 'none' | 'collection' | 'thingsdb' | 'both';

/** The meaning of a call of a built-in function or method for the analysis. */
export interface CallRule {
  readonly changes: ChangeScopes;
  /** True if an `nse` earlier in the text stops it from counting as a change. */
  readonly nse: boolean;
  /** Methods: no change if the receiver is direct (a variable, a literal, a call of a function, ...). */
  readonly unlessDirect: boolean;
  /** True if the call, as such, neither reads nor changes stored state. */
  readonly pure: boolean;
  /**
   * `nse`: text behind it counts as no change, as far as `nse` in the rules of that says. `later`: a closure that is written as its
   * first argument runs later, and does not count. `local`: the text runs on the node that it was sent to.
   */
  readonly role?: 'nse' | 'later' | 'local' | undefined;
}

/** The rules of the functions of the language; the engine derives it from its tables. */
export interface Rules {
  /** The built-in function of that name; undefined if there is none (a type, a procedure, a variable, ...). */
  func(name: string): CallRule | undefined;
  /** The built-in method of that name, whatever its receiver. */
  method(name: string): CallRule | undefined;
  /** Why the regular expression can't be, or null. */
  checkRegex(body: string, flags: string): string | null;
  /** Called time and again in a long text. */
  readonly watch?: Watch;
}

/** In which scopes a text makes a query a change. */
export interface Changes {
  readonly collection: boolean;
  readonly thingsdb: boolean;
}

/**
 * A closure's side-effect flag. `changes` holds where the closure stands: an `nse` before it in the same text counts.
 * `alone` is what its own text says, hence what holds once the closure has been stored.
 */
export interface ClosureChanges {
  readonly changes: Changes;
  readonly alone: Changes;
}

export interface Analysis {
  /** The kind of change that the query as a whole is. Closures given to `future`, `then` and `else` do not count. */
  readonly changes: Changes;
  /** Every closure literal in the text. */
  readonly closures: ReadonlyMap<Closure, ClosureChanges>;
  /**
   * False only if the answer can't depend on anything stored: no chain from the root, no call of a name that is not
   * known as pure, no type or enum, no variable that could turn out to be a procedure, a module or a constant.
   */
  readonly usesState: boolean;
  /** True if a function is called in it, wherever, whose role is `local`. */
  readonly isLocal: boolean;
}
