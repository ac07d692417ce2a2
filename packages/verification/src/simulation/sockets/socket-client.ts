/**
 * A client of the native protocol, with one session at a time, in the simulator and at real nodes: it asks, runs procedures, is in rooms
 * and tells others what happens there. It notes each of its operations, and holds what it hears against what all others hear (I18, I19).
 * Its subclasses decide what it does next, and how it connects.
 */
import { PackageType, type WireValue } from '@althing/client';
import { getOrInsertComputed } from '@althing/engine';
import { Sequences } from '@althing/node/parts';
import type { Action, Operation } from '../history.js';
import type { Draw } from '../random.js';
import type { Hearing } from '../room-witness.js';
import { codeOf, ROOM, roomOf } from '../workload.js';
import { judged, textOf } from './answers.js';
import type { Answer, Session, SessionRun } from './session.js';

/** Attempts of a request with a name. */
const ATTEMPTS_MAX = 4;

/** An answer waits so long at most for the events of its change; see `Rooms.answer`. */
const EVENTS_WAIT_MS = 2000;

/** The run that clients take part in. */
export interface SocketRun extends SessionRun {
  /** Milliseconds after which a client gives up an answer, and its session. */
  readonly patienceMs: number;
  /** Milliseconds that the end of a session may be on its way. */
  readonly endMs: number;
  /** Does something after some milliseconds; gives how to call it off. */
  readonly after: (ms: number, work: () => void) => () => void;
  /** Notes that a client begins something. */
  readonly begun: (client: number, node: string, collection: string, action: Action) => Operation;
  /** Notes that the client knows as much of an operation as it ever will. */
  readonly ended: (operation: Operation) => void;
  /** Something for the trace of the run. */
  readonly note: (text: () => string) => void;
}

export abstract class SocketClient {
  protected session: Session | null = null;
  /** The name of the node that it is connected to. */
  protected node = '';
  private readonly numbers = new Map<string, Sequences>();

  /** @param number in the history */
  constructor(
    protected readonly run: SocketRun,
    protected readonly draw: Draw,
    protected readonly name: string,
    private readonly number: number,
  ) {}

  /** True if it does not do anything new any more. */
  protected abstract get isResting(): boolean;

  /** Ends its session, and begins another one at some node if it can. */
  protected abstract connect(done: () => void): void;

  protected join(session: Session, collection: string, done: (answer: Answer | null) => void): void {
    this.ask(session, PackageType.JOIN, [roomOf(collection), ROOM], done);
  }

  protected leave(session: Session, collection: string, done: () => void): void {
    this.ask(session, PackageType.LEAVE, [roomOf(collection), ROOM], () => done());
  }

  /** Checks that the state of its node has all that a session heard of. */
  protected look(session: Session, collection: string, done: () => void): void {
    const heard = this.hearing(session, collection)?.lastNumber ?? 0;
    const options = new Map<string, WireValue>([['consistency', 'stale']]);
    this.ask(session, PackageType.QUERY, [roomOf(collection), '.n;', null, options], (answer) => {
      if (answer?.ok === true && Number(answer.value) < heard) {
        const text = `${session.who} heard ${heard} in ${collection}, where its node counts ${answer.value}`;
        this.run.onProblem(text, 'I18');
      }
      done();
    });
  }

  protected emit(
    session: Session,
    collection: string,
    tag: string,
    toPeers: boolean,
    done: () => void,
  ): void {
    const { witness, now, onReached } = this.run;
    const scope = roomOf(collection);
    const begin = now();
    const hearing = this.hearing(session, collection);
    if (toPeers) session.own.add(tag);
    witness.sent(scope, tag);
    const type = toPeers ? PackageType.EMIT_PEER : PackageType.EMIT;
    this.ask(session, type, [scope, ROOM, 'chat', tag], (answer) => {
      if (answer?.ok === true) {
        witness.acknowledged(scope, tag, begin);
        if (!toPeers) this.demandHeard(session, hearing, tag, begin);
        onReached('a session emits');
      }
      done();
    });
  }

