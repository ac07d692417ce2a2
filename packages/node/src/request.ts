import { ErrorCode, type Format, QueryError, type ScopeName, type User, type Value } from '@althing/engine';

/** What a client asks for, decoded. */
export type RequestBody =
  | { readonly type: 'query'; readonly code: string; readonly vars: ReadonlyMap<string, Value> | null }
  | {
      readonly type: 'run';
      readonly name: string;
      readonly args: readonly Value[] | ReadonlyMap<string, Value>;
    };

export interface Request {
  readonly scope: ScopeName;
  readonly user: User;
  readonly body: RequestBody;
  /** The format of the answer. */
  readonly format: Format;
  readonly client: Client;
  /** The name by which the log and the client know the request; unknown for those of older nodes. */
  readonly id?: string;
  /** What most requests don't ask for. */
  readonly terms?: Terms | null;
}

export interface Terms {
  /** Whether an answer from the state of this node will do, which may lag behind. */
  readonly stale: boolean;
  /** Index that the state must hold at least. */
  readonly minIndex: number;
  /** The client's own name for the request, and the hash of its body. */
  readonly key: { readonly key: string; readonly body: Uint8Array } | null;
}

/** Who waits for the answer. */
export interface Client {
  /** Whether nobody waits any more. */
  readonly gone: boolean;
}

/** The answer to a request. */
export type Reply =
  | {
      readonly ok: true;
      readonly result: string | Uint8Array;
      /** Index of the entry of the group's log that the answer reflects; 0 or nothing when it reflects none. */
      index?: number;
      /** Whether it comes from a state that may lag behind. */
      readonly stale?: boolean;
    }
  | {
      readonly ok: false;
      readonly error: QueryError;
      index?: number;
      /** Whether the client used a key for two different requests. */
      readonly conflict?: boolean;
      /**
       * The group's leadership was lost before there was an answer: a change may or may not take effect (`unknown`), or
       * there was none (`undone`).
       */
      readonly lost?: 'unknown' | 'undone';
    };

export type Respond = (reply: Reply) => void;

/** The answer to a request with a key that another one had. */
export function conflictingKey(error: QueryError = KEY_USED): Reply {
  return { ok: false, error, conflict: true };
}

const KEY_USED = new QueryError(
  ErrorCode.BAD_DATA,
  'the Idempotency-Key was used for another request: use a new key for each request, and the same one only to repeat it',
);
