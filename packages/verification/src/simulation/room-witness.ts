/**
 * Events that sessions hear of rooms, put together: all hear the same in the same order, each once, none that did not happen, and from
 * the answer to their join on none is missing until they leave, the room is deleted, or their connection ends.
 */

import type { Operation } from './history.js';

/** An event as it is heard: its tag, which no other one has, and the number that came out of the counter, if it tells one. */
export interface HeardEvent {
  readonly tag: string;
  readonly number: number | null;
}

/** Events that one session hears of one room, from its join on. */
export class Hearing {
  /** The tags that were heard. */
  readonly heard = new Set<string>();
  /** The tag and the number that were heard last; null before the first. */
  last: string | null = null;
  lastNumber: number | null = null;
  /** True if it is not in the room any more. */
  isOver = false;

  constructor(
    readonly room: string,
    /** The session, in words. */
    readonly who: string,
    /** When the answer to the join came: what is sent later, and happens, is heard. */
    readonly joinedAt: number,
    /** Ids of events that its session sends to all others, which may be before it is in the room. */
    readonly own: ReadonlySet<string>,
  ) {}
}

interface Acknowledged {
  readonly tag: string;
  /** When it was sent. */
  readonly begin: number;
}

class Room {
  /** Events that may be heard, and those that may not. */
  readonly sent = new Set<string>();
  readonly refused = new Set<string>();
  readonly acknowledged: Acknowledged[] = [];
  /** The one order of events: which follows which. */
  readonly next = new Map<string, string>();
  readonly previous = new Map<string, string>();
  readonly byNumber = new Map<number, string>();
  readonly heard = new Set<string>();
  readonly hearings = new Set<Hearing>();
}

export class RoomWitness {
  private readonly rooms = new Map<string, Room>();

  /** Events that were heard, each counted once for each session. */
  events = 0;

  /**
   * A session is in a room.
   *
   * @param own the tags of events that it sends to all others, now and later
   */
  join(room: string, who: string, joinedAt: number, own: ReadonlySet<string>): Hearing {
    const hearing = new Hearing(room, who, joinedAt, own);
    this.room(room).hearings.add(hearing);
    return hearing;
  }

  /** A session is not in a room any more. */
  leave(hearing: Hearing): void {
    hearing.isOver = true;
    this.room(hearing.room).hearings.delete(hearing);
  }

  /** An event was sent: it may be heard. */
  sent(room: string, tag: string): void {
    this.room(room).sent.add(tag);
  }

  /** An event that was sent has happened, for certain. */
  acknowledged(room: string, tag: string, begin: number): void {
    this.room(room).acknowledged.push({ tag, begin });
  }

  /** An event that was sent will never happen; gives what is wrong with that, or null. */
  refused(name: string, tag: string): string | null {
    const room = this.room(name);
    room.refused.add(tag);
    return room.heard.has(tag) ? `${tag} was heard in ${name}, and was told not to have happened` : null;
  }

  /** A session hears an event; gives what is wrong with it, or null. */
  hear(hearing: Hearing, { tag, number }: HeardEvent): string | null {
    this.events += 1;
    const problem = this.problemOf(hearing, tag, number);
    hearing.heard.add(tag);
    hearing.last = tag;
    if (number !== null) hearing.lastNumber = number;
    const room = this.room(hearing.room);
    room.heard.add(tag);
    if (number !== null) room.byNumber.set(number, tag);
    return problem === null ? null : `${hearing.who} heard ${tag} in ${hearing.room}, ${problem}`;
  }

  /**
   * Looks at what was heard when nothing happens any more and nothing is on its way; gives all that is wrong.
   *
   * @param counter where the counter stands that is told there; null where that is not known
   */
  problems(name: string, counter: number | null): string[] {
    const room = this.room(name);
    const problems: string[] = [];
    let witness: Hearing | null = null;
    for (const hearing of room.hearings) {
      const { who, last, lastNumber, own, heard, joinedAt } = hearing;
      for (const { tag, begin } of room.acknowledged) {
        if (begin > joinedAt && !own.has(tag) && !heard.has(tag))
          problems.push(`${who} did not hear ${tag} in ${name}, which happened`);
      }
      if (counter !== null && lastNumber !== null && lastNumber !== counter)
        problems.push(`${who} heard ${lastNumber} last in ${name}, which counts ${counter}`);
      if (last === null || own.size > 0) continue;
      if (witness !== null && witness.last !== last)
        problems.push(`${who} heard ${last} last in ${name}, and ${witness.who} heard ${witness.last}`);
      witness = hearing;
    }
    for (const tag of room.heard)
      if (!room.sent.has(tag)) problems.push(`nobody sent ${tag}, which was heard in ${name}`);
    for (const [number, tag] of room.byNumber) {
      if (counter !== null && number > counter)
        problems.push(`${tag} told ${number} in ${name}, which counts ${counter}`);
    }
    return problems;
  }

  /**
   * Takes what became of increments, each of which tells the room of its collection; gives what is wrong with that.
   *
   * @param roomOf the room of a collection
   */
  judge(operations: Iterable<Operation>, roomOf: (collection: string) => string): string[] {
    const problems: string[] = [];
    for (const { action, outcome, collection, begin } of operations) {
      if (action.kind !== 'increment' || collection === null) continue;
      const room = roomOf(collection);
      this.sent(room, action.tag);
      if (outcome === 'ok') this.acknowledged(room, action.tag, begin);
      const problem = outcome === 'failed' ? this.refused(room, action.tag) : null;
      if (problem !== null) problems.push(problem);
    }
    return problems;
  }

  private problemOf(hearing: Hearing, tag: string, number: number | null): string | null {
    const { isOver, heard, own, last, lastNumber } = hearing;
    const room = this.room(hearing.room);
    if (isOver) return 'where it is not any more';
    if (heard.has(tag)) return 'again';
    if (own.has(tag)) return 'which it sent to all others';
    if (room.refused.has(tag)) return 'which was told not to have happened';
    if (number !== null) {
      if (lastNumber !== null && number !== lastNumber + 1) return `which is ${number} behind ${lastNumber}`;
      const other = room.byNumber.get(number);
      if (other !== undefined && other !== tag) return `which is ${number}, as ${other} is`;
    }
    // A listener that does not get all of them knows nothing of their order.
    if (last === null || own.size > 0) return null;
    const next = room.next.get(last);
    if (next !== undefined && next !== tag) return `behind ${last}, behind which others heard ${next}`;
    const previous = room.previous.get(tag);
    if (previous !== undefined && previous !== last) return `behind ${last}, and others behind ${previous}`;
    room.next.set(last, tag);
    room.previous.set(tag, last);
    return null;
  }

  private room(name: string): Room {
    let room = this.rooms.get(name);
    if (room === undefined) {
      room = new Room();
      this.rooms.set(name, room);
    }
    return room;
  }
}
