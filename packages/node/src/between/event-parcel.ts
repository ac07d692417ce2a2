/**
 * How events travel to the engine thread. Their payloads, which are views of larger buffers (a view takes its
 * whole buffer along), are copied into one buffer, which then changes hands without another copy. Entries,
 * calls and returns in a row are one object of numbers, since the runtime takes its time for each.
 */
import { elementAt } from '../base/element.js';
import type { CommittedEntry, Event, NodeId } from './protocol.js';

type Entries = Extract<Event, { kind: 'entries' }>;

interface PackedEntries extends Omit<Entries, 'kind' | 'entries'> {
  readonly kind: 'packed_entries';
  readonly indexes: number[];
  readonly terms: number[];
  readonly hashes: number[];
  readonly sizes: number[];
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
  readonly data: Uint8Array<ArrayBuffer>;
}

/** With the buffers that change hands without being copied besides that of the data. */
export function packEvents(
  events: readonly Event[],
): EventParcel & { readonly given: readonly ArrayBuffer[] } {
  const packed: Packed[] = [];
  const payloads: Uint8Array[] = [];
  const given: ArrayBuffer[] = [];
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
        packed.push(packEntries(event, add));
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
  const data = new Uint8Array(bytes);
  let at = 0;
  for (const payload of payloads) {
    data.set(payload, at);
    at += payload.length;
  }
  return { events: packed, data, given };
}

/** Calls `handle` for each event, in order. */
export function unpackEvents({ events, data }: EventParcel, handle: (event: Event) => void): void {
  let at = 0;
  const next = (size: number): Uint8Array => {
    at += size;
    return data.subarray(at - size, at);
  };
  for (const event of events) {
    switch (event.kind) {
      case 'packed_entries': {
        const { indexes, terms, hashes, sizes, ...rest } = event;
        const entries = sizes.map(
          (size, i): CommittedEntry => ({
            index: elementAt(indexes, i),
            term: elementAt(terms, i),
            hash: elementAt(hashes, i),
            payload: next(size),
          }),
        );
        handle({ ...rest, kind: 'entries', entries });
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

function packEntries({ entries, ...rest }: Entries, add: (payload: Uint8Array) => number): PackedEntries {
  return {
    ...rest,
    kind: 'packed_entries',
    indexes: entries.map(({ index }) => index),
    terms: entries.map(({ term }) => term),
    hashes: entries.map(({ hash }) => hash),
    sizes: entries.map(({ payload }) => add(payload)),
  };
}

/** The row that the next one belongs to. */
function rowOf(packed: Packed[], kind: PackedCalls['kind']): PackedCalls {
  const last = packed[packed.length - 1];
  if (last?.kind === kind) return last;
  const row: PackedCalls = { kind, from: [], ids: [], sizes: [] };
  packed.push(row);
  return row;
}
