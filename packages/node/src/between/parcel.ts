/**
 * The messages between the two threads of a node. Commands and events that come often, or with large payloads, are packed
 * into one buffer, which changes hands without being copied; the runtime clones all others. To clone an object or an array
 * takes longer than to pack it, and to clone a view would copy the whole buffer that it lies in.
 *
 *   data    := item*                           missing: there are objects only, all of them items
 *   item    := object (0)                      the next one of `objects`
 *            | propose (1) group epoch payload answer        answer := 0 | 1 to id payload
 *            | call (2) to id payload
 *            | return (3) to id payload
 *            | entries (4) group last:position count entry* membership     entry := position payload
 *            | called (5) from id payload
 *            | returned (6) id answered payload              answered := 0 | 1; membership := answered payload
 *            | log_read (7) group id part:payload        see `log-part.ts`
 *   position := index term hash                payload := length, bytes
 *
 * All numbers are floats of 64 bits.
 */
import { assert } from '../base/assert.js';
import { decodePart, encodePart } from './log-part.js';
import type { Command, CommittedEntry, Event, LogPosition, PreparedAnswer } from './protocol.js';

type Proposals = Extract<Command, { kind: 'propose' }>;
type Entries = Extract<Event, { kind: 'entries' }>;

/** The content of a message. */
export interface Parcel<Message extends Command | Event> {
  /** The items that are not packed. */
  readonly objects: readonly Message[];
  readonly data?: Uint8Array<ArrayBuffer>;
  /** A parcel that comes before it in the same message. */
  readonly before?: Parcel<Message>;
}

/** Collects the items of a parcel. */
export class Packing<Message extends Command | Event> {
  private objects: Message[] = [];
  private given: ArrayBuffer[] = [];
  private readonly data = new PackedBytes();

  get isEmpty(): boolean {
    return this.data.size === 0;
  }

  get bytes(): number {
    return this.data.size;
  }

  /** @param given a buffer that changes hands with the object */
  addObject(object: Message, given?: ArrayBuffer): void {
    this.objects.push(object);
    this.data.number(Item.OBJECT);
    if (given !== undefined) this.given.push(given);
  }

  /** Begins an item; its content is to be added to what this returns. */
  addPacked(item: number): PackedBytes {
    this.data.number(item);
    return this.data;
  }

  /** The parcel, and the buffers that change hands with it. Nothing is left. */
  take(): { readonly parcel: Parcel<Message>; readonly given: readonly ArrayBuffer[] } {
    const { objects, given } = this;
    this.objects = [];
    this.given = [];
    const isPacked = this.data.size > objects.length * NUMBER_BYTES;
    const data = this.data.take(isPacked);
    // An empty buffer, too, takes the runtime longer than most objects.
    return data === null
      ? { parcel: { objects }, given }
      : { parcel: { objects, data }, given: [...given, data.buffer] };
  }
}

export function packCommand(packing: Packing<Command>, command: Command): void {
  switch (command.kind) {
    case 'propose':
      packProposals(packing, command);
      return;
    case 'call':
      if (command.rest === undefined) packing.addPacked(Item.CALL).call(command.to, command);
      else packing.addObject(command, command.rest.buffer);
      return;
    case 'return':
      packing.addPacked(Item.RETURN).call(command.to, command);
      return;
    default:
      packing.addObject(command);
  }
}

export function packEvent(packing: Packing<Event>, event: Event): void {
  switch (event.kind) {
    case 'entries':
      packEntries(packing, event);
      return;
    case 'log_read': {
      const data = packing.addPacked(Item.LOG_READ);
      data.number(event.group);
      data.number(event.id);
      data.payload(encodePart(event.part));
      return;
    }
    case 'called':
      if (event.own === undefined) packing.addPacked(Item.CALLED).call(event.from, event);
      else {
        const { own, ...call } = event;
        packing.addObject(call, own);
      }
      return;
    case 'returned': {
      const data = packing.addPacked(Item.RETURNED);
      data.number(event.id);
      data.optional(event.payload);
      return;
    }
    case 'given_back':
      packing.addObject(event, event.buffer);
      return;
    default:
      packing.addObject(event);
  }
}

