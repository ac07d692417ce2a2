/** Events that begin when they are first asked for. */
import type { RoomEvent } from '../api/database.js';

/** @param begin called once, with the first `next` */
export function laterEvents(
  begin: () => Promise<AsyncIterator<RoomEvent, undefined>>,
): AsyncIterableIterator<RoomEvent, undefined> {
  let begun: Promise<AsyncIterator<RoomEvent, undefined>> | null = null;
  let isOver = false;
  const events: AsyncIterableIterator<RoomEvent, undefined> = {
    [Symbol.asyncIterator]: () => events,
    next: async () => {
      if (isOver) return { value: undefined, done: true };
      begun ??= begin();
      return (await begun).next();
    },
    return: async () => {
      isOver = true;
      await (await begun)?.return?.();
      return { value: undefined, done: true };
    },
  };
  return events;
}
