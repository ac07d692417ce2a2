/** Errors that nodes answer with: one class for each name. The codes are a contract, see `docs/functions.md`. */
import type { Value } from '../values/from-wire.js';
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

/** Where an error came from, and what it is about. */
export interface ErrorOrigin extends CodeCall {
  /** Where the code around it was called, the innermost first. */
  readonly calls: readonly CodeCall[];
  /** The subject of the error, for programs; null for most errors. */
  readonly detail: ErrorDetail | null;
}

export type ErrorDetail = Readonly<Record<string, Value>>;

/** An error as an answer tells it. */
export interface ErrorAnswer extends ErrorOrigin {
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
  declare readonly code: number;
  declare readonly outcome: ChangeOutcome;
  /** Where in the code it happened; null where the node does not tell. */
  declare readonly at: CodePlace | null;
  /** The procedure that `at` is a place in; null for the code of the query. */
  declare readonly procedure: string | null;
  /** Where the code around `at` was called, the innermost first. */
  declare readonly calls: readonly CodeCall[];
  /** The subject of the error, for programs; null for most. See {@link DuplicateErr}. */
  declare readonly detail: ErrorDetail | null;
  /** The name of the request in the node's log. */
  declare readonly requestId: string | null;
  /** The name of the node. */
  declare readonly node: string | null;

  constructor(answer: ErrorAnswer) {
    super(answer.message, answer.outcome);
    // All that is declared above: every page that uses this loads it, so it is short.
    Object.assign(this, answer);
    this.name = answer.name ?? classOf(answer.code)?.[0] ?? 'err';
  }
}

/** Two instances would have the same values in a unique index: `detail` has `type`, `index`, `fields`, `key` and `id`. */
export class DuplicateErr extends QueryError {}
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

type NamedClass = readonly [name: string, make: new (answer: ErrorAnswer) => QueryError];

/** The classes of the codes from -65 on, and from -6 on, in their order. */
const LANGUAGE: readonly NamedClass[] = [
  ['duplicate_err', DuplicateErr],
  ['cancelled_err', CancelledErr],
  ['operation_err', OperationErr],
  ['num_arguments_err', NumArgumentsErr],
  ['type_err', TypeErr],
  ['value_err', ValueErr],
  ['overflow_err', OverflowErr],
  ['zero_div_err', ZeroDivErr],
  ['max_quota_err', MaxQuotaErr],
  ['auth_err', AuthErr],
  ['forbidden_err', ForbiddenErr],
  ['lookup_err', LookupErr],
  ['bad_data_err', BadDataErr],
  ['syntax_err', SyntaxErr],
  ['node_err', NodeErr],
  ['assert_err', AssertErr],
];
const OTHERS: readonly NamedClass[] = [
  ['result_too_large', ResultTooLargeErr],
  ['timeout', TimeoutErr],
  ['request_cancelled', RequestCancelledErr],
  ['write_failed', WriteFailedErr],
  ['out_of_memory', OutOfMemoryErr],
  ['internal_err', InternalErr],
];

function classOf(code: number): NamedClass | undefined {
  return LANGUAGE[code + 65] ?? OTHERS[code + 6];
}

/** The error for an answer. */
export function queryErrorOf(answer: ErrorAnswer): QueryError {
  const { code } = answer;
  const Class = code >= -127 && code <= -100 ? UserErr : (classOf(code)?.[1] ?? QueryError);
  return new Class(answer);
}