/** Calls `handle` for each command of a parcel, in order; proposals in a row, of one group and epoch, are one. */
export function unpackCommands(parcel: Parcel<Command>, handle: (command: Command) => void): void {
  unpack(parcel, handle, (item, data) => {
    switch (item) {
      case Item.PROPOSE:
        return readProposals(data);
      case Item.CALL:
        return { kind: 'call', ...data.call() };
      case Item.RETURN:
        return { kind: 'return', ...data.call() };
      default:
        return null;
    }
  });
}

/** Calls `handle` for each event of a parcel, in order. */
export function unpackEvents(parcel: Parcel<Event>, handle: (event: Event) => void): void {
  unpack(parcel, handle, (item, data) => {
    switch (item) {
      case Item.ENTRIES:
        return readEntries(data);
      case Item.LOG_READ:
        return {
          kind: 'log_read',
          group: data.number(),
          id: data.number(),
          part: decodePart(data.payload()),
        };
      case Item.CALLED:
        return { kind: 'called', from: data.number(), id: data.number(), payload: data.payload() };
      case Item.RETURNED:
        return { kind: 'returned', id: data.number(), payload: data.optional() };
      default:
        return null;
    }
  });
}

const Item = {
  OBJECT: 0,
  PROPOSE: 1,
  CALL: 2,
  RETURN: 3,
  ENTRIES: 4,
  CALLED: 5,
  RETURNED: 6,
  LOG_READ: 7,
} as const;

/** @param read reads a packed item; null for one that it does not know */
function unpack<Message extends Command | Event>(
  { objects, data, before }: Parcel<Message>,
  handle: (message: Message) => void,
  read: (item: number, data: PackedReader) => Message | null,
): void {
  if (before !== undefined) unpack(before, handle, read);
  if (data === undefined) {
    for (const object of objects) handle(object);
    return;
  }
  const reader = new PackedReader(data);
  let taken = 0;
  while (!reader.isAtEnd) {
    const item = reader.number();
    const message = item === Item.OBJECT ? objects[taken++] : read(item, reader);
    assert(message !== undefined && message !== null, 'a parcel holds what it was packed with');
    handle(message);
  }
  assert(taken === objects.length, 'every object of a parcel has its place');
}

function packProposals(packing: Packing<Command>, { group, epoch, payloads, answers }: Proposals): void {
  assert(answers === undefined || answers.length === payloads.length, 'each proposal has its own answer');
  for (let i = 0; i < payloads.length; i++) {
    const data = packing.addPacked(Item.PROPOSE);
    data.number(group);
    data.number(epoch);
    data.payload(payloads[i]!);
    const answer = answers?.[i] ?? null;
    data.number(answer === null ? 0 : 1);
    if (answer !== null) data.call(answer.to, answer);
  }
}

function readProposals(data: PackedReader): Proposals {
  const group = data.number();
  const epoch = data.number();
  const payloads: Uint8Array[] = [];
  const answers: (PreparedAnswer | null)[] = [];
  let isAnswered = false;
  do {
    payloads.push(data.payload());
    const hasAnswer = data.number() === 1;
    isAnswered ||= hasAnswer;
    answers.push(hasAnswer ? data.call() : null);
  } while (data.goesOn(Item.PROPOSE, group, epoch));
  return isAnswered
    ? { kind: 'propose', group, epoch, payloads, answers }
    : { kind: 'propose', group, epoch, payloads };
}

function packEntries(packing: Packing<Event>, { group, last, entries, membership }: Entries): void {
  const data = packing.addPacked(Item.ENTRIES);
  data.number(group);
  data.position(last);
  data.entries(entries);
  data.optional(membership ?? null);
}

function readEntries(data: PackedReader): Entries {
  const group = data.number();
  const last = data.position();
  const entries = data.entries();
  const membership = data.optional();
  return membership === null
    ? { kind: 'entries', group, entries, last }
    : { kind: 'entries', group, entries, last, membership };
}

