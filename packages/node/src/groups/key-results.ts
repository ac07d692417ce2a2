/**
 * Answers to requests that clients named by a key, in the order in which they came. Records, of the kind KEY
 * in `results.ts`; `reply` is described in `kept-reply.ts`:
 *
 *   KEY (id: its number)   := age:varint user:varint key:text body:16 bytes reply:blob
 */

import { ByteReader, ByteWriter, FormatError } from '@althing/engine';
import { elementAt } from '../base/element.js';
import { isSameBody, USER_SHARE } from './client-requests.js';
import { BODY_HASH_BYTES, type IdempotencyKey } from './entry.js';

interface CountLimits {
  readonly keysMax: number;
  /** Bytes that keys and their replies may take. */
  readonly keyBytesMax: number;
}

export interface KeyLimits {
  /** By the rules of level 1 the oldest key gives way. */
  readonly firstKeys: CountLimits;
  /** By those of level 2 only a key that is not young any more. */
  readonly keys: CountLimits;
  /** Age up to which a key is young, in milliseconds. */
  readonly keyYoungMs: number;
  readonly keyAgeMaxMs: number;
}

interface KeyResult extends IdempotencyKey {
  readonly age: number;
  readonly reply: Uint8Array;
}

/** Ages are milliseconds of the group's log time, here as everywhere in the results. */
export class KeyResults {
  private readonly limits: KeyLimits;
  /** By user and key. */
  private readonly byName = new Map<string, KeyResult>();
  /** In the order in which they came; the first has the number `firstNumber`. */
  private queue: KeyResult[] = [];
  private queueHead = 0;
  private firstNumber = 1;
  private bytes = 0;
  private readonly young = new YoungKeys();

  constructor(limits: KeyLimits) {
    this.limits = limits;
  }

  /** Number of the oldest key. */
  get first(): number {
    return this.firstNumber;
  }

  /** Number of the key that comes next. */
  get next(): number {
    return this.firstNumber + this.queue.length - this.queueHead;
  }

  /** The reply that is kept of a request, or why there is none: see `KnownRequest`. */
  find({ user, key, body }: IdempotencyKey): Uint8Array | 'new' | 'conflict' {
    const known = this.byName.get(nameOf(user, key));
    if (known === undefined) return 'new';
    return isSameBody(known.body, body) ? known.reply : 'conflict';
  }

  /** Whether there is room for a new key at an age: the young ones of all, and of its user, leave some. */
  hasRoom(user: number, age: number): boolean {
    const { young, queue, queueHead, firstNumber } = this;
    young.advance(queue, queueHead, firstNumber, age - this.limits.keyYoungMs);
    return young.hasRoom(user, this.limits.keys);
  }

  /** @param rules the level by whose rules keys give way */
  note({ user, key, body }: IdempotencyKey, reply: Uint8Array, age: number, rules: number): void {
    this.add({ user, key, body, age, reply });
    const { keysMax, keyBytesMax } = rules === 1 ? this.limits.firstKeys : this.limits.keys;
    while (this.queue.length - this.queueHead > keysMax || this.bytes > keyBytesMax) {
      const oldest = elementAt(this.queue, this.queueHead);
      if (rules > 1 && age - oldest.age <= this.limits.keyYoungMs) return;
      this.dropOldest();
    }
  }

  /** Forgets what is out of date. */
  sweep(age: number): void {
    while (this.queueHead < this.queue.length) {
      const oldest = elementAt(this.queue, this.queueHead);
      if (age - oldest.age <= this.limits.keyAgeMaxMs) return;
      this.dropOldest();
    }
  }

  /**
   * A copy that may take up further keys, and be written; it finds nothing, and does not tell what is young.
   */
  branch(): KeyResults {
    const copy = new KeyResults(this.limits);
    // The queue tells who has which key; nothing else is asked of the copy.
    copy.queue = this.queue.slice(this.queueHead);
    copy.firstNumber = this.firstNumber;
    copy.bytes = this.bytes;
    copy.young.begin(Number.MAX_SAFE_INTEGER);
    return copy;
  }

