/**
 * Connections that listen to a room of each collection, at every node: the administrator's, and those of a guest who may join now in
 * one collection and now in another, and hears nothing that the rights of that moment do not let it hear (I18). Each increment of the counter of a collection tells its room the
 * number that came out, so what one hears are numbers without a gap, each once: anything else was not committed, came twice, was taken
 * back, or was missed without being told so (I18).
 */
import { decodeMessagePack, isWireList, isWireMap } from '@althing/client';
import { Privilege } from '@althing/engine';
import { type Listener, Push, ROOT_GROUP } from '@althing/node/parts';
import type { Process } from './process.js';
import { Violation } from './watcher.js';
import { ADMIN, GUEST, ROOM } from './workload.js';

/** Milliseconds between two attempts to join. */
const RETRY_MS = 400;

export interface ListenersOptions {
  readonly onViolation: (error: unknown) => void;
  readonly onReached: (place: string) => void;
}

/** The listeners of one life. */
export class Listeners {
  private readonly all = new Set<Connection>();
  private lastId = 0;
  private working = false;
  private stopped = false;

  constructor(private readonly options: ListenersOptions) {}

  /** Lets a process have listeners, as long as it lives. */
  attend(process: Process, collections: readonly string[]): void {
    const look = (): void => {
      if (this.stopped || !process.alive) return;
      for (const collection of this.working ? collections : []) {
        this.ensure(process, collection, ADMIN);
        this.ensure(process, collection, GUEST);
      }
      process.engineThread.after(RETRY_MS, look);
    };
    look();
  }

  /** They join from now on. There are no rooms before clients make some, and a start is over when no request waits anywhere. */
  start(): void {
    this.working = true;
  }

  /** Nobody joins any more. */
  stop(): void {
    this.stopped = true;
  }

  /**
   * Looks at the end whether everybody heard of the last increment.
   *
   * @param counterOf what a node holds
   */
  check(counterOf: (process: Process, collection: string) => number): void {
    for (const { process, collection, last, isJoined } of this.all) {
      // A listener that heard nothing joined behind the last one.
      if (!process.alive || !isJoined || last === null) continue;
      const counter = counterOf(process, collection);
      if (last !== counter) {
        throw new Violation(
          'I18',
          `a listener at ${process.machine.name} heard ${last} in ${collection}, which counts ${counter}`,
        );
      }
      this.options.onReached('a listener heard everything up to the end');
    }
  }

  private ensure(process: Process, collection: string, userName: string): void {
    if (process.root?.usersByName.has(userName) !== true) return;
    for (const each of this.all) {
      if (each.process !== process || each.collection !== collection || each.userName !== userName) continue;
      if (each.isJoined || each.isAsking) return;
      this.all.delete(each);
    }
    const connection = new Connection(++this.lastId, process, collection, userName, this.options);
    this.all.add(connection);
    connection.join();
  }
}

class Connection implements Listener {
  /** The number that was heard last; null before the first. */
  last: number | null = null;
  isJoined = false;
  isAsking = false;

  constructor(
    readonly id: number,
    readonly process: Process,
    readonly collection: string,
    readonly userName: string,
    private readonly options: ListenersOptions,
  ) {}

  get userId(): number {
    return this.process.root?.usersByName.get(this.userName)?.id ?? 0;
  }

  join(): void {
    const { process, collection } = this;
    const user = process.root?.usersByName.get(this.userName);
    const rooms = process.side?.rooms;
    if (user === undefined || rooms === undefined) return;
    this.isAsking = true;
    const client = { gone: false };
    const scope = { kind: 'collection', name: collection } as const;
    rooms.join({ scope, user, listener: this, rooms: [ROOM], client }, () => {
      this.isAsking = false;
    });
  }

  push(type: Push, body: Uint8Array): void {
    if (type === Push.JOIN) this.isJoined = true;
    else if (type === Push.EMIT) {
      const number = numberIn(body);
      if (number !== null) this.hear(number);
    } else {
      this.isJoined = false;
      if (type === Push.LEAVE) this.options.onReached('a listener was taken out of a room');
    }
  }

  gap(): void {
    this.isJoined = false;
    this.process.side?.rooms.end(this);
    this.options.onReached('a listener was told that it missed something');
  }

  private hear(number: number): void {
    const { last, process, collection, options } = this;
    this.last = number;
    options.onReached(this.userName === GUEST ? 'a guest heard an event' : 'an event was heard');
    const id = process.root?.collectionsByName.get(collection)?.id ?? 0;
    // Rights that a leader took away, and that are not committed yet, count until they are; and so do all while a snapshot is read.
    const isCertain =
      process.session(ROOT_GROUP)?.hasUncommitted === false && process.root?.isLoading === false;
    if (isCertain && process.root?.allows(id, this.userId, Privilege.JOIN) !== true) {
      const text = `${this.userName} heard ${number} in ${collection} at ${process.machine.name}, and may not be there`;
      options.onViolation(new Violation('I18', text));
    }
    if (last === null || number === last + 1) return;
    options.onViolation(
      new Violation(
        'I18',
        `a listener at ${process.machine.name} heard ${number} behind ${last} in ${collection}`,
      ),
    );
  }
}

/** The number that an event tells; null for one that tells something else. */
function numberIn(body: Uint8Array): number | null {
  const event = decodeMessagePack(Buffer.from(body));
  if (!isWireMap(event) || event.get('event') !== 'n') return null;
  const args = event.get('args');
  return isWireList(args) ? Number(args[0]) : Number.NaN;
}
