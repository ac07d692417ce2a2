/** The opening handshake of a WebSocket (RFC 6455, section 4.2). */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The subprotocol, for clients that ask for one. */
export const SUBPROTOCOL = 'thingsdb-protocol';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** The answer to a handshake, and whether the connection speaks frames behind it. */
export interface Handshake {
  readonly answer: string;
  readonly accepted: boolean;
}

/** Answers a request that wants to go on as a WebSocket. */
export function shakeHands(method: string, headers: IncomingHttpHeaders): Handshake {
  const key = headers['sec-websocket-key'];
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket' || !isKey(key)) {
    return refused('400 Bad Request', 'this is no handshake of a WebSocket');
  }
  if (headers['sec-websocket-version'] !== '13') {
    return refused(
      '426 Upgrade Required',
      'version 13 of WebSocket is spoken here',
      'Sec-WebSocket-Version: 13',
    );
  }
  const protocol = subprotocolOf(headers['sec-websocket-protocol']);
  if (protocol === undefined) {
    return refused('400 Bad Request', `the subprotocol that is spoken here is ${SUBPROTOCOL}`);
  }
  const accept = createHash('sha1').update(`${key}${GUID}`).digest('base64');
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
    ...(protocol === null ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
  ];
  return { answer: `${lines.join('\r\n')}\r\n\r\n`, accepted: true };
}

/** Null when the client asks for none, undefined when it asks for others. */
export function subprotocolOf(header: string | undefined): string | null | undefined {
  if (header === undefined || header === '') return null;
  const names = header.split(',').map((name) => name.trim());
  return names.includes(SUBPROTOCOL) ? SUBPROTOCOL : undefined;
}

/** The answer to a request that is no handshake. */
export function refused(status: string, why: string, header?: string): Handshake {
  const lines = [
    `HTTP/1.1 ${status}`,
    'Content-Type: text/plain',
    `Content-Length: ${why.length + 1}`,
    'Connection: close',
    ...(header === undefined ? [] : [header]),
  ];
  return { answer: `${lines.join('\r\n')}\r\n\r\n${why}\n`, accepted: false };
}

/** 16 bytes in base64. */
function isKey(text: string | undefined): boolean {
  return text !== undefined && /^[A-Za-z0-9+/]{22}==$/.test(text);
}
