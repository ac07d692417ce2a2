/** A room that somebody listens to, and all who do. */
import type { RoomEvent } from '../api/database.js';
import type { ScopeName } from '../scope.js';
import type { Int } from '../values/numbers.js';
import type { EventQueue } from './event-queue.js';

export class JoinedRoom {
  readonly scope: ScopeName;
  /** Its name, or its id. */
  readonly room: string | Int;
  readonly #queues = new Set<EventQueue>();
  /** Its id while it is joined; null while it is not. */
  id: bigint | null = null;
  /** Calls off what fails it when it is not joined in time. */
  stopWaiting: () => void = () => {};
  /** True if it was joined before: what happened since is missing. */
  #wasJoined = false;

  constructor(scope: ScopeName, room: string | Int) {
    this.scope = scope;
    this.room = room;
  }

  get isWanted(): boolean {
    return this.#queues.size > 0;
  }

  get wasJoined(): boolean {
    return this.#wasJoined;
  }

  add(queue: EventQueue): void {
    this.#queues.add(queue);
    if (this.id !== null) queue.push(joinedEvent(this.id));
  }

  remove(queue: EventQueue): void {
    this.#queues.delete(queue);
  }

  /** The node counts this client among those in the room. */
  joined(id: bigint): void {
    this.id = id;
    this.stopWaiting();
    if (this.#wasJoined) this.tell({ kind: 'gap' });
    this.#wasJoined = true;
    this.tell(joinedEvent(id));
  }

  /** It is out: its connection ended, or the node says so. */
  left(): void {
    this.id = null;
  }

  tell(event: RoomEvent): void {
    for (const queue of this.#queues) queue.push(event);
  }

  /** There is no such room any more. */
  deleted(): void {
    this.stopWaiting();
    this.tell({ kind: 'deleted' });
    for (const queue of this.#queues) queue.end();
    this.#queues.clear();
  }

  fail(error: unknown): void {
    this.stopWaiting();
    for (const queue of this.#queues) queue.fail(error);
    this.#queues.clear();
  }
}

function joinedEvent(id: bigint): RoomEvent {
  const number = Number(id);
  return { kind: 'joined', room: Number.isSafeInteger(number) ? number : id };
}
