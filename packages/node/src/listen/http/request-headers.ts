/**
 * The headers of a request, and where the request ends.
 *
 * The parser of uWebSockets.js takes a header without a name (`: x`) for the end of the headers that it
 * shows, but not for the end of the head: what stands behind it, perhaps a length, it does not see itself,
 * and nobody else can. Where a proxy in front reads that length, what the proxy takes for a body would be
 * requests here. So the headers that are shown prove nothing alone. A connection goes on behind a request
 * only if its end is certain: a POST with one Content-Length, whose body begins as a JSON object or a map of
 * MessagePack does and not as a chunk could (see `beginsAsBody`). Behind any other one the connection ends,
 * and what follows is never taken for a request.
 */
import type { HttpRequest } from 'uWebSockets.js';
import type { RequestIds } from '../shared/request-ids.js';
import type { TermHeaders } from '../shared/terms.js';

export interface RequestHeaders {
  /** The name of the request: the client's own, or one that it got here. */
  readonly id: string;
  readonly host: string;
  /** Of the page that sends the request; null for none. */
  readonly origin: string | null;
  /** Whether a browser asks if it may send another request. */
  readonly isPreflight: boolean;
  /** Null when there is none, or more than one. */
  readonly authorization: string | null;
  readonly forwardedFor: string;
  readonly contentType: string;
  readonly contentLength: number;
  readonly contentEncoding: boolean;
  /**
   * Whether the connection ends with the answer, since the request may not end where it seems to: see
   * `writeLater`.
   */
  readonly isLast: boolean;
  /** Null when there are none of these headers. */
  readonly terms: TermHeaders | null;
  /** The problem of the request's framing, by which it could be read as another request. */
  readonly malformed: string | null;
}

/** @param isLast whether the connection ends with the answer in any case */
export function readHeaders(
  req: Pick<HttpRequest, 'forEach'>,
  method: string,
  ids: RequestIds,
  isLast: boolean,
): RequestHeaders {
  let requestId: string | null = null;
  let host = '';
  let hosts = 0;
  let origin: string | null = null;
  let isPreflight = false;
  let authorization: string | null = null;
  let authorizations = 0;
  let forwardedFor = '';
  let contentType = '';
  let contentLength = 0;
  let contentLengths = 0;
  let contentEncoding = false;
  let chunked = false;
  let malformed: string | null = null;
  let terms: TermHeaders | null = null;
  req.forEach((name, value) => {
    switch (name) {
      case 'host':
        host = value;
        hosts += 1;
        if (hosts > 1) malformed = 'there is more than one Host';
        break;
      case 'origin':
        if (origin !== null) malformed = 'there is more than one Origin';
        origin = value;
        break;
      case 'access-control-request-method':
        isPreflight = method === 'OPTIONS';
        break;
      case 'authorization':
        authorization = value;
        authorizations += 1;
        break;
      case 'content-type':
        contentType = value;
        break;
      case 'content-length':
        contentLength = Number(value);
        contentLengths += 1;
        if (contentLengths > 1) malformed = 'there is more than one Content-Length';
        else if (!isDecimal(value)) malformed = 'Content-Length must be a number';
        break;
      case 'content-encoding':
        contentEncoding = value.toLowerCase() !== 'identity';
        break;
      case 'transfer-encoding':
        if (chunked || value.toLowerCase() !== 'chunked') malformed = 'Transfer-Encoding must be chunked';
        chunked = true;
        break;
      case 'x-forwarded-for':
        forwardedFor = forwardedFor === '' ? value : `${forwardedFor},${value}`;
        break;
      case 'x-request-id':
        requestId = value;
        break;
      case 'consistency':
        terms ??= noTerms();
        terms.consistency = value.toLowerCase();
        break;
      case 'althing-min-index':
        terms ??= noTerms();
        terms.minIndex = value;
        break;
      case 'idempotency-key':
        terms ??= noTerms();
        terms.key = value;
        break;
      case 'althing-request':
        terms ??= noTerms();
        terms.request = value;
        break;
      default:
    }
  });
  if (authorizations > 1) authorization = null;
  if (chunked && contentLengths > 0) malformed = 'there are both Content-Length and Transfer-Encoding';
  return {
    id: ids.idOf(requestId),
    host,
    origin,
    isPreflight,
    authorization,
    forwardedFor,
    contentType,
    contentLength,
    contentEncoding,
    isLast: isLast || contentLength === 0 || chunked || method !== 'POST',
    terms,
    malformed,
  };
}

/** Whether a text has nothing but decimal digits, and at least one. */
function isDecimal(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x30 || code > 0x39) return false;
  }
  return text !== '';
}

/** Whether a body that begins with this byte can be one that the API takes, and can't be one in chunks. */
export function beginsAsBody(byte: number | undefined): boolean {
  // Maps of MessagePack have the highest bit; a chunk begins with a hexadecimal digit, and perhaps with
  // blanks.
  return byte === OPENING_BRACE || (byte !== undefined && byte >= 0x80);
}

const OPENING_BRACE = 0x7b;

function noTerms(): TermHeaders {
  return { consistency: null, minIndex: null, key: null, request: null };
}