  protected operate(
    session: Session,
    collection: string,
    action: Action,
    isNamed: boolean,
    done: () => void,
  ): Operation {
    const operation = this.run.begun(this.number, this.node, collection, action);
    const options = new Map<string, WireValue>();
    let release = (): void => {};
    if (action.kind === 'dry_run') options.set('dry_run', action.explains ? 'explain' : true);
    // One half of those that may be repeated have keys, the other half numbers.
    if (isNamed && operation.id % 2 === 0) options.set('key', `request ${this.name} ${operation.id}`);
    else if (isNamed) {
      const numbers = getOrInsertComputed(this.numbers, collection, () => new Sequences());
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
    const { run } = this;
    const hearing = this.hearing(session, collection);
    const sentAt = run.now();
    const { action } = operation;
    this.ask(session, type, data, (answer) => {
      const { outcome, value, error, isMade } = judged(answer);
      if (isMade) operation.isMade = true;
      operation.error = error;
      if (outcome === 'unknown' && isNamed && attempt < ATTEMPTS_MAX && !this.isResting) {
        const again = (): void => {
          const { session: other } = this;
          if (other === null || other.isOver) this.end(operation, 'unknown', null, done);
          else this.attempt({ ...request, session: other }, attempt + 1);
        };
        if (session.isOver || session !== this.session) return this.connect(again);
        return again();
      }
      if (action.kind === 'append_and_fail' && outcome === 'ok')
        run.onProblem(`operation ${operation.id} should have failed`);
      // A change that an earlier attempt made is not undone by a later one that was refused.
      const certain = outcome === 'failed' && attempt > 1 ? 'unknown' : outcome;
      if (certain === 'ok' && action.kind === 'increment' && attempt === 1)
        this.demandHeard(session, hearing, action.tag, sentAt);
      this.end(operation, certain, value, done);
    });
  }

  private end(operation: Operation, outcome: Operation['outcome'], answer: unknown, done: () => void): void {
    operation.outcome = outcome;
    operation.answer = answer;
    if (outcome !== 'unknown') operation.end = this.run.now();
    this.run.ended(operation);
    done();
  }

  /** A session hears of what it does itself before it has the answer. */
  private demandHeard(session: Session, hearing: Hearing | null, tag: string, sentAt: number): void {
    const { now, after, endMs, onProblem } = this.run;
    if (hearing === null || hearing.isOver || hearing.heard.has(tag)) return;
    if (now() - sentAt >= EVENTS_WAIT_MS) return;
    // Where a snapshot took the place of the event, the session is ended behind the answer.
    after(endMs, () => {
      if (!session.isOver) onProblem(`${session.who} had the answer before it heard ${tag}`);
    });
  }

  /** Asks, and gives the session up when no answer comes. */
  protected ask(
    session: Session,
    type: number,
    data: readonly WireValue[] | string,
    answered: (answer: Answer | null) => void,
  ): void {
    const { note } = this.run;
    note(() => `${session.who} sends ${type} ${textOf(data)}`);
    const told = (answer: Answer | null): void => {
      note(() => `${session.who} gets the answer to ${type}: ${textOf(answer)}`);
      answered(answer);
    };
    this.patiently(session, told, (done) => session.ask(type, data, done));
  }

  protected patiently(
    session: Session,
    answered: (answer: Answer | null) => void,
    ask: (done: (answer: Answer | null) => void) => void,
  ): void {
    const callOff = this.run.after(this.run.patienceMs, () => session.giveUp(0));
    ask((answer) => {
      callOff();
      answered(answer);
    });
  }

  /** Events that a session hears of the room of a collection; null when it is not there. */
  protected hearing(session: Session, collection: string): Hearing | null {
    const hearing = session.hearings.get(roomOf(collection));
    return hearing === undefined || hearing.isOver ? null : hearing;
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
