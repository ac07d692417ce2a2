/**
 * Clients that work at the same time, each one operation after the other, at whatever node: each third one by the client library, the
 * others by hand.
 */

import { getOrInsertComputed } from '@althing/engine';
import { type FailedReply, type GroupId, Sequences, type Terms } from '@althing/node/parts';
import type { Action, Operation } from './history.js';
import { LibraryProgram, type Told } from './library/library-program.js';
import type { Machine } from './machine.js';
import { NOW_MS, type Process } from './process.js';
import { type Answer, handle, keyOf, type Question } from './question.js';
import { Draw } from './random.js';
import { Violation } from './watcher.js';
import {
  ADMIN,
  COLLECTIONS,
  codeOf,
  drawAction,
  drawSession,
  GUEST,
  type LISTS,
  NEW_MODULE,
  SET_UP,
  VISITED,
} from './workload.js';
import type { World } from './world.js';

/** Milliseconds after which a client gives up. */
const PATIENCE_MS = 5000;
/** The client of probes, the one that lets the guest in and out, and the guest. */
const PROBER = -1;
const KEEPER = -2;
const VISITOR = -3;
/** The one with sessions. */
const SESSIONS = -4;

/** The kind of decision that all of these are. */
const OPERATION = 'operation';

/** Attempts of a request with a key of its own. */
const ATTEMPTS_MAX = 4;

/** One that asks, and the moments at which it may. */
export interface Agent {
  /** As decisions name it. */
  readonly name: string;
  readonly client: number;
  /** Mean time between its moments, in milliseconds. */
  readonly meanMs: number;
  /** When its moments come, whatever it does at them. */
  readonly times: Draw;
  /** Its latest moment, and the number of that. */
  time: number;
  moment: number;
}

export class Clients {
  readonly history: Operation[] = [];
  /** Numbers of named requests, by scope. */
  private readonly numbers = new Map<string | null, Sequences>();
  /** Draws the node that is asked: the questions do not depend on it. */
  private readonly nodeDraw: Draw;
  /** The parts that clients of the library share. */
  private readonly library: LibraryProgram;
  private readonly pending = new Set<{ readonly process: Process; readonly lose: () => void }>();
  private working = true;
  private restUntil = 0;
  private probes = 0;
  /** Sessions that were asked for. */
  private sessions = 0;
  /** True if the module of the workload is known to be there. */
  private hasModule = false;
  /** Collections that are known to be set up. */
  private readonly ready = new Set<string>();

  constructor(
    private readonly world: World,
    private readonly draw: Draw,
  ) {
    this.nodeDraw = new Draw(world.seed, 'nodes to ask', world.scheduler);
    this.library = new LibraryProgram(world);
  }

  start(): void {
    const { clients, guests, sessions } = this.world.swarm;
    for (let client = 0; client < clients; client++) this.next(this.agent(`c${client}`, client));
    if (guests) this.admitGuest(this.agent('keeper', KEEPER));
    if (sessions) this.repeat(this.agent('sessions', SESSIONS), (node, done) => this.useSessions(node, done));
  }

  stop(): void {
    this.working = false;
  }

  /** Does nothing new for a while. */
  rest(ms: number): void {
    this.restUntil = this.world.scheduler.now + ms;
  }

  get busy(): boolean {
    return this.pending.size > 0 || this.library.isBusy;
  }

  /** The names of the collections that were used. */
  get collections(): readonly string[] {
    return [...this.ready];
  }

  /** A process is gone: whoever waits for it will never know. */
  processEnded(process: Process): void {
    for (const each of [...this.pending]) if (each.process === process) each.lose();
    this.library.processEnded(process);
  }

  agent(name: string, client: number, meanMs = this.world.swarm.clientMs): Agent {
    const { seed, scheduler } = this.world;
    const times = new Draw(seed, `times of ${name}`);
    return { name, client, meanMs, times, time: scheduler.now, moment: -1 };
  }

  private next(agent: Agent): void {
    this.later(agent, () => this.work(agent));
  }

  private work(agent: Agent): void {
    const collection = this.draw.chance(0.8) ? COLLECTIONS[0] : COLLECTIONS[1];
    if (!this.ready.has(collection)) this.setUp(agent, collection);
    else this.operate(agent, collection);
  }

  private setUp(agent: Agent, collection: string): void {
    const process = this.nodeFor(collection);
    if (process === null) return this.next(agent);
    if (!this.hasModule) {
      this.ask(process, { collection: null, code: NEW_MODULE, key: null, name: null }, (outcome) => {
        if (outcome === 'ok') this.hasModule = true;
        this.next(agent);
      });
      return;
    }
    const isThere = process.root?.collectionsByName.has(collection) === true;
    const [where, code] = isThere ? [collection, SET_UP] : [null, `new_collection('${collection}'); nil;`];
    this.ask(process, { collection: where, code, key: null, name: null }, (outcome) => {
      if (outcome === 'ok' && isThere) this.ready.add(collection);
      this.next(agent);
    });
  }

