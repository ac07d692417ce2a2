/**
 * The error codes of the language. Codes and names are a contract with clients, texts are not.
 */
export const ErrorCode = {
  DUPLICATE: -65,
  CANCELLED: -64,
  OPERATION: -63,
  NUM_ARGUMENTS: -62,
  TYPE: -61,
  VALUE: -60,
  OVERFLOW: -59,
  ZERO_DIV: -58,
  MAX_QUOTA: -57,
  AUTH: -56,
  FORBIDDEN: -55,
  LOOKUP: -54,
  BAD_DATA: -53,
  SYNTAX: -52,
  NODE: -51,
  ASSERT: -50,
  RESULT_TOO_LARGE: -6,
  TIMEOUT: -5,
  CANCELLED_REQUEST: -4,
  WRITE: -3,
  MEMORY: -2,
  INTERNAL: -1,
} as const;

/** Names of the codes from -64 to -50, which are also the names of their constructors in the language. */
export const ERROR_NAMES: ReadonlyMap<number, string> = new Map([
  [-64, 'cancelled_err'],
  [-63, 'operation_err'],
  [-62, 'num_arguments_err'],
  [-61, 'type_err'],
  [-60, 'value_err'],
  [-59, 'overflow_err'],
  [-58, 'zero_div_err'],
  [-57, 'max_quota_err'],
  [-56, 'auth_err'],
  [-55, 'forbidden_err'],
  [-54, 'lookup_err'],
  [-53, 'bad_data_err'],
  [-52, 'syntax_err'],
  [-51, 'node_err'],
  [-50, 'assert_err'],
]);

/** Names of other codes. The language has no constructors for these. */
const OTHER_NAMES: ReadonlyMap<number, string> = new Map([
  [-65, 'duplicate_err'],
  [-6, 'result_too_large'],
  [-5, 'timeout'],
  [-4, 'request_cancelled'],
  [-3, 'write_failed'],
  [-2, 'out_of_memory'],
  [-1, 'internal_err'],
]);

/** The name of any code: `lookup_err`, `result_too_large`, or `err` for codes of users. */
export function errorName(code: number): string {
  return ERROR_NAMES.get(code) ?? OTHER_NAMES.get(code) ?? 'err';
}

/** Bytes of an error message at most. */
export const MESSAGE_BYTES_MAX = 16_383;

/** Characters that never take more bytes than that. */
const MESSAGE_LENGTH_MAX = MESSAGE_BYTES_MAX / 3;

/** A place that an error went through: a part of a source text, offsets in UTF-16 units, end exclusive. */
export interface ErrorPlace {
  readonly source: string;
  readonly start: number;
  readonly end: number;
  /** The procedure, method or property that the text is the closure of; null for the text of the query. */
  readonly callee: string | null;
}

/** The same in the words of answers: line and column from 1, offset from 0, all in code points. */
export interface ToldPlace {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
  readonly length: number;
  /** The procedure, method or property that it is in, as `procedure_info` and its kin show it; null for the text of the query. */
  readonly in: string | null;
}

/** The subject of a duplicate_err, for programs. */
export interface DuplicateDetail {
  readonly type: string;
  readonly index: string;
  /** The properties of the index. */
  readonly fields: readonly string[];
  /** Their values, one for each; null for long ones, and where whoever asks may not read them. */
  readonly key: readonly KeyValue[] | null;
  /** The stored instance that has them; null for none, and where whoever asks may not read it. */
  readonly id: number | null;
}

export type KeyValue = string | number | bigint | boolean;

const NO_PLACES: readonly ErrorPlace[] = [];

/**
 * The error of a failing operation. No subclass of Error: queries raise and catch in loops, and a captured stack would
 * cost more than the operation. `try` and `alt_raise` catch what is not fatal; codes from -49 to -1 are.
 */
