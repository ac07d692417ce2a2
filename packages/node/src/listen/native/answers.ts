import {
  authError,
  badDataError,
  MsgpackWriter,
  nodeError,
  type QueryError,
  quotaError,
} from '@althing/engine';
import type { ChangeOutcome } from '../../groups/request.js';
import type { Login } from '../auth/authenticator.js';
import { TOO_MANY_LOGINS, UNSURE } from '../http/refusals.js';
import { detailKeys, writeDetail } from '../shared/error-detail.js';
import { placeKeys, writePlaces } from '../shared/error-places.js';
import { packedMap } from '../shared/packed-map.js';

/** `{error_code, error_msg}`, and where it is asked for the outcome, the place and the detail, as MessagePack. */
export function errorData(error: QueryError, outcome: ChangeOutcome | null): Uint8Array {
  const writer = new MsgpackWriter();
  writer.beginMap(outcome === null ? 2 : 3 + placeKeys(error) + detailKeys(error));
  writer.key('error_code');
  writer.int(error.code);
  writer.key('error_msg');
  writer.str(error.message);
  if (outcome !== null) {
    writer.key('outcome');
    writer.str(outcome);
    writePlaces(writer, error);
    writeDetail(writer, error);
  }
  return writer.out.take();
}

/** The data of the event NODE_STATUS. */
export function statusData(id: number, status: string): Uint8Array {
  return packedMap({ id, status });
}

export function warnData(code: number, message: string): Uint8Array {
  return packedMap({ warn_code: code, warn_msg: message });
}

/** Codes of WARN: what the node has to say of the connection, and what code said by `log`. */
export const WarnCode = { CONNECTION: 1, LOG: 2 } as const;

export const NOT_LOGGED_IN = authError(
  'the connection is not logged in: send AUTH with [user, password] or a token first',
);
export const WRONG_CREDENTIALS = authError('no such user, token or password, or it can not be used any more');
/** The errors of logins that failed. */
export const LOGIN_ERRORS: Readonly<Record<Exclude<Login['kind'], 'user'>, QueryError>> = {
  refused: WRONG_CREDENTIALS,
  unsure: UNSURE,
  busy: TOO_MANY_LOGINS,
};

export const ANSWERS_FULL = nodeError(
  'answers that clients do not read take too much memory (request_memory_limit_mb): try again',
);

export const TOO_MANY_WAIT = quotaError(
  'too many requests of this connection wait for their turn: wait for answers, or use several connections',
);

/** @param max bytes that a package may have */
export function packageTooLarge(max: number): QueryError {
  return badDataError(`the package is larger than request_size_limit (${max} bytes)`);
}

/** @param max bytes that a package may have before AUTH */
export function strangerTooLarge(max: number): QueryError {
  return badDataError(`a package may have ${max} bytes before the connection is logged in: send AUTH first`);
}