  /** The record of a key by its number, from `first` to the one before `next`. */
  encode(number: number): Uint8Array {
    const { age, user, key, body, reply } = elementAt(this.queue, this.queueHead + number - this.firstNumber);
    const out = new ByteWriter(reply.length + key.length + 64);
    out.varint(age);
    out.varint(user);
    out.text(key);
    out.bytes(body);
    out.blob(reply);
    return out.take();
  }

  /** Begins to be loaded: the first key to come has this number. */
  begin(first: number): void {
    this.firstNumber = first;
    this.young.begin(first);
  }

  /**
   * Takes up a record; they come in the order of their numbers.
   *
   * @throws FormatError
   */
  load(number: number, record: Uint8Array): void {
    if (number !== this.next) {
      throw new FormatError(`key ${number} of the results follows key ${this.next - 1}`);
    }
    const input = new ByteReader(record);
    const age = input.varint();
    const user = input.varint();
    const key = input.text();
    const body: Uint8Array = Uint8Array.prototype.slice.call(input.bytes(BODY_HASH_BYTES));
    this.add({ user, key, body, age, reply: input.blob() });
  }

  private add(result: KeyResult): void {
    this.byName.set(nameOf(result.user, result.key), result);
    this.queue.push(result);
    this.bytes += bytesOf(result);
    this.young.count(result, 1);
  }

  private dropOldest(): void {
    const oldest = elementAt(this.queue, this.queueHead);
    this.queueHead += 1;
    this.young.dropped(this.firstNumber, oldest);
    this.firstNumber += 1;
    this.bytes -= bytesOf(oldest);
    const name = nameOf(oldest.user, oldest.key);
    if (this.byName.get(name) === oldest) this.byName.delete(name);
    if (this.queueHead * 2 < this.queue.length) return;
    this.queue = this.queue.slice(this.queueHead);
    this.queueHead = 0;
  }
}

/** How many keys are young, of all users and of each. */
class YoungKeys {
  /** Number of the first key that is counted. */
  private first = 1;
  private keys = 0;
  private bytes = 0;
  private readonly shares = new Map<number, { keys: number; bytes: number }>();

  begin(first: number): void {
    this.first = first;
  }

  count(result: KeyResult, keys: 1 | -1): void {
    const bytes = keys * bytesOf(result);
    const share = this.shares.get(result.user) ?? { keys: 0, bytes: 0 };
    this.shares.set(result.user, share);
    share.keys += keys;
    share.bytes += bytes;
    this.keys += keys;
    this.bytes += bytes;
    if (share.keys === 0) this.shares.delete(result.user);
  }

  /** The oldest key went. */
  dropped(number: number, result: KeyResult): void {
    if (number < this.first) return;
    this.count(result, -1);
    this.first = number + 1;
  }

  /** Keys that came before an age are young no more. */
  advance(queue: readonly KeyResult[], queueHead: number, firstNumber: number, age: number): void {
    for (;;) {
      const result = queue[queueHead + this.first - firstNumber];
      if (result === undefined || result.age >= age) return;
      this.count(result, -1);
      this.first += 1;
    }
  }

  hasRoom(user: number, { keysMax, keyBytesMax }: CountLimits): boolean {
    const { keys, bytes } = this.shares.get(user) ?? { keys: 0, bytes: 0 };
    if (this.keys >= keysMax || this.bytes >= keyBytesMax) return false;
    return keys < USER_SHARE * keysMax && bytes < USER_SHARE * keyBytesMax;
  }
}

function nameOf(user: number, key: string): string {
  return `${user} ${key}`;
}

function bytesOf({ key, reply }: KeyResult): number {
  return key.length + reply.length + BODY_HASH_BYTES;
}
