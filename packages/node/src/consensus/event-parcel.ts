import type { Event } from './protocol.js';

/**
 * Makes events ready to be sent to another thread: their payloads, which are views of larger buffers (a view takes its
 * whole buffer along), are copied into one buffer, which then changes hands without another copy.
 */
export function packEvents(events: readonly Event[]): {
  readonly events: readonly Event[];
  readonly transfer: readonly ArrayBuffer[];
} {
  let size = 0;
  for (const event of events) size += sizeOf(event);
  if (size === 0) return { events, transfer: [] };
  const data = new Uint8Array(size);
  let at = 0;
  const move = (payload: Uint8Array): Uint8Array => {
    const copy = data.subarray(at, at + payload.length);
    copy.set(payload);
    at += payload.length;
    return copy;
  };
  return { events: events.map((event) => moved(event, move)), transfer: [data.buffer] };
}

function sizeOf(event: Event): number {
  switch (event.kind) {
    case 'entries':
      return event.entries.reduce((sum, { payload }) => sum + payload.length, 0);
    case 'called':
      return event.payload.length;
    case 'returned':
      return event.payload?.length ?? 0;
    default:
      return 0;
  }
}

function moved(event: Event, move: (payload: Uint8Array) => Uint8Array): Event {
  switch (event.kind) {
    case 'entries':
      return {
        ...event,
        entries: event.entries.map((entry) => ({ ...entry, payload: move(entry.payload) })),
      };
    case 'called':
      return { ...event, payload: move(event.payload) };
    case 'returned':
      return event.payload === null ? event : { ...event, payload: move(event.payload) };
    default:
      return event;
  }
}
