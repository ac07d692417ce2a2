import type { Changes } from '@althing/language';
import type { Value } from '../value/value.js';
import type { ParameterRule } from './parameters.js';
import type { Place } from './place.js';
import type { Profile } from './profile.js';
import type { Cell } from './symbols.js';

/** A compiled expression. Everything it needs besides lies in cells and in the `Runtime` it was compiled for. */
export type Code = () => Value;

/** A compiled body: of a whole query or of one closure. */
export interface Unit {
  readonly params: readonly Cell[];
  /** The kinds that each parameter accepts, null for anything; null when all accept anything. */
  readonly rules: readonly (ParameterRule | null)[] | null;
  /** Names that plain assignments and loops in the body bind, parameters excluded. */
  readonly locals: readonly Cell[];
  /** Moves to the second tier when it runs hot. */
  body: Code;
  /** In which scopes running it needs a change, as it stands in its text. */
  readonly changes: Changes;
  /** The same by its own text alone, which counts once a closure is stored. */
  readonly changesAlone: Changes;
  /** True if one of the two is ever so. */
  readonly mayChange: boolean;
  /** True if it runs on the node that it was sent to, as far as the text that it is from tells. */
  readonly isLocal: boolean;
  /** True if a `return` may end it. */
  readonly returns: boolean;
  /** True if a jump may come as an exception. */
  readonly throwsJumps: boolean;
  /** True if a call has nothing to do but bind the parameters and run the body: no locals, no `return`. */
  readonly simple: boolean;
  /** The whole of it in its source text. */
  readonly place: Place;
  /**
   * The only run that it may run in: one that is explained, and counts what it does, or `GONE` for one that has ended, so that its cells
   * are no longer those of their names. Null where it may run in all that are not explained.
   */
  onlyIn: Profile | typeof GONE | null;
  /** The room on the stack that a call takes: see `limits.ts`. */
  readonly height: number;
}

/** The run of code that was made for a query which has ended. */
export const GONE = Symbol('gone');
