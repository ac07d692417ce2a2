/**
 * The errors of calls. Each says what became of the changes of the call (`outcome`):
 *
 *   none       nothing was changed, and it never will be
 *   unknown    the change may have been made, or may yet be
 *   made       the change was made
 *   not_sent   the request was given up before it was sent (`AbortError`)
 */

export type ErrorOutcome = 'none' | 'unknown' | 'made' | 'not_sent';

/** Any error of this package, but for wrong usage, which is a TypeError or a RangeError. */
export class AlthingError extends Error {
  readonly outcome: ErrorOutcome;

  constructor(message: string, outcome: ErrorOutcome, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.outcome = outcome;
    this.name = 'AlthingError';
  }
}

/** No node could be reached, or not in time. Nothing was changed. */
export class ConnectionError extends AlthingError {
  constructor(message: string, cause?: unknown) {
    super(message, 'none', cause);
    this.name = 'ConnectionError';
  }
}

/** The call was sent, perhaps several times, and no answer tells what became of it. */
export class OutcomeUnknownError extends AlthingError {
  /** The name that the request had at the nodes, `CLIENT.SEQUENCE` or the key of the caller; null for none. */
  readonly requestName: string | null;

  constructor(message: string, requestName: string | null, cause?: unknown) {
    super(message, 'unknown', cause);
    this.name = 'OutcomeUnknownError';
    this.requestName = requestName;
  }
}

/** The change was made, and its answer is lost: it was too large to be kept for a repetition, or held a secret. */
export class AnswerLostError extends AlthingError {
  /** The code of the node's error, such as -6. */
  readonly code: number;

  constructor(message: string, code: number) {
    super(message, 'made');
    this.name = 'AnswerLostError';
    this.code = code;
  }
}

/** The other side answered with something that no node says, or with more than `limits.answerBytes`. */
export class ProtocolError extends AlthingError {
  constructor(message: string, outcome: ErrorOutcome = 'unknown') {
    super(message, outcome);
    this.name = 'ProtocolError';
  }
}

/** More calls wait than `limits.waiting` allows. Nothing was sent. */
export class QueueFullError extends AlthingError {
  constructor(waiting: number) {
    super(`${waiting} requests wait for their turn already (limits.waiting)`, 'none');
    this.name = 'QueueFullError';
  }
}

/** The call was given up by its signal, or since the client was closed. `cause` is the reason of the signal. */
export class AbortError extends AlthingError {
  constructor(message: string, outcome: 'not_sent' | 'unknown', cause?: unknown) {
    super(message, outcome, cause);
    this.name = 'AbortError';
  }
}
