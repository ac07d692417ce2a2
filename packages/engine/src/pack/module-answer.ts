/** Requests to modules as they are sent, and answers as they come. */
import { ErrorCode, QueryError, quotaError } from '../error.js';
import type { ModuleRequest } from '../value/future.js';
import { MpData } from '../value/scalars.js';
import type { Value } from '../value/value.js';
import { checkMsgpack } from './msgpack-check.js';
import { MsgpackReader } from './msgpack-reader.js';
import { MsgpackWriter } from './msgpack-writer.js';
import { MSGPACK_NESTING_MAX, type PackOptions, pack } from './walk.js';
import type { WireOptions } from './wire-values.js';

/**
 * Packs a request as clients get things, with their ids.
 *
 * @param options those of results
 * @throws QueryError max_quota_err for one that is too large
 */
export function packRequest({ build, deep }: ModuleRequest, options: PackOptions): Uint8Array {
  const sink = new MsgpackWriter();
  try {
    // The request itself is level 0.
    pack(build(), sink, { ...options, deep: deep + 1, ids: true, nestingMax: MSGPACK_NESTING_MAX });
  } catch (error) {
    if (!(error instanceof QueryError) || error.code !== ErrorCode.RESULT_TOO_LARGE) throw error;
    throw quotaError(`the request to the module is larger than result_size_limit (${options.sizeMax} bytes)`);
  }
  return sink.out.take();
}

/**
 * The answer of a module as a value.
 *
 * @param load whether it becomes values of the language; else it stays packed
 * @throws QueryError bad_data_err for what is not exactly one value, and what the language refuses
 */
export function readAnswer(data: Uint8Array, load: boolean, { shapes, onValues }: WireOptions): Value {
  checkMsgpack(data, onValues, load);
  if (!load) return new MpData(data);
  return new MsgpackReader(data, shapes, MSGPACK_NESTING_MAX, onValues).value();
}
