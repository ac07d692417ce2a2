/** Options of a client, and of its calls. */
import type { ErrorOutcome } from '../errors/errors.js';
import type { IntsAs } from '../values/from-wire.js';

/** Credentials: a token, or a user with a password. */
export type Credentials = { readonly token: string } | { readonly user: string; readonly password: string };

/** Options of one call; `with` of a collection sets them for all calls of what it returns. */
export interface CallOptions {
  /** Gives calls up: they fail with {@link AbortError}. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for everything: waiting, all attempts, their pauses. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds for one attempt at one node. Default 12,000. */
  readonly attemptTimeoutMs?: number | undefined;
  /** Attempts at most. Default: as many as fit into the time. */
  readonly attemptsMax?: number | undefined;
  /**
   * `stale`: what the asked node has, without asking a majority; never older than what this client has seen in that scope.
   * `snapshot`: a read that may take minutes, over what the disk of that node has, in a thread of its own; with `timeoutMs` and
   * `attemptTimeoutMs` of such a length. Default `linearizable`: all that was acknowledged before.
   */
  readonly consistency?: 'linearizable' | 'stale' | 'snapshot' | undefined;
  /**
   * A name for the call that outlives this program, such as that of an order. A call of the same name and content, also of another
   * program, takes effect once within a day. It is for one call.
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * Lets the nodes refuse with {@link ForbiddenErr} what would change something: calls run as if their user had neither CHANGE nor GRANT.
   * Default false.
   */
  readonly readOnly?: boolean | undefined;
  /** Ints of answers. Default `auto`: numbers where they are exact, else bigints. */
  readonly ints?: IntsAs | undefined;
  /**
   * Values as they are on the wire, both ways: ints are bigints, numbers floats, maps a `Map` ({@link WireValue}). For tools that
   * show whether a number is an int or a float.
   */
  readonly exact?: boolean | undefined;
}

/** Options of the calls of a scope. */
export interface ScopeOptions extends CallOptions {
  /** True if calls are only tried out, see `DryRun`; with `explain` the answer tells what each statement took. Default false. */
  readonly dryRun?: boolean | 'explain';
}

/** Options of `$login`. */
export interface LoginOptions extends Pick<CallOptions, 'signal' | 'timeoutMs'> {
  /** True if nothing that is asked with the session may change anything, whatever the user may do. Default false. */
  readonly readOnly?: boolean | undefined;
  /** True if `$close` ends the session. Default true; false where its token is kept for another client. */
  readonly endsOnClose?: boolean | undefined;
}

/** A session: its token logs in as a token does, until it ends. */
export interface LoginSession {
  readonly token: string;
  readonly user: string;
  /** When it ends unless it is renewed, by the clock of the node. */
  readonly expiresAt: Date;
}

/** Trusted authorities of nodes, and the client's certificate: contents of PEM files. Node.js alone; browsers have their own. */
export interface TlsOptions {
  readonly ca?: string | Uint8Array | undefined;
  readonly cert?: string | Uint8Array | undefined;
  readonly key?: string | Uint8Array | undefined;
}

/** Limits of a client. */
export interface Limits {
  /** Requests that are sent and not answered. Default 64. */
  readonly requests?: number | undefined;
  /** Calls that wait until they may be sent. Default 1000; more fail with {@link QueueFullError}. */
  readonly waiting?: number | undefined;
  /** Bytes of an answer. Default 64 MB. */
  readonly answerBytes?: number | undefined;
  /** Levels of lists and maps in a value. Default 1000. */
  readonly nesting?: number | undefined;
  /** Events that wait to be read from one `room(...).events()`. Default 1000; more become a `gap`. */
  readonly events?: number | undefined;
}

/** A call, as hooks see it: the same object in all of them. No code and no values are in it. */
export interface HookCall {
  /** As `@:stuff`. */
  readonly scope: string;
  readonly kind: 'query' | 'run';
  /** The name of the procedure; null for a query. */
  readonly procedure: string | null;
}

/** One attempt of a call at one node. */
export interface HookAttempt {
  /** From 1 on. */
  readonly attempt: number;
  /** The address of the node, without credentials. */
  readonly node: string;
  /** Bytes of the request's body. */
  readonly bytes: number;
  /** Why the attempt before it came to nothing; null for the first one. */
  readonly failure: string | null;
}

/** The end of a call. */
export interface HookAnswer {
  readonly durationMs: number;
  readonly attempts: number;
  /** The address of the node that was asked last; null when none was. */
  readonly node: string | null;
  /** Bytes of the answer. */
  readonly bytes: number;
  /** The index of the log that the answer reflects; 0 where nothing tells. */
  readonly index: number;
  /** The times that the node took, as `queue;dur=0.1, run;dur=2.3`, for a request with the header `Althing-Timing: 1`; null for none. */
  readonly timing: string | null;
  /** `ok`, or what the error says of the changes. */
  readonly outcome: 'ok' | ErrorOutcome;
  /** The name of the error, such as `lookup_err` or `ConnectionError`; null for none. */
  readonly error: string | null;
}

type Headers = Readonly<Record<string, string>>;

/**
 * Functions that see calls, for traces and measures. `request` and `attempt` may return headers to send, such as `traceparent`
 * (over HTTP); an error that they throw fails the call before it is sent.
 */
export interface Hooks {
  readonly request?: (call: HookCall) => Headers | undefined;
  readonly attempt?: (call: HookCall, attempt: HookAttempt) => Headers | undefined;
  readonly answer?: (call: HookCall, answer: HookAnswer) => void;
}

/** Options of a connection. */
export interface ConnectOptions extends CallOptions {
  readonly token?: string | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** Asked for credentials when they are first needed, and once more for a call that is refused with 401. */
  readonly credentials?: (() => Credentials | Promise<Credentials>) | undefined;
  readonly tls?: TlsOptions | undefined;
  /**
   * The transport of calls. `http` (default): the HTTP API. `websocket`: `/@ws` at the same addresses. `tcp`: the native protocol at
   * `nativePort` of the same hosts, over TLS where the URL says https; Node.js alone.
   */
  readonly transport?: 'http' | 'websocket' | 'tcp' | undefined;
  /** The transport of events of rooms. Default: `websocket` where there is a global `WebSocket` (browsers, Node.js 22), else `tcp`. */
  readonly rooms?: 'websocket' | 'tcp' | undefined;
  /** The port of the native protocol (`listen_client_port`), or what gives it for each URL. Default 9200. */
  readonly nativePort?: number | ((url: URL) => number) | undefined;
  readonly limits?: Limits | undefined;
  readonly hooks?: Hooks | undefined;
}
