/** Rooms that a shell listens to: each event is a line. */
import { AlthingError, type Database, type RoomEvent, type Value, type WireValue } from '@althing/client';
import { UsageError } from '../input.js';
import type { RoomWatch } from './commands.js';
import type { Session } from './session.js';
import { visible } from './text-width.js';

interface Joined {
  readonly leave: AbortController;
  readonly ended: Promise<void>;
}

export class Rooms implements RoomWatch {
  private readonly joined = new Map<string, Joined>();

  constructor(
    private readonly session: Session,
    private readonly print: (line: string) => void,
  ) {}

  async join(room: string): Promise<void> {
    const key = this.keyOf(room);
    if (this.joined.has(key)) throw new UsageError(`${room} is joined already`);
    const leave = new AbortController();
    const events = roomOf(this.session.db, this.session.scope, room).events({ signal: leave.signal });
    // The answer to the JOIN is the answer to the command.
    const first = await events.next();
    if (first.done === true) return;
    this.print(lineOf(room, first.value));
    const ended = this.follow(room, events, leave.signal).finally(() => this.joined.delete(key));
    this.joined.set(key, { leave, ended });
  }

  leave(room: string): void {
    const found = this.joined.get(this.keyOf(room));
    if (found === undefined) throw new UsageError(`${room} is not joined`);
    found.leave.abort();
  }

  async emit(room: string, event: string, args: readonly WireValue[]): Promise<void> {
    const names = args.map((_, index) => `arg${index}`);
    const vars = new Map<string, WireValue>([
      ['room', /^\d+$/.test(room) ? BigInt(room) : room],
      ['event', event],
      ...args.map((arg, index) => [`arg${index}`, arg] as const),
    ]);
    await this.session.ask(this.session.scope, `room(room).emit(${['event', ...names].join(', ')});`, vars);
  }

  /** Leaves all rooms. */
  async close(): Promise<void> {
    const all = [...this.joined.values()];
    for (const { leave } of all) leave.abort();
    await Promise.all(all.map(({ ended }) => ended));
  }

  private async follow(room: string, events: AsyncIterable<RoomEvent>, signal: AbortSignal): Promise<void> {
    try {
      for await (const event of events) this.print(lineOf(room, event));
    } catch (error) {
      if (!(error instanceof AlthingError)) throw error;
      if (!signal.aborted) this.print(visible(`${room}: ${error.message}`));
    }
  }

  private keyOf(room: string): string {
    return `${this.session.scope} ${room}`;
  }
}

function roomOf(
  db: Database,
  scope: string,
  room: string,
): ReturnType<ReturnType<Database['$scope']>['room']> {
  return db.$scope(scope).room(/^\d+$/.test(room) ? BigInt(room) : room);
}

function lineOf(room: string, event: RoomEvent): string {
  switch (event.kind) {
    case 'joined':
      return visible(`${room}: joined`);
    case 'gap':
      return visible(`${room}: events may be missing here`);
    case 'deleted':
      return visible(`${room}: the room is no more`);
    case 'emit':
      return visible(`${room}: ${event.event} ${event.args.map(textOf).join(' ')}`.trimEnd());
  }
}

function textOf(value: Value): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part));
}
