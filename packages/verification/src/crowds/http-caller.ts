import { encodeMessagePack, PackageType, type WireValue } from '@althing/client';
import type { ScopeName } from '@althing/engine';
import type { Process } from '../simulation/process.js';
import type { Draw } from '../simulation/random.js';
import type { Answered } from '../simulation/sockets/session.js';
import type { World } from '../simulation/world.js';
import { PIECE_MS, type Sent } from './caller.js';
import type { HttpDoor } from './http-door.js';
import { ThreadResponse } from './thread-response.js';

/** Bytes that uWebSockets.js reads of a connection in a row. */
const PIECE_BYTES = 512 * 1024;

export interface HttpCallerOptions {
  readonly world: World;
  readonly process: Process;
  readonly door: HttpDoor;
  readonly token: string;
  readonly draw: Draw;
  readonly format: 'json' | 'msgpack';
  /** Mean time of a piece of what it sends on its way, in milliseconds. */
  readonly pieceMs?: number | undefined;
}

/** A client of the HTTP API, with a connection for one request at a time. */
export class HttpCaller {
  /** It goes on with another connection. */
  readonly isOver = false;
  private isDeaf = false;

  constructor(private readonly options: HttpCallerOptions) {}

  /** Sends what a query or a run is as a package. */
  send([type, ...data]: Sent, answered: Answered): void {
    const { world, process, door, token, draw, format, pieceMs = PIECE_MS } = this.options;
    const { scheduler } = world;
    const thread = process.engineThread;
    const [scope, text = null, values = null] = data;
    const isQuery = type === PackageType.QUERY;
    const body = encoded(format, {
      type: isQuery ? 'query' : 'run',
      [isQuery ? 'code' : 'name']: text,
      ...(values === null ? {} : { [isQuery ? 'vars' : 'args']: values }),
    });
    const res = new ThreadResponse(
      () => this.isDeaf,
      (status, message) =>
        scheduler.at(thread.now + draw.exponential(pieceMs), () =>
          answered(
            status.startsWith('200')
              ? { ok: true, value: null }
              : { ok: false, code: 0, message: `${status}: ${message}`, outcome: null },
          ),
        ),
    );
    let time = scheduler.now;
    for (let start = 0; start < body.length; start += PIECE_BYTES) {
      const piece = body.subarray(start, start + PIECE_BYTES);
      time += draw.exponential(pieceMs);
      thread.at(time, () => {
        if (start === 0)
          door.receive(res, {
            scope: scopeOf(scope),
            format,
            authorization: `Bearer ${token}`,
            length: body.length,
          });
        res.receive(piece, start + PIECE_BYTES >= body.length);
      });
    }
  }

  /** Reads nothing more. */
  hold(): void {
    this.isDeaf = true;
  }
}

function scopeOf(scope: WireValue | undefined): ScopeName {
  return scope === '@thingsdb' ? { kind: 'thingsdb' } : { kind: 'collection', name: 'stuff' };
}

function encoded(format: 'json' | 'msgpack', fields: Readonly<Record<string, WireValue>>): Uint8Array {
  if (format === 'msgpack') return encodeMessagePack(new Map(Object.entries(fields)));
  return Buffer.from(JSON.stringify(fields, (_key, value: unknown) => plain(value)));
}

/** A value for JSON. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  return value instanceof Map ? Object.fromEntries(value) : value;
}
