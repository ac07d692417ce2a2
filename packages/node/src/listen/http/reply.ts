import { ErrorCode, errorName, type Format, MsgpackWriter, type QueryError, quote } from '@althing/engine';
import type { ChangeOutcome, FailedReply } from '../../groups/request.js';
import { detailJson, detailKeys, writeDetail } from '../shared/error-detail.js';
import { placeKeys, placesJson, writePlaces } from '../shared/error-places.js';

/** HTTP status lines of errors, by their code. */
const STATUS_BY_CODE: ReadonlyMap<number, string> = new Map([
  [ErrorCode.AUTH, '401 Unauthorized'],
  [ErrorCode.FORBIDDEN, '403 Forbidden'],
  [ErrorCode.LOOKUP, '404 Not Found'],
  [ErrorCode.BAD_DATA, '400 Bad Request'],
  [ErrorCode.SYNTAX, '400 Bad Request'],
  [ErrorCode.NODE, '503 Service Unavailable'],
  [ErrorCode.TIMEOUT, '504 Gateway Timeout'],
  [ErrorCode.RESULT_TOO_LARGE, '500 Internal Server Error'],
  [ErrorCode.CANCELLED_REQUEST, '500 Internal Server Error'],
  [ErrorCode.WRITE, '500 Internal Server Error'],
  [ErrorCode.MEMORY, '500 Internal Server Error'],
  [ErrorCode.INTERNAL, '500 Internal Server Error'],
]);

const UNKNOWN_STATUS = '504 Gateway Timeout';
const MADE_STATUS = '500 Internal Server Error';

/**
 * The status of a failed request; errors of queries that have none of their own are 422. Who gets 503 may
 * repeat the request, so it never stands for anything but `none`.
 */
export function statusOf(error: QueryError, outcome: ChangeOutcome = 'none'): string {
  if (outcome === 'unknown') return UNKNOWN_STATUS;
  if (outcome === 'made') return MADE_STATUS;
  return STATUS_BY_CODE.get(error.code) ?? '422 Unprocessable Entity';
}

/** The status of a reply that is no value. An error of the code has its own, also behind what was made. */
export function statusOfReply({ error, conflict, throttled, outcome = 'none', own }: FailedReply): string {
  if (throttled === true) return '429 Too Many Requests';
  if ((conflict === true || error.exists) && outcome === 'none') return '409 Conflict';
  return statusOf(error, own === true && outcome === 'made' ? 'none' : outcome);
}

export const CONTENT_TYPES: Readonly<Record<Format, string>> = {
  json: 'application/json',
  msgpack: 'application/msgpack',
};

/**
 * The first header of a response and those that follow from what it answers. uWebSockets.js writes what it is
 * given as the value of a header as it is, and a call costs more than what is written, so all of them go in
 * one call.
 */
export class Heads {
  private readonly others: string;
  private readonly always: Readonly<Record<Format, string>>;
  /** The ones that were made last: most reads come between two changes. */
  private readonly lastText: Record<Format, string> = { json: '', msgpack: '' };
  private readonly lastIndex: Record<Format, number> = { json: 0, msgpack: 0 };

  constructor(nodeName: string) {
    const others = `\r\nX-Content-Type-Options: nosniff\r\nAlthing-Node: ${nodeName}\r\nX-Request-Id: `;
    this.others = others;
    this.always = { json: CONTENT_TYPES.json + others, msgpack: CONTENT_TYPES.msgpack + others };
  }

  /**
   * @param id of the request: well-formed, see `RequestIds`
   * @param index of the entry that the answer reflects; 0 for none
   */
  of(format: Format, id: string, index = 0): string {
    if (index === 0) return this.always[format] + id;
    if (index !== this.lastIndex[format]) {
      this.lastIndex[format] = index;
      this.lastText[format] = `${CONTENT_TYPES[format]}\r\nAlthing-Index: ${index}${this.others}`;
    }
    return this.lastText[format] + id;
  }

  /** The head lines of an answer of another type. */
  ofType(contentType: string, id: string): string {
    return contentType + this.others + id;
  }
}

/** `{"error": {"code", "name", "message", "outcome", "at"?, "in"?, "calls"?, "detail"?}}` in the format of the request. */
export function errorBody(
  error: QueryError,
  format: Format,
  outcome: ChangeOutcome = 'none',
): string | Uint8Array {
  const name = errorName(error.code);
  if (format === 'json') {
    const message = quote(error.message);
    const head = `{"error":{"code":${error.code},"name":"${name}","message":${message},"outcome":"${outcome}"`;
    return `${head}${placesJson(error)}${detailJson(error)}}}`;
  }
  const writer = new MsgpackWriter();
  writer.beginMap(1);
  writer.key('error');
  writer.beginMap(4 + placeKeys(error) + detailKeys(error));
  writer.key('code');
  writer.int(error.code);
  writer.key('name');
  writer.str(name);
  writer.key('message');
  writer.str(error.message);
  writer.key('outcome');
  writer.str(outcome);
  writePlaces(writer, error);
  writeDetail(writer, error);
  return writer.out.take();
}

/**
 * The format that a Content-Type names; null when it is none that we read. Parameters don't count, but for
 * charset.
 */
export function formatOf(contentType: string): Format | null {
  // Nearly all name one of these two, and to compare takes less than to look up.
  if (contentType === CONTENT_TYPES.json) return 'json';
  if (contentType === CONTENT_TYPES.msgpack) return 'msgpack';
  const known = FORMATS.get(contentType);
  if (known !== undefined) return known;
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=');
    if (name.trim() === 'charset' && !/^"?utf-?8"?$/.test(value.trim())) return null;
  }
  return FORMATS.get(type.trim()) ?? null;
}

const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['application/json', 'json'],
  ['text/json', 'json'],
  ['application/msgpack', 'msgpack'],
  ['application/x-msgpack', 'msgpack'],
]);
