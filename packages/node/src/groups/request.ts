import {
  badDataError,
  ErrorCode,
  type Format,
  type Outcome,
  type Outlet,
  QueryError,
  type RoomKey,
  type ScopeName,
  type Sender,
  type SessionAsk,
  type User,
  type WireValues,
} from '@althing/engine';
import type { ClientRequest, IdempotencyKey } from './entry.js';

/** The body of a request that runs a program. Its values are read by the engine, when the request runs. */
export type ProgramBody =
  | { readonly type: 'query'; readonly code: string; readonly vars: WireValues | null }
  | { readonly type: 'run'; readonly name: string; readonly args: WireValues | null };

/** The body of a request about rooms. */
export type RoomBody =
  | {
      readonly type: 'emit';
      readonly room: RoomKey;
      readonly event: string;
      /** An array; null for none. */
      readonly args: WireValues | null;
      /** The connection that does not get the event; null when all get it. */
      readonly except: Sender | null;
    }
  /** Finds rooms that a client of this node joins or leaves; it never goes to another node. */
  | {
      readonly type: 'find_rooms';
      readonly rooms: readonly RoomKey[];
      /** True if the user's whitelist counts. */
      readonly checksWhitelist: boolean;
    };

/** The body of a request about a session of its user. */
export interface SessionBody {
  readonly type: 'session';
  readonly ask: SessionAsk;
}

export type RequestBody = ProgramBody | RoomBody | SessionBody;

export interface Request<Body extends RequestBody = RequestBody> {
  readonly scope: ScopeName;
  readonly user: User;
  readonly body: Body;
  /** Milliseconds that it took to read the body; nothing for a short one. */
  readonly readMs?: number;
  /** The format of the answer. */
  readonly format: Format;
  readonly client: Client;
  /** The name by which the log and the client know the request; unknown for those of older nodes. */
  readonly id?: string;
  /** Special terms, which most requests don't have. */
  readonly terms?: Terms | null;
  /** Milliseconds that it may wait at most, if less than others. */
  readonly waitMs?: number;
  /** Key for the salts of passwords that it sets, by which its connection knows them again (`base/password-salts.ts`). */
  readonly saltKey?: Uint8Array;
  /** Collects what code says by `log`; nothing where nobody wants to know. */
  readonly logs?: LogTexts;
  /** Takes an answer of lines, where one is wanted in place of a single value. */
  readonly lines?: LineAnswer | null;
}

/** An answer of lines, before its end. */
export interface LineAnswer {
  /** Says what the lines show: a state, and how old it is. */
  begin(index: number, ageMs: number): void;
  /** Resolves when the client takes more; rejects when it is gone. One at a time. */
  write(bytes: Uint8Array): Promise<void>;
}

/** Texts of one request at most, and their characters; the log of the node has all. */
const LOG_TEXTS_MAX = 100;
const LOG_LENGTH_MAX = 64 * 1024;

/** Texts that code said by `log` in the last attempt of a request, as far as they fit. */
export class LogTexts implements Outlet {
  private all: string[] = [];
  private left = LOG_LENGTH_MAX;

  get texts(): readonly string[] {
    return this.all;
  }

  log(text: string): void {
    if (this.all.length >= LOG_TEXTS_MAX || text.length > this.left) return;
    this.left -= text.length;
    this.all.push(text);
  }

  /** Another attempt begins, or another request. */
  clear(): void {
    if (this.all.length > 0) this.all = [];
    this.left = LOG_LENGTH_MAX;
  }
}

export interface Terms {
  /** True if an answer from the state of this node will do, which may lag behind. */
  readonly stale: boolean;
  /** Terms of a read over a snapshot of the disk, with the age that it may have; null or nothing for all others. */
  readonly snapshot?: SnapshotTerms | null;
  /** Index that the state must hold at least. */
  readonly minIndex: number;
  /** The client's own name for the request, and the hash of its body. */
  readonly key: Omit<IdempotencyKey, 'user'> | null;
  /** The client's name for the request by numbers; not beside a key. */
  readonly name: Omit<ClientRequest, 'user'> | null;
  /** True if it runs as if its user had neither CHANGE nor GRANT, on any scope. */
  readonly readOnly: boolean;
  /** True if it is only tried out: it is answered with its result and the number of its changes, which are taken back; explained on top or not. It has no name. */
  readonly dryRun: boolean | 'explain';
  /** True if its answer says how long it took. */
  readonly timing?: boolean;
}

export interface SnapshotTerms {
  /** The age that the state may have, in milliseconds; null: any. */
  readonly maxAgeMs: number | null;
  /** True if the answer is a line for each value, if the door can do that. */
  readonly wantsLines?: boolean;
  /** True if the last of them says that these are all. */
  readonly hasEnd?: boolean;
}