export class QueryError {
  readonly message: string;
  /** The same in words, where another node told of them; null elsewhere. */
  readonly told: readonly ToldPlace[] | null = null;

  constructor(
    readonly code: number,
    message: string,
    /** True for a limit that ends the query in any case. */
    readonly fatal = code > ErrorCode.ASSERT,
    /** True if it is about something that exists already: HTTP has a status of its own for that. */
    readonly exists = false,
    /** Where it came from, the innermost first; empty where nobody knows. */
    readonly places = NO_PLACES,
    /** The subject, for programs; null for most errors. */
    readonly detail: DuplicateDetail | null = null,
  ) {
    this.message = message.length > MESSAGE_LENGTH_MAX ? shortened(message) : message;
  }

  /** The same error, which ends the query whatever it tries: some of what failed is done already. */
  asFatal(): QueryError {
    return new QueryError(this.code, this.message, true, this.exists, this.places, this.detail);
  }

  /** The same error with other places: some errors are thrown again and again, and must not keep any. */
  withPlaces(places: readonly ErrorPlace[]): QueryError {
    return new QueryError(this.code, this.message, this.fatal, this.exists, places, this.detail);
  }

  /** An error that happened on another node, which told of its places, if it did. */
  static of(
    code: number,
    message: string,
    exists: boolean,
    told: readonly ToldPlace[] | null,
    detail: DuplicateDetail | null,
  ): QueryError {
    return Object.assign(new QueryError(code, message, undefined, exists, undefined, detail), { told });
  }
}

/** A message may quote a name or a value of any length; its beginning and end stay. */
function shortened(message: string): string {
  if (message.length <= MESSAGE_BYTES_MAX && Buffer.byteLength(message) <= MESSAGE_BYTES_MAX) return message;
  const head = message.slice(0, MESSAGE_LENGTH_MAX - TAIL_LENGTH - 3);
  const short = `${head}...${message.slice(-TAIL_LENGTH)}`;
  // A cut may have left half of a character; this replaces it.
  return Buffer.from(short).toString();
}

const TAIL_LENGTH = 200;

/** Makes errors with a code out of their messages. */
function failing(code: number): (message: string) => QueryError {
  return (message) => new QueryError(code, message);
}

export const argumentsError = failing(ErrorCode.NUM_ARGUMENTS);
export const authError = failing(ErrorCode.AUTH);
export const badDataError = failing(ErrorCode.BAD_DATA);
export const cancelledError = failing(ErrorCode.CANCELLED);
export const forbiddenError = failing(ErrorCode.FORBIDDEN);
export const lookupError = failing(ErrorCode.LOOKUP);
/** The error for what a node, or the cluster, can't do now. */
export const nodeError = failing(ErrorCode.NODE);
export const operationError = failing(ErrorCode.OPERATION);
export const quotaError = failing(ErrorCode.MAX_QUOTA);
export const timeoutError = failing(ErrorCode.TIMEOUT);
export const typeError = failing(ErrorCode.TYPE);
export const valueError = failing(ErrorCode.VALUE);

/** The lookup_err for what is to be made, and exists already. */
export function existsError(message: string): QueryError {
  return new QueryError(ErrorCode.LOOKUP, message, false, true);
}

/** The error for a value that another instance has already, where an index wants it once. */
export function duplicateError(message: string, detail: DuplicateDetail): QueryError {
  return new QueryError(ErrorCode.DUPLICATE, message, false, true, undefined, detail);
}

export function overflowError(message = 'the result lies outside the 64-bit integer range'): QueryError {
  return new QueryError(ErrorCode.OVERFLOW, message);
}

export function zeroDivisionError(): QueryError {
  return new QueryError(ErrorCode.ZERO_DIV, 'division or modulo by zero');
}

/** A quota error that ends the query whatever it tries: some of what failed is done already. */
export function quotaFatal(message: string): QueryError {
  return new QueryError(ErrorCode.MAX_QUOTA, message, true);
}
