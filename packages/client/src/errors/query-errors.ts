/** Errors that nodes answer with: one class for each name. The codes are a contract, see `docs/functions.md`. */
import { AlthingError } from './errors.js';

/** The outcome of a change, as a node says it. */
export type ChangeOutcome = 'none' | 'unknown' | 'made';

/** A place in the code of a query or a procedure: line and column from 1 on, offset and length in code points. */
export interface CodePlace {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
  readonly length: number;
}

/** A place, and the text that it is in. */
export interface CodeCall {
  readonly at: CodePlace | null;
  /** The procedure that it is a place in; null for the code of the query. */
  readonly procedure: string | null;
}

/** Where an error came from. */
export interface ErrorPlaces extends CodeCall {
  /** Where the code around it was called, the innermost first. */
  readonly calls: readonly CodeCall[];
}

/** An error as an answer tells it. */
export interface ErrorAnswer extends ErrorPlaces {
  /** Undefined where the transport does not tell: then it follows from the code. */
  readonly name?: string | undefined;
  readonly code: number;
  readonly message: string;
  readonly outcome: ChangeOutcome;
  readonly requestId: string | null;
  readonly node: string | null;
}

/** An error that a node answered with; of the class that belongs to its name. */
export class QueryError extends AlthingError {
  /** The number of the error, such as -54; codes of users are -127 to -100. */
  readonly code: number;
  declare readonly outcome: ChangeOutcome;
  /** Where in the code it happened; null where the node does not tell. */
  readonly at: CodePlace | null;
  /** The procedure that `at` is a place in; null for the code of the query. */
  readonly procedure: string | null;
  /** Where the code around `at` was called, the innermost first. */
  readonly calls: readonly CodeCall[];
  /** The name of the request in the node's log. */
  readonly requestId: string | null;
  /** The name of the node. */
  readonly node: string | null;

  constructor(answer: ErrorAnswer) {
    super(answer.message, answer.outcome);
    const { code, name, at, procedure, calls, requestId, node } = answer;
    this.name = name ?? CLASSES[code]?.[0] ?? 'err';
    this.code = code;
    this.at = at;
    this.procedure = procedure;
    this.calls = calls;
    this.requestId = requestId;
    this.node = node;
  }
}

export class AssertErr extends QueryError {}
export class AuthErr extends QueryError {}
export class BadDataErr extends QueryError {}
export class CancelledErr extends QueryError {}
export class ForbiddenErr extends QueryError {}
export class LookupErr extends QueryError {}
export class MaxQuotaErr extends QueryError {}
export class NodeErr extends QueryError {}
export class NumArgumentsErr extends QueryError {}
export class OperationErr extends QueryError {}
export class OverflowErr extends QueryError {}
export class SyntaxErr extends QueryError {}
export class TypeErr extends QueryError {}
export class ValueErr extends QueryError {}
export class ZeroDivErr extends QueryError {}
/** The result has more bytes than the node sends. */
export class ResultTooLargeErr extends QueryError {}
/** The query took longer than it may. */
export class TimeoutErr extends QueryError {}
export class RequestCancelledErr extends QueryError {}
export class WriteFailedErr extends QueryError {}
export class OutOfMemoryErr extends QueryError {}
export class InternalErr extends QueryError {}
/** An error with a code of the user, -127 to -100. */
export class UserErr extends QueryError {}

/** Codes that decide what a client does. */
export const Code = { MAX_QUOTA: -57, AUTH: -56, NODE: -51 } as const;

const CLASSES: Readonly<
  Record<number, readonly [name: string, make: new (answer: ErrorAnswer) => QueryError]>
> = {
  [-64]: ['cancelled_err', CancelledErr],
  [-63]: ['operation_err', OperationErr],
  [-62]: ['num_arguments_err', NumArgumentsErr],
  [-61]: ['type_err', TypeErr],
  [-60]: ['value_err', ValueErr],
  [-59]: ['overflow_err', OverflowErr],
  [-58]: ['zero_div_err', ZeroDivErr],
  [Code.MAX_QUOTA]: ['max_quota_err', MaxQuotaErr],
  [Code.AUTH]: ['auth_err', AuthErr],
  [-55]: ['forbidden_err', ForbiddenErr],
  [-54]: ['lookup_err', LookupErr],
  [-53]: ['bad_data_err', BadDataErr],
  [-52]: ['syntax_err', SyntaxErr],
  [Code.NODE]: ['node_err', NodeErr],
  [-50]: ['assert_err', AssertErr],
  [-6]: ['result_too_large', ResultTooLargeErr],
  [-5]: ['timeout', TimeoutErr],
  [-4]: ['request_cancelled', RequestCancelledErr],
  [-3]: ['write_failed', WriteFailedErr],
  [-2]: ['out_of_memory', OutOfMemoryErr],
  [-1]: ['internal_err', InternalErr],
};

/** The error for an answer. */
export function queryErrorOf(answer: ErrorAnswer): QueryError {
  const { code } = answer;
  const Class = code >= -127 && code <= -100 ? UserErr : (CLASSES[code]?.[1] ?? QueryError);
  return new Class(answer);
}
