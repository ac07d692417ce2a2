/**
 * Steps over the native protocol: connections that last as long as their case, what is pushed to them, and scopes exactly as they
 * are written.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  isWireList,
  isWireMap,
  PackageType,
  SocketClient,
  SocketError,
  type SocketEvent,
  WebSocketChannel,
  type WireValue,
  wireMap,
} from '@althing/client';
import { messageOf } from '@althing/storage';
import type { Credentials, Outcome } from '../harness/node-client.js';

/** Acts of a step on a connection, besides queries and runs. */
export type SocketAction = 'join' | 'leave' | 'emit' | 'emit_peers' | 'events';

/** The request of a step. */
export type SocketRequest =
  | { readonly kind: 'code'; readonly code: string; readonly vars: WireValue | undefined }
  | { readonly kind: 'run'; readonly name: string; readonly args: WireValue }
  | { readonly kind: 'socket'; readonly action: SocketAction; readonly values: readonly WireValue[] };

/** So long nothing new must have come until all counts as pushed, in milliseconds. */
const QUIET_MS = 500;

const PUSHES: ReadonlyMap<number, string> = new Map([
  [PackageType.ROOM_JOIN, 'join'],
  [PackageType.ROOM_LEAVE, 'leave'],
  [PackageType.ROOM_EMIT, 'emit'],
  [PackageType.ROOM_DELETE, 'delete'],
  [PackageType.WARN, 'warn'],
]);

interface Open {
  readonly client: SocketClient;
  pushed: WireValue[];
  pushedAt: number;
}

export class CaseSockets {
  readonly #url: URL;
  readonly #open = new Map<string, Open>();

  /** @param url of the API of a node */
  constructor(url: string) {
    this.#url = new URL(url);
  }

  /**
   * Does a step.
   *
   * @param name of the connection; undefined for any
   */
  async send(
    name: string | undefined,
    as: Credentials,
    scope: string,
    request: SocketRequest,
  ): Promise<Outcome> {
    try {
      const open = await this.#connection(name ?? `as ${JSON.stringify(as)}`, as);
      return { kind: 'value', value: await this.#do(open, scope, request) };
    } catch (error) {
      if (error instanceof SocketError) return { kind: 'error', code: error.code, message: error.message };
      return { kind: 'broken', why: messageOf(error) };
    }
  }

  close(): void {
    for (const { client } of this.#open.values()) client.close();
    this.#open.clear();
  }

  async #connection(name: string, as: Credentials): Promise<Open> {
    const known = this.#open.get(name);
    if (known !== undefined) return known;
    const place = { host: this.#url.hostname, port: Number(this.#url.port) };
    const client = new SocketClient(await WebSocketChannel.open(place, '/@ws'));
    const open: Open = { client, pushed: [], pushedAt: performance.now() };
    client.onEvent = (event) => {
      const pushed = pushedOf(event);
      if (pushed === null) return;
      open.pushed.push(pushed);
      open.pushedAt = performance.now();
    };
    try {
      if ('token' in as) await client.login(as.token);
      else await client.login({ user: as.basic[0], password: as.basic[1] });
    } catch (error) {
      client.close();
      throw error;
    }
    this.#open.set(name, open);
    return open;
  }

  async #do(open: Open, scope: string, request: SocketRequest): Promise<WireValue> {
    const { client } = open;
    if (request.kind === 'code') {
      const { code, vars } = request;
      return client.ask(PackageType.QUERY, vars === undefined ? [scope, code] : [scope, code, vars]);
    }
    if (request.kind === 'run') return client.ask(PackageType.RUN, [scope, request.name, request.args]);
    const { action, values } = request;
    if (action === 'events') {
      open.pushedAt = performance.now();
      while (performance.now() - open.pushedAt < QUIET_MS) await sleep(20);
      return open.pushed.splice(0);
    }
    const answer = await client.ask(TYPES[action], [scope, ...values]);
    return isWireList(answer) ? answer.map((id) => (id === null ? null : wireMap({ '#': id }))) : answer;
  }
}

const TYPES: Readonly<Record<Exclude<SocketAction, 'events'>, number>> = {
  join: PackageType.JOIN,
  leave: PackageType.LEAVE,
  emit: PackageType.EMIT,
  emit_peers: PackageType.EMIT_PEER,
};

/** An event as cases write it; null for one that they leave out. */
function pushedOf({ type, data }: SocketEvent): WireValue | null {
  const push = PUSHES.get(type);
  if (push === undefined || !isWireMap(data)) return null;
  const { id, ...fields } = Object.fromEntries(data);
  return wireMap({ push, ...fields, '#': id });
}