  private operate(agent: Agent, collection: string): void {
    // The library finds a node by itself.
    const process = usesLibrary(agent) ? null : this.nodeFor(collection);
    const name = nameOf(agent);
    const canAsk = process !== null || usesLibrary(agent);
    if (!canAsk || !this.world.decisions.take(name, OPERATION)) return this.next(agent);
    const now = Math.floor((NOW_MS + this.world.scheduler.now) / 1000);
    const action = drawAction(this.draw, () => name, now, true);
    const hasKey = this.draw.chance(0.3);
    const done = (): void => this.next(agent);
    if (process === null) this.call(agent.client, collection, action, hasKey, done);
    else this.begin(agent.client, process, collection, action, hasKey, done);
  }

  /** Begins something by the library. It names each request by itself, unless there is a key. */
  private call(client: number, collection: string, action: Action, hasKey: boolean, done: () => void): void {
    const operation = this.begun(client, 'the library', collection, action);
    const key = hasKey ? keyOf(operation.id).key : undefined;
    this.library.call(operation, codeOf(action, this.draw.bits()), key, (told) => {
      this.conclude(operation, told);
      done();
    });
  }

  /** A user is made who comes and goes, with what it had in a ThingsDB. */
  private admitGuest(keeper: Agent): void {
    this.later(keeper, () => {
      const process = this.nodeFor(null);
      if (process === null || !this.ready.has(VISITED)) return this.admitGuest(keeper);
      const hash = `12345678$1${'x'.repeat(53)}`;
      const code = `import_user('${GUEST}', {password_hash: '${hash}', tokens: [{key: '${'k'.repeat(22)}'}]}); nil;`;
      this.ask(process, { collection: null, code, key: null, name: null }, (outcome) => {
        if (outcome !== 'ok') return this.admitGuest(keeper);
        this.repeat(keeper, (node, done) => this.begin(KEEPER, node, null, this.rightOfGuest(), true, done));
        this.repeat(this.agent('guest', VISITOR), (node, done) =>
          this.begin(VISITOR, node, VISITED, { kind: 'visit' }, false, done),
        );
      });
    });
  }

  /** Something that the guest may do from now on, or may not any more. */
  private rightOfGuest(): Action {
    const { draw } = this;
    if (draw.chance(0.5)) return { kind: draw.chance(0.5) ? 'allow' : 'forbid' };
    return { kind: draw.chance(0.6) ? 'admit' : 'expel', collection: draw.pick(this.collections) };
  }

  /** Begins, renews and ends sessions. */
  private useSessions(process: Process, done: () => void): void {
    const action = drawSession(this.draw, this.sessions);
    if (action.kind === 'session' && action.act === 'begin') this.sessions += 1;
    this.begin(SESSIONS, process, null, action, true, done);
  }

  /** Lets an agent ask some node something at its moments, again and again. */
  private repeat(agent: Agent, ask: (process: Process, done: () => void) => void): void {
    this.later(agent, () => {
      const process = this.nodeFor(null);
      const again = (): void => this.repeat(agent, ask);
      if (process === null || !this.world.decisions.take(nameOf(agent), OPERATION)) again();
      else ask(process, again);
    });
  }

  /**
   * Waits for the next moment of an agent. Its moments are as far from each other as it mostly waits between two things
   * that it does; those that pass while it waits for an answer are missed. So none of them depends on what it does.
   */
  later(agent: Agent, work: () => void): void {
    const { scheduler } = this.world;
    do {
      agent.time += agent.times.exponential(agent.meanMs);
      agent.moment += 1;
    } while (agent.time < scheduler.now);
    scheduler.at(agent.time, () => {
      if (!this.working) return;
      if (scheduler.now < this.restUntil) this.later(agent, work);
      else work();
    });
  }

  /** The group that probes are about, if a machine leads it. */
  group({ process }: Machine): GroupId | null {
    const id = process?.root?.collectionsByName.get(COLLECTIONS[0])?.id;
    return id !== undefined && process?.session(id)?.leading ? id : null;
  }

  /** Something more is asked of a certain node, at a moment that is worth it. */
  probe({ process }: Machine, kind: 'append' | 'read', list: (typeof LISTS)[number]): void {
    const [collection] = COLLECTIONS;
    if (process === null || !this.working || !this.ready.has(collection)) return;
    const action: Action =
      kind === 'read' ? { kind, lists: [list] } : { kind, lists: [list], value: `probe ${this.probes++}` };
    this.begin(PROBER, process, collection, action, false, () => {});
  }

  /** Notes that a client begins something. */
  begun(client: number, node: string, collection: string | null, action: Action): Operation {
    const { scheduler } = this.world;
    const operation: Operation = {
      id: this.history.length,
      client,
      collection,
      action,
      node,
      begin: scheduler.now,
      end: Number.POSITIVE_INFINITY,
      outcome: 'unknown',
      answer: null,
      index: 0,
      error: '',
    };
    this.history.push(operation);
    return operation;
  }

