/**
 * A client of the native protocol, with one session at a time: it asks, runs procedures, is in rooms and tells others what happens
 * there; it sends several requests at once, stops reading for a while, loses its connection, and goes to another node. What it did
 * stands in the history of all clients; what it hears is held against what all others hear (I18, I19).
 */
import { PackageType, type WireValue } from '@althing/client';
import { Sequences } from '@althing/node/parts';
import type { Agent, Clients } from '../clients.js';
import type { Action, Operation } from '../history.js';
import { NOW_MS, type Process } from '../process.js';
import { Draw } from '../random.js';
import type { Hearing } from '../room-witness.js';
import { Violation } from '../watcher.js';
import { COLLECTIONS, codeOf, drawAction, LISTS, ROOM, roomOf } from '../workload.js';
import type { World } from '../world.js';
import { judged, textOf } from './answers.js';
import { Pipe } from './pipe.js';
import { type Answer, Session } from './session.js';

/** Milliseconds after which a client gives up an answer, and its session. */
const PATIENCE_MS = 5000;

/** Attempts of a request with a name. */
const ATTEMPTS_MAX = 4;

/** An answer waits so long at most for the events of its change; see `Rooms.answer`. */
const EVENTS_WAIT_MS = 2000;

/** Numbers of these clients, beside those of others. */
const CLIENTS_FROM = 1000;

/** Time that the end of a session may be on its way, in milliseconds. */
const END_MS = 1000;

const OPERATION = 'operation';

export class SocketClient {
  private readonly clients: Clients;
  private readonly draw: Draw;
  private readonly agent: Agent;
  private readonly name: string;
  private readonly numbers = new Map<string, Sequences>();
  private session: Session | null = null;
  private process: Process | null = null;
  private sessions = 0;
  /** True if it stays at a node that asks it to go. */
  private readonly stays: boolean;
  private working = true;

  constructor(
    private readonly world: World,
    number: number,
  ) {
    const { seed, scheduler, clients, swarm } = world;
    this.clients = clients;
    this.name = `s${number}`;
    this.draw = new Draw(seed, `socket ${number}`, scheduler);
    this.stays = new Draw(seed, `habits of socket ${number}`).chance(0.4);
    this.agent = clients.agent(this.name, CLIENTS_FROM + number, swarm.socketMs);
  }

  get isQuiet(): boolean {
    const { session } = this;
    return session === null || session.isOver || (!session.isBusy && session.pipe?.isQuiet === true);
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
    this.working = false;
    this.session?.pipe?.flow();
  }

