import type { ChangeOutcome } from '../groups/request.js';

/** An HTTP response, read completely. */
export class Answer {
  readonly status: number;

  constructor(
    /** The status line behind the version: `200 OK`. */
    readonly statusLine: string,
    /** The headers by lower-case name. */
    readonly headers: ReadonlyMap<string, string>,
    readonly body: Buffer,
  ) {
    this.status = Number.parseInt(statusLine, 10);
  }

  get text(): string {
    return this.body.toString('utf8');
  }

  get json(): unknown {
    return JSON.parse(this.text);
  }

  /** The error that the body tells of; throws when it tells of none. */
  get error(): ErrorBody {
    const body = this.json;
    if (!isErrorBody(body))
      throw new Error(`${this.statusLine} has no error body: ${this.text.slice(0, 200)}`);
    return body.error;
  }

  /** Status and error code, for comparisons that show both: `404 -54`; `200` for a value. */
  get verdict(): string {
    return this.status === 200 ? '200' : `${this.status} ${this.error.code}`;
  }
}

export interface ErrorBody {
  readonly code: number;
  readonly name: string;
  readonly message: string;
  readonly outcome: ChangeOutcome;
}

function isErrorBody(body: unknown): body is { readonly error: ErrorBody } {
  if (typeof body !== 'object' || body === null || !('error' in body)) return false;
  const { error } = body;
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    typeof error.code === 'number' &&
    'name' in error &&
    typeof error.name === 'string' &&
    'message' in error &&
    typeof error.message === 'string' &&
    'outcome' in error &&
    (error.outcome === 'none' || error.outcome === 'unknown' || error.outcome === 'made')
  );
}
