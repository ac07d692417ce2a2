/**
 * A simulated client of the native protocol: it also sends several requests at once, stops reading for a while, loses its connection,
 * takes rooms away, and goes to another node.
 */
import { PackageType } from '@althing/client';
import type { Agent, Clients } from '../clients.js';
import type { Action, Operation } from '../history.js';
import { NOW_MS, type Process } from '../process.js';
import { Draw } from '../random.js';
import { COLLECTIONS, drawAction, LISTS, roomOf } from '../workload.js';
import type { World } from '../world.js';
import { Pipe } from './pipe.js';
import { Session } from './session.js';
import { SocketClient, type SocketRun } from './socket-client.js';

/** Numbers of these clients, beside those of others. */
const CLIENTS_FROM = 1000;

const OPERATION = 'operation';

export class SimulatedClient extends SocketClient {
  private readonly clients: Clients;
  private readonly agent: Agent;
  private pipe: Pipe | null = null;
  private process: Process | null = null;
  private sessions = 0;
  /** True if it stays at a node that asks it to go. */
  private readonly stays: boolean;
  protected isResting = false;

  constructor(
    private readonly world: World,
    run: SocketRun,
    number: number,
  ) {
    const { seed, scheduler, clients, swarm } = world;
    const name = `s${number}`;
    super(run, new Draw(seed, `socket ${number}`, scheduler), name, CLIENTS_FROM + number);
    this.clients = clients;
    this.stays = new Draw(seed, `habits of socket ${number}`).chance(0.4);
    this.agent = clients.agent(name, CLIENTS_FROM + number, swarm.socketMs);
  }

  get isQuiet(): boolean {
    const { session } = this;
    return session === null || session.isOver || (!session.isBusy && this.pipe?.isQuiet === true);
  }

  /** True if it is in a room where something was told. */
  get hasHeard(): boolean {
    const { session } = this;
    return (
      session !== null && [...session.hearings.values()].some(({ isOver, last }) => !isOver && last !== null)
    );
  }

  start(): void {
    this.next();
  }

  stop(): void {
    this.isResting = true;
    this.pipe?.flow();
  }

  processEnded(process: Process): void {
    if (process === this.process) this.pipe?.nodeEnded();
  }

  private next(): void {
    this.clients.later(this.agent, () => this.step());
  }

  private step(): void {
    const { session, world, draw } = this;
    const mustGo = session === null || session.isOver || (session.isLeaving && !this.stays);
    if (mustGo) return this.connect(() => this.next());
    // A client that goes nowhere is there until the node ends its session.
    if (session.isLeaving) return this.next();
    const [collection] = COLLECTIONS;
    const isReady = this.clients.collections.includes(collection);
    const name = `${this.name}.${this.agent.moment}`;
    if (!isReady || !world.decisions.take(name, OPERATION)) return this.next();
    const kind = draw.weighted([
      ['operate', 10],
      ['increment', 3],
      ['emit', 4],
      ['emit_to_peers', 0.7],
      ['burst', 3],
      ['look', 2],
      ['rooms', 2],
      ['hold', 2],
      ['delete', 0.4],
      ['ping', 0.5],
      ['lose', 0.7],
      ['close', 0.4],
    ] as const);
    const next = (): void => this.next();
    switch (kind) {
      case 'operate':
        this.operate(session, collection, this.drawAction(name), draw.chance(0.4), next);
        return;
      case 'increment':
        this.operate(session, collection, { kind: 'increment', tag: name }, draw.chance(0.4), next);
        return;
      case 'emit':
      case 'emit_to_peers':
        return this.emit(session, collection, name, kind === 'emit_to_peers', next);
      case 'burst':
        return this.burst(session, collection, name, next);
      case 'look':
        return this.look(session, collection, next);
      case 'rooms':
        return this.changeRooms(session, collection, next);
      case 'delete':
        return this.deleteRoom(session, collection, next);
      case 'hold':
        return this.hold(next);
      case 'ping':
        return this.patiently(session, next, (done) => session.ping(done));
      case 'lose':
        session.giveUp(draw.exponential(draw.pick([1, 2000])));
        return next();
      default:
        session.giveUp(null);
        return next();
    }
  }

