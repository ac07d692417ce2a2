import { PackageType, type WireValue } from '@althing/client';
import type { Process } from '../simulation/process.js';
import type { Draw } from '../simulation/random.js';
import { RoomWitness } from '../simulation/room-witness.js';
import { Pipe } from '../simulation/sockets/pipe.js';
import { type Answered, Session } from '../simulation/sockets/session.js';
import type { World } from '../simulation/world.js';

/** A package that a client sends: its type, and its data. */
export type Sent = readonly [type: number, ...data: WireValue[]];

/** Mean time of a piece of what a client sends on its way, in milliseconds. */
export const PIECE_MS = 0.1;

/** A client of the native protocol that logs in at one node: by a token, or as the administrator. */
export class Caller {
  private readonly session: Session;
  private readonly pipe: Pipe;

  /** @param pieceMs mean time of a piece of what it sends on its way, in milliseconds */
  constructor(world: World, process: Process, token: string | null, draw: Draw, pieceMs = PIECE_MS) {
    const { scheduler } = world;
    const session = new Session('a caller', {
      witness: new RoomWitness(),
      now: () => scheduler.now,
      onProblem: (text) => world.violate(new Error(text)),
      onReached: () => {},
    });
    const pipe = new Pipe({
      scheduler,
      thread: process.engineThread,
      draw,
      delayMs: pieceMs,
      windowBytes: 64 * 1024,
      address: '192.0.2.1',
      received: (bytes) => session.received(bytes),
      ended: (how) => session.ended(how),
    });
    session.connection = pipe;
    this.session = session;
    this.pipe = pipe;
    process.doors.accept(pipe);
    session.ask(PackageType.AUTH, token ?? ['admin', 'none'], () => {});
  }

  get isOver(): boolean {
    return this.session.isOver;
  }

  /** Sends a package; answers come in the order of the packages. */
  send([type, ...data]: Sent, answered: Answered): void {
    this.session.ask(type, data, answered);
  }

  /** Reads nothing more. */
  hold(): void {
    this.pipe.hold();
  }
}
