/** One attempt of a request at one node, and how it can end: between the logic of requests and the transports. */
import type { CallOptions, Credentials } from '../api/options.js';
import type { ChangeOutcome, ErrorOrigin } from '../errors/query-errors.js';
import type { ScopeName } from '../scope.js';
import type { Writable } from '../wire/exact.js';
import type { NodeAddress } from './node-list.js';

/** A request, as it is sent once. */
export interface Attempt {
  readonly node: NodeAddress;
  readonly scope: ScopeName;
  readonly method: 'POST' | 'DELETE';
  /** As the transport made it of the program: the same bytes in each attempt. */
  readonly body: Uint8Array;
  readonly credentials: Credentials | null;
  /** `CLIENT.SEQUENCE.LOW`; null for none. */
  readonly request: string | null;
  /** The caller's own name for it; null for none. */
  readonly idempotencyKey: string | null;
  /** Nothing: all that was acknowledged before. */
  readonly consistency: CallOptions['consistency'];
  readonly readOnly: boolean;
  readonly dryRun: boolean | 'explain';
  /** 0 for none. */
  readonly minIndex: number;
  readonly timeoutMs: number;
  /** Headers that hooks set. */
  readonly headers: Readonly<Record<string, string>>;
  /** True if it must not go on a connection that was used before. */
  readonly isFresh: boolean;
}

/** An error in an answer. */
export interface Failure extends ErrorOrigin {
  readonly code: number;
  readonly name?: string | undefined;
  readonly message: string;
  readonly outcome: ChangeOutcome;
}

/** The answer of a node. */
export interface Reply {
  /** HTTP status, or the one that stands for the same. */
  readonly status: number;
  /** The bytes of the value, or of the error. */
  readonly body: Uint8Array;
  /** Null for a value. A `malformed` answer is none of a node. */
  readonly failure: Failure | 'malformed' | null;
  /** The index that the answer reflects; 0 where nothing tells. */
  readonly index: number;
  /** The wait that the node asks for; null for none. */
  readonly retryAfterMs: number | null;
  /** True if the node ends its connections. */
  readonly closes: boolean;
  readonly node: string | null;
  readonly requestId: string | null;
  /** The header `Server-Timing`, over HTTP alone. */
  readonly timing?: string | null;
}

export type AttemptEnd =
  | { readonly kind: 'answered'; readonly reply: Reply }
  /** There was no connection: nothing was sent. */
  | { readonly kind: 'unsent'; readonly error: unknown }
  /** There was a connection, and no whole answer. `wasReused`: it had been used before, and died before the first byte of an answer. */
  | { readonly kind: 'lost'; readonly error: unknown; readonly wasReused: boolean }
  /** The answer has more bytes than are taken. */
  | { readonly kind: 'too_large'; readonly bytesMax: number };

/** An attempt under way. */
export interface Sent {
  /** Never rejects. */
  readonly end: Promise<AttemptEnd>;
  /** Gives it up: `end` settles soon. */
  cancel(): void;
}

/** The body of a request: the run of a program, or something with a session. */
export type Program =
  | {
      readonly kind: 'query' | 'run';
      /** Code, or the name of a procedure. */
      readonly text: string;
      /** Variables or arguments; null for none. */
      readonly values: Writable | null;
    }
  | SessionProgram;

/** A request about a session, over HTTP. */
export interface SessionProgram {
  readonly kind: 'session';
  /** The method. */
  readonly text: 'POST' | 'DELETE';
  /** The body. */
  readonly values: Writable;
  /** Credentials in the place of those of the client. */
  readonly credentials: Credentials;
}

/** A way to nodes. */
export interface Transport {
  /** The bytes that stand for a program, the same for each attempt. */
  bodyOf(scope: ScopeName, program: Program): Uint8Array;
  send(attempt: Attempt): Sent;
  /** Ends all connections. */
  close(): void;
}
