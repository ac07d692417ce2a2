import type { Format, QueryError, ScopeName, User, Value } from '@althing/engine';

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
    }
  | {
      readonly ok: false;
      readonly error: QueryError;
      index?: number;
      /**
       * The group's leadership was lost before there was an answer: a change may or may not take effect (`unknown`), or
       * there was none (`undone`).
       */
      readonly lost?: 'unknown' | 'undone';
    };

export type Respond = (reply: Reply) => void;