  processEnded(process: Process): void {
    if (process === this.process) this.session?.pipe?.nodeEnded();
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
        return this.hold(session, next);
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
  private connect(done: () => void): void {
    const { world, draw } = this;
    this.session?.giveUp(null);
    this.session = null;
    const open = world.processes.filter(({ isOpen }) => isOpen);
    if (open.length === 0) return done();
    const process = draw.pick(open);
    this.sessions += 1;
    const who = `session ${this.name}-${this.sessions} at ${process.machine.name}`;
    const session = new Session({
      who,
      witness: world.witness,
      now: () => world.scheduler.now,
      onProblem: (text) => world.violate(new Violation('I19', text)),
      onReached: (place) => world.reached.add(place),
    });
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
    session.pipe = pipe;
    this.session = session;
    this.process = process;
    world.note(() => `${who} begins`, process.machine);
    process.engineThread.after(draw.exponential(1), () => process.doors.accept(pipe));
    this.ask(session, PackageType.AUTH, ['admin', 'none'], (answer) => {
      if (answer?.ok !== true) {
        session.giveUp(null);
        return done();
      }
      this.join(session, COLLECTIONS[0], () => {
        if (!draw.chance(0.3)) return done();
        this.join(session, COLLECTIONS[1], done);
      });
    });
  }

  private join(session: Session, collection: string, done: () => void): void {
    this.ask(session, PackageType.JOIN, [roomOf(collection), ROOM], () => done());
  }

  private changeRooms(session: Session, collection: string, done: () => void): void {
    const scope = roomOf(collection);
    if (this.hearing(session, collection) === null) return this.join(session, collection, done);
    this.ask(session, PackageType.LEAVE, [scope, ROOM], () => {
      if (this.draw.chance(0.5)) this.join(session, collection, done);
      else done();
    });
  }

  /** Takes the room away: who is there is told, and the next increment makes another one of the name. */
  private deleteRoom(session: Session, collection: string, done: () => void): void {
    const code = "if (.has('room')) .del('room'); nil;";
    this.ask(session, PackageType.QUERY, [roomOf(collection), code], () => done());
  }

  /** Reads nothing for a while. */
  private hold(session: Session, done: () => void): void {
    const { draw, world } = this;
    session.pipe?.hold();
    world.scheduler.after(draw.exponential(draw.pick([50, 1000])), () => {
      session.pipe?.flow();
      done();
    });
  }

  /** Checks that the state of its node has all that a session heard of. */
  private look(session: Session, collection: string, done: () => void): void {
    const heard = this.hearing(session, collection)?.lastNumber ?? 0;
    const options = new Map<string, WireValue>([['consistency', 'stale']]);
    this.ask(session, PackageType.QUERY, [roomOf(collection), '.n;', null, options], (answer) => {
      if (answer?.ok === true && Number(answer.value) < heard) {
        const text = `${session.who} heard ${heard} in ${collection}, where its node counts ${answer.value}`;
        this.world.violate(new Violation('I18', text));
      }
      done();
    });
  }

  private emit(session: Session, collection: string, tag: string, toPeers: boolean, done: () => void): void {
    const { witness, scheduler } = this.world;
    const scope = roomOf(collection);
    const begin = scheduler.now;
    const hearing = this.hearing(session, collection);
    if (toPeers) session.own.add(tag);
    witness.sent(scope, tag);
    const type = toPeers ? PackageType.EMIT_PEER : PackageType.EMIT;
    this.ask(session, type, [scope, ROOM, 'chat', tag], (answer) => {
      if (answer?.ok === true) {
        witness.acknowledged(scope, tag, begin);
        if (!toPeers) this.demandHeard(session, hearing, tag, begin);
        this.world.reached.add('a session emits');
      }
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
    this.world.reached.add('a session had several requests at once');
    if (isSeen) return;
    const text = `${session.who}: operation ${second.id} did not see what operation ${first.id} did before it`;
    this.world.violate(new Violation('I19', text));
  }

  private operate(
    session: Session,
    collection: string,
    action: Action,
    isNamed: boolean,
    done: () => void,
  ): Operation {
    const { clients, agent } = this;
    const operation = clients.begun(agent.client, this.process?.machine.name ?? '', collection, action);
    const options = new Map<string, WireValue>();
    let release = (): void => {};
    if (action.kind === 'dry_run') options.set('dry_run', action.explains ? 'explain' : true);
    // One half of those that may be repeated have keys, the other half numbers.
    if (isNamed && operation.id % 2 === 0) options.set('key', `request ${this.name} ${operation.id}`);
    else if (isNamed) {
      const numbers = this.numbersOf(collection);
      const sequence = numbers.take(0);
      options.set('request', `${this.name}.${sequence}.${numbers.low(0)}`);
      release = () => numbers.release(0, sequence);
    }
    const isProcedure = action.kind === 'append' && action.lists.join() === 'l3';
    const [type, ...body] = isProcedure
      ? ([PackageType.RUN, 'add', [action.value]] as const)
      : ([PackageType.QUERY, codeOf(action, this.draw.bits()), null] as const);
    const data: readonly WireValue[] = [roomOf(collection), ...body, options];
    const released = (): void => {
      release();
      done();
    };
    this.attempt({ session, collection, operation, type, data, isNamed, done: released }, 1);
    return operation;
  }

  private attempt(request: Attempted, attempt: number): void {
    const { session, collection, operation, type, data, isNamed, done } = request;
    const hearing = this.hearing(session, collection);
    const sentAt = this.world.scheduler.now;
    const { action } = operation;
    this.ask(session, type, data, (answer) => {
      const { outcome, value, code, isMade } = judged(answer);
      if (isMade) operation.isMade = true;
      if (outcome === 'unknown' && isNamed && attempt < ATTEMPTS_MAX && this.working) {
        const again = (): void => {
          const { session: other } = this;
          if (other === null || other.isOver) this.end(operation, 'unknown', null, done);
          else this.attempt({ ...request, session: other }, attempt + 1);
        };
        if (session.isOver || session !== this.session) return this.connect(again);
        return again();
      }
      if (action.kind === 'append_and_fail' && outcome === 'ok')
        this.world.violate(new Error(`operation ${operation.id} should have failed`));
      // A change that an earlier attempt made is not undone by a later one that was refused.
      const certain = outcome === 'failed' && attempt > 1 ? 'unknown' : outcome;
      if (certain === 'ok' && action.kind === 'increment' && attempt === 1)
        this.demandHeard(session, hearing, action.tag, sentAt);
      this.end(operation, certain, outcome === 'failed' ? code : value, done);
    });
  }

  private end(operation: Operation, outcome: Operation['outcome'], answer: unknown, done: () => void): void {
    operation.outcome = outcome;
    operation.answer = answer;
    if (outcome !== 'unknown') operation.end = this.world.scheduler.now;
    done();
  }

  /** A session hears of what it does itself before it has the answer. */
  private demandHeard(session: Session, hearing: Hearing | null, tag: string, sentAt: number): void {
    const { scheduler } = this.world;
    if (hearing === null || hearing.isOver || hearing.heard.has(tag)) return;
    if (scheduler.now - sentAt >= EVENTS_WAIT_MS) return;
    // Where a snapshot took the place of the event, the session is ended behind the answer.
    scheduler.after(END_MS, () => {
      if (session.isOver) return;
      this.world.violate(new Violation('I19', `${session.who} had the answer before it heard ${tag}`));
    });
  }

  /** Asks, and gives the session up when no answer comes. */
  private ask(
    session: Session,
    type: number,
    data: readonly WireValue[],
    answered: (answer: Answer | null) => void,
  ): void {
    this.world.note(() => `${session.who} sends ${type} ${textOf(data)}`);
    const told = (answer: Answer | null): void => {
      this.world.note(() => `${session.who} gets the answer to ${type}: ${textOf(answer)}`);
      answered(answer);
    };
    this.patiently(session, told, (done) => session.ask(type, data, done));
  }

  private patiently(
    session: Session,
    answered: (answer: Answer | null) => void,
    ask: (done: (answer: Answer | null) => void) => void,
  ): void {
    const callOff = this.world.scheduler.after(PATIENCE_MS, () => session.giveUp(0));
    ask((answer) => {
      callOff();
      answered(answer);
    });
  }

  /** Events that a session hears of the room of a collection; null when it is not there. */
  private hearing(session: Session, collection: string): Hearing | null {
    const hearing = session.hearings.get(roomOf(collection));
    return hearing === undefined || hearing.isOver ? null : hearing;
  }

  private numbersOf(collection: string): Sequences {
    const numbers = this.numbers.get(collection) ?? new Sequences();
    this.numbers.set(collection, numbers);
    return numbers;
  }
}

interface Attempted {
  readonly session: Session;
  readonly collection: string;
  readonly operation: Operation;
  readonly type: number;
  readonly data: readonly WireValue[];
  readonly isNamed: boolean;
  readonly done: () => void;
}