  private drawAction(name: string): Action {
    const { world, draw } = this;
    return drawAction(draw, () => name, Math.floor((NOW_MS + world.scheduler.now) / 1000), true);
  }

  /** Connects to some node, logs in, and joins. */
  protected connect(done: () => void): void {
    const { world, draw } = this;
    this.session?.giveUp(null);
    this.session = null;
    const open = world.processes.filter(({ isOpen }) => isOpen);
    if (open.length === 0) return done();
    const process = draw.pick(open);
    this.sessions += 1;
    const who = `session ${this.name}-${this.sessions} at ${process.machine.name}`;
    const session = new Session(who, this.run);
    const pipe = new Pipe({
      scheduler: world.scheduler,
      thread: process.engineThread,
      draw,
      delayMs: world.swarm.socketDelayMs,
      windowBytes: world.swarm.socketWindowBytes,
      address: '192.0.2.1',
      received: (bytes) => session.received(bytes),
      ended: (how) => session.ended(how),
    });
    session.connection = pipe;
    this.session = session;
    this.pipe = pipe;
    this.process = process;
    this.node = process.machine.name;
    world.note(() => `${who} begins`, process.machine);
    process.engineThread.after(draw.exponential(1), () => process.doors.accept(pipe));
    this.ask(session, PackageType.AUTH, ['admin', 'none'], (answer) => {
      if (answer?.ok !== true) {
        session.giveUp(null);
        return done();
      }
      this.join(session, COLLECTIONS[0], () => {
        if (!draw.chance(0.3)) return done();
        this.join(session, COLLECTIONS[1], () => done());
      });
    });
  }

  private changeRooms(session: Session, collection: string, done: () => void): void {
    if (this.hearing(session, collection) === null) return this.join(session, collection, () => done());
    this.leave(session, collection, () => {
      if (this.draw.chance(0.5)) this.join(session, collection, () => done());
      else done();
    });
  }

  /** Takes the room away: who is there is told, and the next increment makes another one of the name. */
  private deleteRoom(session: Session, collection: string, done: () => void): void {
    const code = "if (.has('room')) .del('room'); nil;";
    this.ask(session, PackageType.QUERY, [roomOf(collection), code], () => done());
  }

  /** Reads nothing for a while. */
  private hold(done: () => void): void {
    const { draw, world } = this;
    const { pipe } = this;
    pipe?.hold();
    world.scheduler.after(draw.exponential(draw.pick([50, 1000])), () => {
      pipe?.flow();
      done();
    });
  }

  /** Several requests at once, the later of which see what those before them did. */
  private burst(session: Session, collection: string, name: string, done: () => void): void {
    const { draw } = this;
    const list = draw.pick(LISTS);
    const pair: readonly [Action, Action] = draw.chance(0.5)
      ? [
          { kind: 'increment', tag: `${name}a` },
          { kind: 'increment', tag: `${name}b` },
        ]
      : [
          { kind: 'append', lists: [list], value: name },
          { kind: 'read', lists: [list] },
        ];
    const operations: Operation[] = [];
    let left = pair.length;
    for (const action of pair) {
      const operation = this.operate(session, collection, action, false, () => {
        left -= 1;
        if (left > 0) return;
        this.demandOrder(session, operations);
        done();
      });
      operations.push(operation);
    }
  }

  private demandOrder(session: Session, [first, second]: readonly Operation[]): void {
    if (first?.outcome !== 'ok' || second?.outcome !== 'ok') return;
    const { action } = first;
    const isSeen =
      action.kind === 'append'
        ? JSON.stringify(second.answer).includes(JSON.stringify(action.value))
        : Number(second.answer) > Number(first.answer);
    this.run.onReached('a session had several requests at once');
    if (isSeen) return;
    const text = `${session.who}: operation ${second.id} did not see what operation ${first.id} did before it`;
    this.run.onProblem(text);
  }
}
