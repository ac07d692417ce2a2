/**
 * How events travel to the engine thread. Their payloads, which are views of larger buffers (a view takes its
 * whole buffer along), are copied into one buffer, which then changes hands without another copy. Before them are the numbers of
 * entries; calls and returns in a row are one object of numbers. The runtime takes its time for each object, and for each number in one.
 */
import { elementAt } from '../base/element.js';
import type { CommittedEntry, Event, NodeId } from './protocol.js';

type Entries = Extract<Event, { kind: 'entries' }>;

interface PackedEntries extends Omit<Entries, 'kind' | 'entries'> {
  readonly kind: 'packed_entries';
  /** How many entries; each has its index, term, hash and size, as floats of 64 bits, at the beginning of the parcel's buffer. */
  readonly count: number;
}

/**
 * Calls of other nodes, or answers to this one's; `from` is empty for answers, a size of -1 stands for none.
 */
interface PackedCalls {
  readonly kind: 'packed_called' | 'packed_returned';
  readonly from: NodeId[];
  readonly ids: number[];
  readonly sizes: number[];
}

/** A large call whose payload has a buffer of its own is an event of its own. */
type Packed = Exclude<Event, { kind: 'entries' | 'returned' }> | PackedEntries | PackedCalls;

export interface EventParcel {
  readonly events: readonly Packed[];
  /** Numbers and payloads; missing where there are none. */
  readonly data?: Uint8Array<ArrayBuffer>;
}

/** With the buffers that change hands without being copied besides that of the data. */
export function packEvents(
  events: readonly Event[],
): EventParcel & { readonly given: readonly ArrayBuffer[] } {
  const packed: Packed[] = [];
  const payloads: Uint8Array[] = [];
  const given: ArrayBuffer[] = [];
  const rows: (readonly CommittedEntry[])[] = [];
  let count = 0;
  let bytes = 0;
  const add = (payload: Uint8Array | null): number => {
    if (payload === null) return -1;
    payloads.push(payload);
    bytes += payload.length;
    return payload.length;
  };
  for (const event of events) {
    switch (event.kind) {
      case 'entries':
        packed.push(packEntries(event));
        rows.push(event.entries);
        count += event.entries.length;
        for (const { payload } of event.entries) add(payload);
        break;
      case 'given_back':
        packed.push(event);
        given.push(event.buffer);
        break;
      case 'called': {
        if (event.own !== undefined) {
          const { own, ...call } = event;
          packed.push(call);
          given.push(own);
          break;
        }
        const calls = rowOf(packed, 'packed_called');
        calls.from.push(event.from);
        calls.ids.push(event.id);
        calls.sizes.push(add(event.payload));
        break;
      }
      case 'returned': {
        const calls = rowOf(packed, 'packed_returned');
        calls.ids.push(event.id);
        calls.sizes.push(add(event.payload));
        break;
      }
      default:
        packed.push(event);
    }
  }
  if (count === 0 && bytes === 0) return { events: packed, given };
  const data = new Uint8Array(count * ENTRY_NUMBERS * NUMBER_BYTES + bytes);
  let at = putNumbers(rows, new Float64Array(data.buffer, 0, count * ENTRY_NUMBERS)) * NUMBER_BYTES;
  for (const payload of payloads) {
    data.set(payload, at);
    at += payload.length;
  }
  return { events: packed, data, given };
}

/** Calls `handle` for each event, in order. */
export function unpackEvents({ events, data = NOTHING }: EventParcel, handle: (event: Event) => void): void {
  let count = 0;
  for (const event of events) if (event.kind === 'packed_entries') count += event.count;
  const numbers = new Float64Array(data.buffer, data.byteOffset, count * ENTRY_NUMBERS);
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  let row = 0;
  let at = numbers.byteLength;
  const next = (size: number): Uint8Array => {
    at += size;
    return bytes.subarray(at - size, at);
  };
  for (const event of events) {
    switch (event.kind) {
      case 'packed_entries': {
        const { group, last, membership } = event;
        const entries: CommittedEntry[] = [];
        for (let left = event.count; left > 0; left--) {
          // Not by `elementAt`, which has seen lists of all kinds and takes longer for each.
          const index = numbers[row]!;
          const term = numbers[row + 1]!;
          const hash = numbers[row + 2]!;
          entries.push({ index, term, hash, payload: next(numbers[row + 3]!) });
          row += ENTRY_NUMBERS;
        }
        const unpacked = { kind: 'entries', group, entries, last } as const;
        handle(membership === undefined ? unpacked : { ...unpacked, membership });
        break;
      }
      case 'packed_called': {
        const { from, ids, sizes } = event;
        sizes.forEach((size, i) => {
          handle({ kind: 'called', from: elementAt(from, i), id: elementAt(ids, i), payload: next(size) });
        });
        break;
      }
      case 'packed_returned': {
        const { ids, sizes } = event;
        sizes.forEach((size, i) => {
          handle({ kind: 'returned', id: elementAt(ids, i), payload: size < 0 ? null : next(size) });
        });
        break;
      }
      default:
        handle(event);
    }
  }
}

const NOTHING = new Uint8Array(0);

/** Numbers of an entry, and bytes of each of them. */
const ENTRY_NUMBERS = 4;
const NUMBER_BYTES = 8;

function packEntries({ group, last, entries, membership }: Entries): PackedEntries {
  const packed = { kind: 'packed_entries', group, last, count: entries.length } as const;
  return membership === undefined ? packed : { ...packed, membership };
}

/** @returns how many numbers */
function putNumbers(rows: readonly (readonly CommittedEntry[])[], numbers: Float64Array): number {
  let at = 0;
  for (const entries of rows) {
    for (const { index, term, hash, payload } of entries) {
      numbers[at] = index;
      numbers[at + 1] = term;
      numbers[at + 2] = hash;
      numbers[at + 3] = payload.length;
      at += ENTRY_NUMBERS;
    }
  }
  return at;
}

/** The row that the next one belongs to. */
function rowOf(packed: Packed[], kind: PackedCalls['kind']): PackedCalls {
  const last = packed[packed.length - 1];
  if (last?.kind === kind) return last;
  const row: PackedCalls = { kind, from: [], ids: [], sizes: [] };
  packed.push(row);
  return row;
}