const NUMBER_BYTES = 8;

/**
 * The buffer that is kept. What fits is copied out of it: a message of 4, 9 or 12 kB takes both threads 7.4, 9.4 and 10.4 µs so, and 8.6,
 * 13.7 and 12.9 where the buffer itself is given away and a new one is made.
 */
const FIRST_BYTES = 16 * 1024;

/** Numbers and payloads in a row, in a buffer that grows. */
class PackedBytes {
  size = 0;
  private bytes = new Uint8Array(FIRST_BYTES);
  private view = new DataView(this.bytes.buffer);

  number(value: number): void {
    if (this.size + NUMBER_BYTES > this.bytes.length) this.grow(NUMBER_BYTES);
    this.view.setFloat64(this.size, value, true);
    this.size += NUMBER_BYTES;
  }

  payload(payload: Uint8Array): void {
    this.number(payload.length);
    if (this.size + payload.length > this.bytes.length) this.grow(payload.length);
    this.bytes.set(payload, this.size);
    this.size += payload.length;
  }

  optional(payload: Uint8Array | null): void {
    this.number(payload === null ? 0 : 1);
    if (payload !== null) this.payload(payload);
  }

  position({ index, term, hash }: LogPosition): void {
    this.number(index);
    this.number(term);
    this.number(hash);
  }

  entries(entries: readonly CommittedEntry[]): void {
    this.number(entries.length);
    for (const entry of entries) {
      this.position(entry);
      this.payload(entry.payload);
    }
  }

  call(node: number, { id, payload }: { readonly id: number; readonly payload: Uint8Array }): void {
    this.number(node);
    this.number(id);
    this.payload(payload);
  }

  /** Everything, in a buffer of its own, if it is wanted. Nothing is left. */
  take(isWanted: boolean): Uint8Array<ArrayBuffer> | null {
    const { bytes, size } = this;
    this.size = 0;
    if (!isWanted) return null;
    if (size <= FIRST_BYTES) return bytes.slice(0, size);
    this.bytes = new Uint8Array(FIRST_BYTES);
    this.view = new DataView(this.bytes.buffer);
    return bytes.subarray(0, size);
  }

  private grow(more: number): void {
    const grown = new Uint8Array(Math.max(this.size + more, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.size));
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }
}

/** Reads what `PackedBytes` wrote; payloads are views. */
class PackedReader {
  private readonly bytes: Buffer;
  private readonly view: DataView;
  private at = 0;

  constructor(data: Uint8Array<ArrayBuffer>) {
    this.bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
    this.view = new DataView(data.buffer, data.byteOffset, data.length);
  }

  get isAtEnd(): boolean {
    return this.at === this.bytes.length;
  }

  number(): number {
    this.at += NUMBER_BYTES;
    return this.view.getFloat64(this.at - NUMBER_BYTES, true);
  }

  payload(): Uint8Array {
    const size = this.number();
    this.at += size;
    assert(this.at <= this.bytes.length, 'a payload ends within its parcel');
    return this.bytes.subarray(this.at - size, this.at);
  }

  optional(): Uint8Array | null {
    return this.number() === 0 ? null : this.payload();
  }

  position(): LogPosition {
    return { index: this.number(), term: this.number(), hash: this.number() };
  }

  entries(): CommittedEntry[] {
    const entries: CommittedEntry[] = [];
    for (let left = this.number(); left > 0; left--) {
      const { index, term, hash } = this.position();
      entries.push({ index, term, hash, payload: this.payload() });
    }
    return entries;
  }

  call(): PreparedAnswer {
    return { to: this.number(), id: this.number(), payload: this.payload() };
  }

  /** Passes the head of the next item, if it is of this kind, group and epoch. */
  goesOn(item: number, group: number, epoch: number): boolean {
    const { at } = this;
    if (this.isAtEnd || this.number() !== item) {
      this.at = at;
      return false;
    }
    if (this.number() === group && this.number() === epoch) return true;
    this.at = at;
    return false;
  }
}
