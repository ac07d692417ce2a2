/**
 * One connection of the native protocol, over whatever carries it: requests are matched with answers by their ids, and events are handed
 * on. It ends once, and does not connect again.
 */
import { decodeMessagePack } from '../wire/msgpack.js';
import type { WireValue } from '../wire/value.js';
import { type Package, PackageDecoder, PackageType, packageBytes } from './package.js';

/** A way for packages: a stream of bytes, or messages. */
export interface PackageChannel {
  send(bytes: Uint8Array): void;
  /** Sets who is told of bytes, in pieces of any size, and of the end. */
  listen(received: (bytes: Uint8Array) => void, ended: (error: Error) => void): void;
  close(): void;
}

/** An event of the node. */
export interface SocketEvent {
  readonly type: number;
  readonly data: WireValue;
}

interface Waiting {
  readonly resolve: (answer: Package) => void;
  readonly reject: (error: Error) => void;
}

const IDS = 0xffff;

/** Events have lower types. */
const FIRST_ANSWER = PackageType.PONG;

export class PackageConnection {
  /** Takes each event. */
  onEvent: (event: SocketEvent) => void = () => {};
  /** Settles when the connection has ended. */
  readonly ended: Promise<void>;
  readonly #channel: PackageChannel;
  readonly #decoder: PackageDecoder;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #failure: Error | null = null;

  /** @param bytesMax of the data of a package that comes */
  constructor(channel: PackageChannel, bytesMax?: number) {
    this.#channel = channel;
    this.#decoder = new PackageDecoder(bytesMax);
    this.ended = new Promise((resolve) => {
      channel.listen(
        (bytes) => this.#received(bytes),
        (error) => {
          this.#end(error);
          resolve();
        },
      );
    });
  }

  /** Requests without an answer. */
  get open(): number {
    return this.#waiting.size;
  }

  get hasEnded(): boolean {
    return this.#failure !== null;
  }

  /** Why it has ended; null as long as it has not. */
  get failure(): Error | null {
    return this.#failure;
  }

  /** Sends a package under an id of its own; gives the package that answers it. */
  send(type: number, data: Uint8Array): Promise<Package> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    if (this.#waiting.size >= IDS) return Promise.reject(new Error('all ids are in use'));
    do this.#lastId = (this.#lastId + 1) % IDS;
    while (this.#waiting.has(this.#lastId));
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#channel.send(packageBytes(type, id, data));
    });
  }

  close(): void {
    this.#channel.close();
  }

  #received(bytes: Uint8Array): void {
    try {
      for (const each of this.#decoder.push(bytes)) this.#take(each);
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
      this.#channel.close();
    }
  }

  #take(each: Package): void {
    if (each.type < FIRST_ANSWER) {
      this.onEvent({ type: each.type, data: decodeMessagePack(each.data) });
      return;
    }
    const waiting = this.#waiting.get(each.id);
    this.#waiting.delete(each.id);
    waiting?.resolve(each);
  }

  #end(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#failure);
    this.#waiting.clear();
  }
}
