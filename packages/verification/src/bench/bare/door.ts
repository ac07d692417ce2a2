/** The door of the bare path: it takes the requests that the benchmark sends to a node, and looks at nothing but their code. */
import { App, type HttpResponse, us_socket_local_port } from 'uWebSockets.js';
import type { Replica } from './replica.js';

/** Bytes of an entry before the body that it keeps: its length. */
const ENTRY_HEAD_BYTES = 4;

/** Opens a door on a free port. */
export function openDoor(replica: Replica, onOpen: (port: number) => void): void {
  App()
    .post('/*', (response) => {
      let isOpen = true;
      let before: Uint8Array | undefined;
      response.onAborted(() => {
        isOpen = false;
      });
      const done = (index: number): void => {
        if (isOpen) answer(response, index);
      };
      response.onData((chunk, isLast) => {
        const entry = joined(before, new Uint8Array(chunk));
        if (!isLast) before = entry;
        else if (isChange(entry)) replica.write(entry, 1, done);
        else replica.read(done);
      });
    })
    .listen('127.0.0.1', 0, (socket) => {
      if (socket === false) throw new Error('no port to listen on');
      onOpen(us_socket_local_port(socket));
    });
}

/** An entry with what came of a body so far; a chunk belongs to the server, which uses it again. */
function joined(before: Uint8Array | undefined, chunk: Uint8Array): Buffer {
  const head = before ?? new Uint8Array(ENTRY_HEAD_BYTES);
  const entry = Buffer.allocUnsafe(head.length + chunk.length);
  entry.set(head);
  entry.set(chunk, head.length);
  entry.writeUInt32LE(entry.length - ENTRY_HEAD_BYTES, 0);
  return entry;
}

function isChange(entry: Buffer): boolean {
  const request: unknown = JSON.parse(entry.toString('utf8', ENTRY_HEAD_BYTES));
  const isQuery = typeof request === 'object' && request !== null && 'code' in request;
  return isQuery && String(request.code).includes('=');
}

function answer(response: HttpResponse, index: number): void {
  response.cork(() => response.writeHeader('Content-Type', 'application/json').end(String(index)));
}