/** The duration of a request, in milliseconds. */
export interface Timing {
  /** Until its code ran, and between two of its runs: its turn, other nodes, a password. */
  readonly queueMs: number;
  readonly runMs: number;
  /** Until what it changed, or saw, was committed. */
  readonly commitMs: number;
  /** Until the answer of the node that carried it out, where that is another one; 0 otherwise, and the others are 0 then. */
  readonly forwardMs: number;
}

/** The terms of a request that asks for nothing special. */
export const ORDINARY_TERMS: Terms = {
  stale: false,
  minIndex: 0,
  key: null,
  name: null,
  readOnly: false,
  dryRun: false,
};

export type ProgramRequest = Request<ProgramBody>;

/** The client, which waits for the answer. */
export interface Client {
  /** True if nobody waits any more. */
  readonly gone: boolean;
  /** Where it asks from, as long as that is known; null or nothing otherwise. */
  readonly address?: string | null;
}

/**
 * The outcome of the changes of a request that failed: there are none, and there never will be; nobody knows;
 * they were made, and only the answer could not be kept or sent.
 */
export type ChangeOutcome = 'none' | 'unknown' | 'made';

export type Reply = (
  | {
      readonly ok: true;
      readonly result: string | Uint8Array;
      /**
       * Index of the entry of the group's log that the answer reflects; 0 or nothing when it reflects none.
       */
      index?: number;
      /** True if it comes from a state that may lag behind. */
      readonly stale?: boolean;
      /** Age of the state of a snapshot read when it was taken, in milliseconds. */
      readonly snapshotAgeMs?: number;
      /** Cost of a snapshot read, as in the header `Althing-Cost`. */
      readonly cost?: string;
      /** The outcome to be told in case that the answer can't be sent; `none` when it is not there. */
      readonly outcome?: ChangeOutcome;
    }
  | {
      readonly ok: false;
      readonly error: QueryError;
      index?: number;
      /** True if the client used a name for two different requests. */
      readonly conflict?: boolean;
      /** True if its user asks for more than it may take just now, and nothing was done. */
      readonly throttled?: boolean;
      /** Whole seconds after which the client may try again, where that is known. */
      readonly retryAfterS?: number;
      /** `none` when it is not there. */
      readonly outcome?: ChangeOutcome;
      /**
       * True if it is the error of code that ran behind something that was made: of a future. Only beside the
       * outcome `made`, which otherwise tells that an answer is gone.
       */
      readonly own?: boolean;
      /**
       * True if the log holds under the request's name that nothing was changed, so that no copy of it that
       * is still on its way will change anything either. Only beside the outcome `none`.
       */
      readonly sealed?: boolean;
      /** True if the group's leadership was lost before there was an answer: another attempt may get one. */
      readonly lost?: boolean;
    }
) & {
  /** Where it was asked for. */
  readonly timing?: Timing;
};

export type FailedReply = Extract<Reply, { readonly ok: false }>;

/** The reply to a call that ran; `index` is to be filled in. */
export function replyOf(outcome: Outcome & { readonly kind: 'value' | 'error' }): Reply {
  if (outcome.kind === 'error') return { ok: false, error: outcome.error, index: 0 };
  const { result, change } = outcome;
  return change === null ? { ok: true, result, index: 0 } : { ok: true, result, index: 0, outcome: 'made' };
}

/** The reply to a request that was made in part, and then failed. */
export function failedBehind(error: QueryError, index: number): FailedReply {
  const reply = { ok: false, error, index, outcome: 'made' } as const;
  return isOfNode(error) ? reply : { ...reply, own: true };
}

/** True if an error tells of nodes, and not of the code that ran. */
function isOfNode({ code }: QueryError): boolean {
  return NODE_ERRORS.has(code);
}

const NODE_ERRORS: ReadonlySet<number> = new Set([ErrorCode.CANCELLED, ErrorCode.NODE, ErrorCode.TIMEOUT]);

/** An error behind which some of what was asked for may have been done. */
export class UnfinishedError extends QueryError {}

/** @param now the time by the clock of the request, where it was just looked at; default: it is looked at again */
export type Respond = (reply: Reply, now?: number) => void;

/** The answer to a request with a key, or another name, that another one had. */
export function conflictingKey(error: QueryError = KEY_USED): Reply {
  return { ok: false, error, conflict: true };
}

const KEY_USED = badDataError(
  'the Idempotency-Key was used for another request: use a new key for each request, and the same one only to repeat it',
);

/** The answer to a request with a number that another one of its client had. */
export function conflictingName({ client, sequence }: Pick<ClientRequest, 'client' | 'sequence'>): Reply {
  return conflictingKey(
    badDataError(
      `the client ${client} used the number ${sequence} of Althing-Request for another request: use each number once, and the same one only to repeat its request`,
    ),
  );
}
