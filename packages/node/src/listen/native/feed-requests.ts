/**
 * The feeds of changes of one connection:
 *
 *   CHANGES       [scope, options?]                   begins one, in the place of that of the same scope; {stop: true} ends that
 *   options       {since?: str, types?: [str], ids?: [int], things?: bool, stop?: bool}
 *
 * The event CHANGES is `[scope, line]`, CHANGES_END `[scope, {lost: true, oldest} | {ended}]`, with the scope as the client wrote it.
 */
import {
  badDataError,
  MsgpackReader,
  MsgpackWriter,
  QueryError,
  quotaError,
  ShapeTree,
  type User,
  valueError,
} from '@althing/engine';
import { type FeedPosition, parsePosition } from '../../between/feed-position.js';
import { endingOf, LostError } from '../../feed/feeds.js';
import { type FeedFilter, FILTER_MAX, filterOf } from '../../feed/parcel.js';
import type { FeedEnd, FeedLine, FeedSink } from '../../feed/subscriber.js';
import type { Respond } from '../../groups/request.js';
import { INTERNAL } from '../http/refusals.js';
import { packedMap } from '../shared/packed-map.js';
import type { ConnectionHost } from './connection-host.js';
import { PackageType } from './package.js';
import { boolOf, scopeOf } from './requests.js';
import { UNSENT_MAX } from './socket-wire.js';

/** Feeds of one connection at most. */
export const FEEDS_MAX = 16;

export interface FeedWire {
  readonly unsent: () => number;
  /** Sends an event; false where nobody is logged in any more. */
  tell(type: number, data: Uint8Array): boolean;
}

export class ConnectionFeeds {
  private readonly open = new Map<string, NativeFeed>();
  private isClosed = false;

  constructor(
    private readonly host: Pick<ConnectionHost, 'feeds' | 'onDefect'>,
    private readonly wire: FeedWire,
  ) {}

  /**
   * Takes the data of a package CHANGES.
   *
   * @throws QueryError
   */
  take(data: Buffer, user: User, respond: Respond): void {
    const { scope, since, filter, isStop } = readChanges(data);
    const place = scopeOf(scope);
    if (place.kind !== 'collection') throw valueError('changes are told of collections');
    const { name } = place;
    this.open.get(name)?.stop();
    if (isStop) {
      respond(DONE);
      return;
    }
    if (this.open.size >= FEEDS_MAX)
      throw quotaError(`a connection has at most ${FEEDS_MAX} feeds of changes`);
    const forget = (): void => {
      if (this.open.get(name) === feed) this.open.delete(name);
    };
    const feed = new NativeFeed(scope, this.wire, forget);
    this.open.set(name, feed);
    this.host.feeds.follow({ user, collection: name, since, filter }, feed).then(
      (stop) => {
        if (this.isClosed || this.open.get(name) !== feed) stop();
        respond(DONE);
        feed.begin(stop);
      },
      (error: unknown) => {
        forget();
        if (error instanceof LostError) {
          respond(DONE);
          feed.ended({ kind: 'lost', oldest: error.oldest });
          return;
        }
        if (!(error instanceof QueryError)) this.host.onDefect(error);
        respond({ ok: false, error: error instanceof QueryError ? error : INTERNAL });
      },
    );
  }

  /** All bytes that waited were sent. */
  drained(): void {
    for (const feed of this.open.values()) feed.drained();
  }

  close(): void {
    this.isClosed = true;
    for (const feed of [...this.open.values()]) feed.stop();
  }
}

const DONE = { ok: true, result: '', index: 0 } as const;

/** The way of one feed to the connection. */
class NativeFeed implements FeedSink {
  private end: (() => void) | null = null;
  private isStopped = false;
  /** Lines that came before the package was answered, and who waits for that they are sent. */
  private early: (() => void) | null = null;
  private taken: { readonly resolve: () => void; readonly reject: (error: Error) => void } | null = null;

