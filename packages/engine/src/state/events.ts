/**
 * Events of rooms: what a change tells the clients that are in a room. They travel with the effects of the change and alter no state,
 * so every node tells its own clients the same, in the same order, of committed changes alone.
 *
 *   event  := room:varint except name:text args:blob
 *   except := 00 | 01 node:varint start:varint connection:varint      the connection that sent it and does not get it
 *
 * `args` is an array in MessagePack, as clients get it.
 */
import { ByteReader, ByteWriter, FormatError } from '../bytes.js';
import { quotaError } from '../error.js';

/** A connection among all that the nodes of the cluster ever had. */
export interface Sender {
  readonly node: number;
  /** Number of the start of the node. */
  readonly start: number;
  readonly connection: number;
}

export type RoomEvent =
  | {
      readonly kind: 'emit';
      readonly room: number;
      readonly name: string;
      /** An array in MessagePack. */
      readonly args: Uint8Array;
      /** The session that does not get it; null when all in the room do. */
      readonly except: Sender | null;
    }
  /** The room was removed. */
  | { readonly kind: 'gone'; readonly room: number };

export type EmitEvent = Extract<RoomEvent, { readonly kind: 'emit' }>;

/** Bytes that the events of one change may have, each with `EVENT_BYTES` besides its arguments and its name. */
export const EVENTS_BYTES_MAX = 4 * 1024 * 1024;

const EVENT_BYTES = 64;

/** The events of one change in the making. */
export class Outbox {
  readonly events: EmitEvent[] = [];
  private bytes = 0;

  /** The number of bytes that the arguments of another event may have. */
  get room(): number {
    return Math.max(0, EVENTS_BYTES_MAX - this.bytes - EVENT_BYTES);
  }

  /** @throws QueryError max_quota_err */
  add(event: EmitEvent): void {
    const bytes = this.bytes + EVENT_BYTES + Buffer.byteLength(event.name) + event.args.length;
    if (bytes > EVENTS_BYTES_MAX) throw tooMuch();
    this.bytes = bytes;
    this.events.push(event);
  }
}

export function tooMuch(): ReturnType<typeof quotaError> {
  return quotaError(
    `the events of one change have more than ${EVENTS_BYTES_MAX} bytes: send less, or the id of what clients can fetch`,
  );
}

export function encodeEvents(events: readonly EmitEvent[]): Uint8Array {
  const out = new ByteWriter();
  for (const { room, name, args, except } of events) {
    out.varint(room);
    out.u8(except === null ? 0 : 1);
    if (except !== null) {
      out.varint(except.node);
      out.varint(except.start);
      out.varint(except.connection);
    }
    out.text(name);
    out.blob(args);
  }
  return out.take();
}

/** @throws FormatError */
export function readEvents(bytes: Uint8Array): EmitEvent[] {
  const input = new ByteReader(bytes);
  const events: EmitEvent[] = [];
  while (input.remaining > 0) {
    const room = input.varint();
    const except = readSender(input);
    events.push({ kind: 'emit', room, except, name: input.text(), args: input.blob() });
  }
  return events;
}

function readSender(input: ByteReader): Sender | null {
  const mark = input.u8();
  if (mark === 0) return null;
  if (mark !== 1) throw new FormatError(`an event with the unknown mark ${mark}`);
  return { node: input.varint(), start: input.varint(), connection: input.varint() };
}