  private begin(
    client: number,
    process: Process,
    collection: string | null,
    action: Action,
    hasKey: boolean,
    done: () => void,
  ): void {
    const operation = this.begun(client, process.machine.name, collection, action);
    const { id } = operation;
    // One half of those that may be repeated have keys, the other half numbers.
    const isNamed = hasKey && action.kind !== 'dry_run';
    const key = isNamed && id % 2 === 0 ? keyOf(id) : null;
    const name = isNamed && key === null ? this.numberFor(collection, id) : null;
    const user = client === VISITOR ? GUEST : ADMIN;
    const code = codeOf(action, this.draw.bits());
    this.attempt(operation, process, { collection, code, key, name, user, action }, 1, done);
  }

  /** Asks; again, and mostly elsewhere, if it has a key and got no answer. */
  private attempt(
    operation: Operation,
    process: Process,
    question: Question,
    attempt: number,
    done: () => void,
  ): void {
    this.ask(process, question, (outcome, answer, index, error, isMade) => {
      if (isMade === true) operation.isMade = true;
      const other = this.nodeFor(question.collection);
      const isNamed = question.key !== null || question.name !== null;
      const again = outcome === 'unknown' && isNamed && attempt < ATTEMPTS_MAX && this.working;
      if (again && other !== null) {
        this.attempt(operation, other, question, attempt + 1, done);
        return;
      }
      if (question.name !== null) this.numbersOf(question.collection).release(0, question.name.sequence);
      // A change that an earlier attempt made is not undone by a later one that was refused.
      const certain = outcome === 'failed' && attempt > 1 ? 'unknown' : outcome;
      operation.index = index;
      this.conclude(operation, { outcome: certain, answer, error });
      done();
    });
  }

  /** Notes what became of an operation, as its client was told. */
  private conclude(operation: Operation, { outcome, answer, error, isMade }: Told): void {
    const { id, action } = operation;
    if (action.kind === 'append_and_fail' && outcome === 'ok')
      this.world.violate(new Error(`operation ${id} should have failed`));
    operation.outcome = outcome;
    operation.answer = answer;
    operation.error = error;
    if (isMade === true) operation.isMade = true;
    if (outcome !== 'unknown') operation.end = this.world.scheduler.now;
  }

  /** The next number for a request; all clients together are one, as a program with many requests at once. */
  private numberFor(collection: string | null, id: number): Terms['name'] {
    const numbers = this.numbersOf(collection);
    const sequence = numbers.take(0);
    return { client: 'simulated', sequence, low: numbers.low(0), body: keyOf(id).body };
  }

  private numbersOf(collection: string | null): Sequences {
    return getOrInsertComputed(this.numbers, collection, () => new Sequences());
  }

  /** Sends a query to a process. It gets exactly one answer, from there or from lack of patience. */
  ask(process: Process, question: Question, answer: Answer): void {
    const { scheduler, swarm } = this.world;
    const { code } = question;
    let open = true;
    const end: Answer = (outcome, value, index, error, isMade) => {
      if (!open) return;
      open = false;
      this.pending.delete(entry);
      this.world.note(
        () => `answer to ${code} ${outcome} ${JSON.stringify(value)} ${index} ${error}`,
        process.machine,
      );
      answer(outcome, value, index, error, isMade);
    };
    const entry = { process, lose: () => end('unknown', null, 0, 'connection lost') };
    this.pending.add(entry);
    const back: Answer = (...result) => {
      scheduler.after(this.draw.exponential(1), () => end(...result));
    };
    this.world.note(() => `ask ${code}`, process.machine);
    scheduler.after(this.draw.exponential(1), () => {
      if (!process.alive || !process.isOpen) return end('failed', null, 0, 'connection refused');
      process.engineThread.after(0, () => {
        const deadline = scheduler.now + swarm.waitMs;
        const isNamed = question.key !== null || question.name !== null;
        handle(process, question, back, (reply) => {
          if (isNamed && scheduler.now < deadline - 1) this.checkPatience(reply, deadline - scheduler.now);
        });
      });
    });
    scheduler.after(PATIENCE_MS, () => end('unknown', null, 0, 'no answer'));
  }

  /**
   * A node does not give up a request that it can repeat before its time is over: it finds out what became of
   * the change.
   */
  private checkPatience({ error, outcome }: FailedReply, leftMs: number): void {
    if (outcome !== 'unknown') return;
    const text = `a request that could be repeated was given up ${leftMs} ms too early: ${error.message}`;
    this.world.violate(new Violation('I16', text));
  }

  /** A node to ask: mostly the leader. */
  private nodeFor(collection: string | null): Process | null {
    const open = this.world.processes.filter(({ isOpen }) => isOpen);
    if (open.length === 0) return null;
    if (collection === null || this.nodeDraw.chance(0.5)) return this.nodeDraw.pick(open);
    const leader = open.find((process) => {
      const id = process.root?.collectionsByName.get(collection)?.id ?? 0;
      return process.session(id)?.leading;
    });
    return leader ?? this.nodeDraw.pick(open);
  }
}

/** True if one of the ordinary clients, which have numbers from 0 on, asks by the library. */
function usesLibrary({ client }: Agent): boolean {
  return client % 3 === 2;
}

/** Names what an agent does at its present moment. */
function nameOf({ name, moment }: Agent): string {
  return `${name}.${moment}`;
}
