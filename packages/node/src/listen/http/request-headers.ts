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
import { noTerms, numberedOf, type TermHeaders } from '../shared/terms.js';

/** The headers of a request, as far as they are used. */
class HeadersRead {
  /** The name of the request: the client's own, or one that it got here. */
  id = '';
  host = '';
  /** The origin of the page that sends the request; null for none. */
  origin: string | null = null;
  /** True if a browser says that a page of another origin has it sent: without `Origin`, where the page is not to read the answer. */
  isFromElsewhere = false;
  /** True if a browser asks if it may send another request. */
  isPreflight = false;
  /** Null when there is none, or more than one. */
  authorization: string | null = null;
  forwardedFor = '';
  contentType = '';
  contentLength = 0;
  contentEncoding = false;
  /**
   * True if the connection ends with the answer, since the request may not end where it seems to: see
   * `writeLater`.
   */
  isLast = false;
  /** Null when there are none of these headers. */
  terms: TermHeaders | null = null;
  /** The problem of the request's framing, by which it could be read as another request. */
  malformed: string | null = null;
  requestId: string | null = null;
  hosts = 0;
  authorizations = 0;
  contentLengths = 0;
  chunked = false;

  constructor(readonly method: string) {}
}

export type RequestHeaders = Readonly<
  Omit<HeadersRead, 'requestId' | 'hosts' | 'authorizations' | 'contentLengths' | 'chunked' | 'method'>
>;

/** Reads the headers of requests, one request at a time. */
export class HeaderReader {
  private into = new HeadersRead('');

  constructor(private readonly ids: RequestIds) {}

  /** @param isLast whether the connection ends with the answer in any case */
  read(req: Pick<HttpRequest, 'forEach' | 'getQuery'>, method: string, isLast: boolean): RequestHeaders {
    const read = new HeadersRead(method);
    this.into = read;
    req.forEach(this.take);
    if (read.terms !== null && read.terms.accept !== null) read.terms.hasEnd = req.getQuery() === END_QUERY;
    const { contentLength, contentLengths, chunked } = read;
    if (read.authorizations > 1) read.authorization = null;
    if (chunked && contentLengths > 0) read.malformed = 'there are both Content-Length and Transfer-Encoding';
    read.id = this.ids.idOf(read.requestId);
    read.isLast = isLast || contentLength === 0 || chunked || method !== 'POST';
    return read;
  }

  /** Made once, and not for each request. */
  private readonly take = (name: string, value: string): void => {
    const { into } = this;
    switch (name) {
      case 'host':
        into.host = value;
        into.hosts += 1;
        if (into.hosts > 1) into.malformed = 'there is more than one Host';
        break;
      case 'origin':
        if (into.origin !== null) into.malformed = 'there is more than one Origin';
        into.origin = value;
        break;
      case 'sec-fetch-site':
        into.isFromElsewhere = value === 'cross-site' || value === 'same-site';
        break;
      case 'access-control-request-method':
        into.isPreflight = into.method === 'OPTIONS';
        break;
      case 'authorization':
        into.authorization = value;
        into.authorizations += 1;
        break;
      case 'content-type':
        into.contentType = value;
        break;
      case 'content-length':
        into.contentLength = Number(value);
        into.contentLengths += 1;
        if (into.contentLengths > 1) into.malformed = 'there is more than one Content-Length';
        else if (!isDecimal(value)) into.malformed = 'Content-Length must be a number';
        break;
      case 'content-encoding':
        into.contentEncoding = value.toLowerCase() !== 'identity';
        break;
      case 'transfer-encoding':
        if (into.chunked || value.toLowerCase() !== 'chunked') {
          into.malformed = 'Transfer-Encoding must be chunked';
        }
        into.chunked = true;
        break;
      case 'x-forwarded-for':
        into.forwardedFor = into.forwardedFor === '' ? value : `${into.forwardedFor},${value}`;
        break;
      case 'x-request-id':
        into.requestId = value;
        break;
      case 'consistency':
        into.terms ??= noTerms();
        into.terms.consistency = value.toLowerCase();
        break;
      case 'althing-min-index':
        into.terms ??= noTerms();
        into.terms.minIndex = value;
        break;
      case 'althing-max-age':
        into.terms ??= noTerms();
        into.terms.maxAge = value;
        break;
      case 'accept':
        if (!value.includes('application/x-ndjson')) break;
        into.terms ??= noTerms();
        into.terms.accept = value;
        break;
      case 'idempotency-key':
        into.terms ??= noTerms();
        into.terms.key = value;
        break;
      case 'althing-request':
        into.terms ??= noTerms();
        into.terms.request = numberedOf(value);
        break;
      case 'althing-timing':
        into.terms ??= noTerms();
        into.terms.timing = value;
        break;
      case 'althing-read-only':
        into.terms ??= noTerms();
        // A second one must not lift what the first one demands: together they are neither true nor false.
        into.terms.readOnly = joined(into.terms.readOnly, value.toLowerCase());
        break;
      case 'althing-dry-run':
        into.terms ??= noTerms();
        into.terms.dryRun = joined(into.terms.dryRun, value.toLowerCase());
        break;
      default:
    }
  };
}

/** True if a text has nothing but decimal digits, and at least one. */
function isDecimal(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x30 || code > 0x39) return false;
  }
  return text !== '';
}

/** True if a body that begins with this byte can be one that the API takes, and can't be one in chunks. */
export function beginsAsBody(byte: number | undefined): boolean {
  // Maps of MessagePack have the highest bit; a chunk begins with a hexadecimal digit, and perhaps with
  // blanks.
  return byte === OPENING_BRACE || (byte !== undefined && byte >= 0x80);
}

const OPENING_BRACE = 0x7b;

/** Asks for a last line that says what there was. */
const END_QUERY = 'end=1';

function joined(first: string | null, second: string): string {
  return first === null ? second : `${first}, ${second}`;
}
