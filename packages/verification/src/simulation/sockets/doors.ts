/** The door of a simulated node for connections of the native protocol: the listener, sessions and sockets' wires of a real one. */
import type { Socket } from 'node:net';
import type { RootGroup, User } from '@althing/engine';
import { Gate, NativeListener, type Principal } from '@althing/node/parts';
import type { NodeMutant } from '../node-mutant-names.js';
import type { Process } from '../process.js';
import type { Pipe } from './pipe.js';
import { loseEvents, overtake, roomsWithBugs } from './planted.js';

export interface DoorsOptions {
  readonly planted: ReadonlySet<NodeMutant>;
  /** Wall clock in milliseconds. */
  readonly wallClock: () => number;
  /** Bytes that wait to be sent when an event finds them and the connection ends. */
  readonly unsentEventsMax: number;
}

const MiB = 1024 * 1024;

/** Time that a connection may take to log in, and a package to come or to be taken, in milliseconds. */
const LOGIN_MS = 10_000;
const PACKAGE_MS = 3000;

export class Doors {
  /** The sender of what comes with a header; null for nobody. */
  readonly principalOf: (authorization: string) => Principal | null;
  private readonly listener: NativeListener;
  readonly gate: Gate;
  private readonly planted: ReadonlySet<NodeMutant>;

  /** @param process one that is open */
  constructor(
    private readonly process: Process,
    { planted, wallClock, unsentEventsMax }: DoorsOptions,
  ) {
    this.planted = planted;
    const { side, clock } = process;
    if (side === null) throw new Error('the node is not open');
    const { engine, router, rooms, feeds } = side;
    const { root } = engine;
    this.gate = new Gate({
      memoryMax: 16 * MiB,
      connectionsMax: 10_000,
      pendingMax: 10_000,
      refusal: () => null,
      stale: () => null,
      figures: { rejected: () => {} },
      clock,
    });
    this.principalOf = (authorization) => {
      const user = userOf(root, authorization);
      return user === null ? null : { user, readOnly: false };
    };
    this.listener = new NativeListener({
      // Clients are believed when they log in: passwords and tokens are not simulated.
      authenticator: {
        known: this.principalOf,
        login: (_authorization, _address, { done }) => done({ kind: 'refused' }),
      },
      root,
      handle: (request, respond) => router.handle(request, respond),
      readsLater: (userId, bytes, read) => router.readsLater(userId, bytes, read),
      rooms: roomsWithBugs(rooms, planted, (ms, work) => clock.after(ms, work)),
      feeds,
      gate: this.gate,
      nestingMax: 1000,
      sizeMax: MiB,
      ids: { idOf: () => 'simulated' },
      figures: { refused: () => {} },
      onDefect: (error) => process.fail('a defect of a session', error),
      now: wallClock,
      nodeNumber: () => root.members.get(process.nodeId)?.number ?? 0,
      connectionsPerAddressMax: 1000,
      isProxy: () => false,
      loginTimeoutMs: LOGIN_MS,
      packageTimeoutMs: PACKAGE_MS,
      unsentEventsMax,
      clock,
    });
    if (planted.has('shutdown_not_told')) this.listener.leave = () => {};
  }

  /** Takes a connection that has come. */
  accept({ nodeEnd }: Pipe): void {
    if (this.planted.has('event_lost_when_slow')) loseEvents(nodeEnd);
    if (this.planted.has('answers_overtake')) overtake(nodeEnd, (work) => this.process.clock.after(5, work));
    // The parts of a socket that the listener uses are there.
    const socket = nodeEnd as unknown as Socket;
    if (this.listener.admit(socket)) this.listener.open(socket);
  }

  /** Tells clients to go elsewhere, and resolves when none is there any more. */
  async drain(): Promise<void> {
    this.leave();
    await this.gate.idle(() => this.listener.isBusy);
    await this.listener.end();
  }

  /** Tells clients to go elsewhere. */
  leave(): void {
    if (this.gate.isLeaving) return;
    this.gate.leave();
    this.listener.leave();
  }
}

/** The user of a token, or whom credentials name as a header has them. */
function userOf(root: RootGroup, authorization: string): User | null {
  const [kind, text = ''] = authorization.split(' ');
  if (kind === 'Bearer') return root.tokenByKey(text)?.user ?? null;
  const [name = ''] = Buffer.from(text, 'base64').toString('latin1').split(':');
  return root.usersByName.get(name) ?? null;
}
