/** A server that answers as a test says, for what a real node never does. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { decodeMessagePack, encodeMessagePack } from '../wire/msgpack.js';
import { type WireValue, wireMap } from '../wire/value.js';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: WireValue;
  readonly socket: Socket;
}

export type Answering = (response: ServerResponse, asked: Asked) => void;

export class FakeNode {
  readonly url: string;
  readonly port: number;
  /** The questions, in order. */
  readonly asked: Asked[] = [];
  /** Connections that are open. */
  readonly sockets = new Set<Socket>();
  readonly #server: Server;

  /** @param answer how requests are answered; `replies` makes one */
  static async start(answer: Answering, port = 0): Promise<FakeNode> {
    const asked: Asked[] = [];
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const { method = '', url = '', headers, socket } = request;
        const bytes = Buffer.concat(parts);
        const body = bytes.length === 0 ? null : decodeMessagePack(bytes);
        const one = { method, path: url, headers, body, socket };
        asked.push(one);
        answer(response, one);
      });
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return new FakeNode(server, asked);
  }

  private constructor(server: Server, asked: Asked[]) {
    this.#server = server;
    this.asked = asked;
    this.port = (server.address() as AddressInfo).port;
    this.url = `http://127.0.0.1:${this.port}`;
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  /** The names of all requests. */
  get names(): (string | undefined)[] {
    return this.asked.map(({ headers }) => headers['althing-request']?.toString());
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Answers one after the other; the last one again and again. */
export function inTurn(...answers: readonly Answering[]): Answering {
  let next = 0;
  return (response, asked) => {
    const answer = answers[Math.min(next, answers.length - 1)];
    next += 1;
    answer?.(response, asked);
  };
}

export function value(of: WireValue, headers: Readonly<Record<string, string>> = {}): Answering {
  return (response) => {
    response.writeHead(200, { 'Content-Type': 'application/msgpack', ...headers });
    response.end(encodeMessagePack(of));
  };
}

export function failure(
  status: number,
  code: number,
  outcome: string,
  {
    message = 'no',
    headers = {},
  }: { readonly message?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Answering {
  return (response) => {
    response.writeHead(status, {
      'Content-Type': 'application/msgpack',
      'X-Request-Id': 'r-1',
      'Althing-Node': 'alpha',
      ...headers,
    });
    const error = wireMap({ code: BigInt(code), name: 'some_err', message, outcome });
    response.end(encodeMessagePack(wireMap({ error })));
  };
}

/** Takes the request and cuts the connection. */
export const hangUp: Answering = (_, { socket }) => void socket.destroy();

/** Takes the request and never answers. */
export const silent: Answering = () => {};

/** Answers with bytes of any kind. */
export function bytes(
  status: number,
  body: Uint8Array | string,
  headers: Readonly<Record<string, string>> = {},
): Answering {
  return (response) => {
    response.writeHead(status, headers);
    response.end(body);
  };
}

/** A port of this machine that nothing listens on. */
export async function closedPort(): Promise<number> {
  const node = await FakeNode.start(silent);
  await node.stop();
  return node.port;
}