  constructor(
    private readonly scope: string,
    private readonly wire: FeedWire,
    private readonly forget: () => void,
  ) {}

  /** The package was answered. */
  begin(stop: () => void): void {
    this.end = stop;
    this.early?.();
  }

  send(lines: readonly FeedLine[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.taken = { resolve, reject };
      const write = (): void => {
        for (const { packed } of lines) {
          if (packed === null || this.tell(PackageType.CHANGES_EVENT, packed)) continue;
          reject(new Error('nobody is logged in any more'));
          return;
        }
        this.drained();
      };
      if (this.end === null) this.early = write;
      else write();
    });
  }

  caughtUp(): void {}

  ended(end: FeedEnd): void {
    this.forget();
    this.tell(PackageType.CHANGES_END, packedMap({ ...endingOf(end) }));
  }

  /** Lets more come, as soon as not much waits to be sent. */
  drained(): void {
    if (this.end === null || this.wire.unsent() > UNSENT_MAX) return;
    const { taken } = this;
    this.taken = null;
    taken?.resolve();
  }

  stop(): void {
    this.isStopped = true;
    this.forget();
    this.taken?.reject(new Error('it was stopped'));
    this.end?.();
  }

  private tell(type: number, packed: Uint8Array): boolean {
    if (this.isStopped) return false;
    const writer = new MsgpackWriter();
    writer.beginArray(2);
    writer.str(this.scope);
    writer.packed(packed);
    return this.wire.tell(type, writer.out.take());
  }
}

interface ChangesRequest {
  readonly scope: string;
  readonly since: FeedPosition | null;
  readonly filter: FeedFilter;
  readonly isStop: boolean;
}

/** @throws QueryError bad_data_err */
function readChanges(data: Buffer): ChangesRequest {
  const reader = new MsgpackReader(data, NO_SHAPES, NESTING_MAX);
  const count = data.length === 0 ? null : reader.arraySize();
  const scope = count === null || count === 0 ? null : reader.str();
  if (count === null || scope === null)
    throw badDataError('the data must be an array that begins with a scope');
  const options = count > 1 ? reader.mapSize() : 0;
  if (options === null) throw badDataError('the options must be a map');
  const asked: { since: FeedPosition | null; types: string[] | null; ids: number[] | null } = {
    since: null,
    types: null,
    ids: null,
  };
  let [isOfThings, isStop] = [false, false];
  for (let i = 0; i < options; i++) {
    const key = reader.str();
    switch (key) {
      case 'since':
        asked.since = parsePosition(reader.str() ?? '');
        if (asked.since === null) throw badDataError('since must be a position, as in 4711-9f3a01c2');
        break;
      case 'types':
        asked.types = listOf(reader, key, () => reader.str());
        break;
      case 'ids':
        asked.ids = listOf(reader, key, () => idIn(reader));
        break;
      case 'things':
        isOfThings = boolOf(reader, key);
        break;
      case 'stop':
        isStop = boolOf(reader, key);
        break;
      default:
        throw badDataError(`the option '${key}' is none of since, types, ids, things, stop`);
    }
  }
  return { scope, since: asked.since, filter: filterOf(asked.types, asked.ids, isOfThings, true), isStop };
}

function listOf<T>(reader: MsgpackReader, key: string, read: () => T | null): T[] {
  const count = reader.arraySize();
  if (count === null || count > FILTER_MAX)
    throw badDataError(`the option '${key}' must be a list of up to ${FILTER_MAX}`);
  return Array.from({ length: count }, () => {
    const item = read();
    if (item === null) throw badDataError(`the option '${key}' has something else in it`);
    return item;
  });
}

function idIn(reader: MsgpackReader): number | null {
  const value = reader.hasMap || reader.hasArray ? null : reader.value();
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
}

const NO_SHAPES = new ShapeTree();

/** Arrays and maps inside each other at most. */
const NESTING_MAX = 8;
