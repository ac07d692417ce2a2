/**
 * Nodes as a table: the state of a node and an action give its next state and the messages that it sends.
 * Each row is found out once, from the real core, and used in every state of the cluster in which it applies;
 * that is what makes an exploration fast. A core is not copied: a node in some state is made by living
 * through what led to it.
 */
import { assert, RaftAssertionError } from '../assert.js';
import type { Message, MessageKind } from '../messages.js';
import { Violation } from '../testing/checker.js';
import type { Contents } from '../testing/host.js';
import { actionOf } from './actions.js';
import type { Model } from './bounds.js';
import { factsOf, messageFact } from './facts.js';
import { addFingerprint, Ints, PairTable } from './fingerprints.js';
import { LocalNode, type Origin, originOf } from './localnode.js';
import { Views } from './views.js';

/** The next state when an invariant is broken. */
export const BROKEN = -1;

export class Automaton {
  readonly messages: Message[] = [];
  /** The fingerprint of each state with each renaming, in two words. Likewise for messages. */
  readonly stateSums = new Ints();
  readonly messageSums = new Ints();
  /** The node that each message goes to, and the term from which on it does nothing there. */
  readonly recipients = new Ints();
  readonly deadFrom = new Ints();
  readonly views: Views;
  /** The next state of each row, and the place of what it sends in {@link sends}. */
  readonly next = new Ints();
  readonly sendsFrom = new Ints();
  readonly sendsCount = new Ints();
  readonly sends = new Ints();
  /** The problem of rows that are {@link BROKEN}. */
  readonly problems = new Map<number, string>();
  readonly contents: Contents = new Map();
  private readonly states = new PairTable();
  private readonly messageTable = new PairTable();
  private readonly rows = new PairTable();
  /** The origin of each state: the state before and the action; or that a node starts with it. */
  private readonly before = new Ints();
  private readonly actions = new Ints();
  /** Another way in which the state came about, if there is one. */
  private readonly otherBefore = new Ints();
  private readonly otherActions = new Ints();
  private readonly origins = new Map<number, Origin>();
  private readonly words: number;

  constructor(readonly model: Model) {
    this.views = new Views(model);
    this.words = model.renamings.length * 2;
  }

  get stateCount(): number {
    return this.states.count;
  }

  get rowCount(): number {
    return this.rows.count;
  }

  /** The state in which a node begins. */
  firstState(id: number): number {
    return this.stateOf(new LocalNode(this.model, originOf(this.model, id), this.contents), NONE, NONE);
  }

  /** The row of a state and an action. */
  row(state: number, code: number): number {
    const known = this.rows.count;
    const row = this.rows.add(state, code);
    if (row === known) this.findOut(state, code);
    return row;
  }

  /**
   * Checks that the facts tell enough: rows whose state came about in two ways are found out once more in the
   * other way, and have to be the same. Throws if they are not; returns how many were compared.
   */
  audit(): number {
    let compared = 0;
    const rows = this.rows.count;
    for (let row = 0; row < rows; row += 1) {
      const [state, code] = this.rows.pair(row);
      const before = this.otherBefore.values[state]!;
      if (before === NONE || this.next.values[row] === BROKEN) continue;
      const local = this.nodeIn(before);
      local.act(actionOf(this.otherActions.values[state]!, this.messages));
      const sent = new Set(
        local.act(actionOf(code, this.messages)).map((message) => this.messageOf(message)),
      );
      const from = this.sendsFrom.values[row]!;
      const sends = this.sends.values.subarray(from, from + this.sendsCount.values[row]!);
      const isSame = sends.length === sent.size && sends.every((message) => sent.has(message));
      assert(
        isSame && this.stateOf(local, NONE, NONE) === this.next.values[row],
        'The facts tell too little',
        row,
      );
      compared += 1;
    }
    return compared;
  }

  private findOut(state: number, code: number): void {
    const row = this.next.length;
    const local = this.nodeIn(state);
    this.sendsFrom.push(this.sends.length);
    try {
      const sent = new Set(
        local.act(actionOf(code, this.messages)).map((message) => this.messageOf(message)),
      );
      for (const message of sent) this.sends.push(message);
      this.sendsCount.push(sent.size);
      this.next.push(this.stateOf(local, state, code));
    } catch (error) {
      if (!(error instanceof Violation || error instanceof RaftAssertionError)) throw error;
      this.problems.set(row, error.message);
      this.sendsCount.push(0);
      this.next.push(BROKEN);
    }
  }

  /** A node in a state, by living through what led there since it last started. */
  private nodeIn(state: number): LocalNode {
    const codes: number[] = [];
    let at = state;
    let origin = this.origins.get(at);
    while (origin === undefined) {
      codes.push(this.actions.values[at]!);
      at = this.before.values[at]!;
      origin = this.origins.get(at);
    }
    const local = new LocalNode(this.model, origin, this.contents);
    for (const code of codes.reverse()) local.act(actionOf(code, this.messages));
    return local;
  }

  private stateOf(local: LocalNode, before: number, code: number): number {
    const sums = new Int32Array(this.words);
    for (const fact of factsOf(local.host, local.witness)) this.addFingerprints(fact, sums);
    const known = this.states.count;
    const state = this.states.add(sums[0]!, sums[1]!);
    if (state < known) {
      this.noteOtherWay(state, before, code);
      return state;
    }
    for (const word of sums) this.stateSums.push(word);
    this.views.add(local);
    this.before.push(before);
    this.actions.push(code);
    this.otherBefore.push(NONE);
    this.otherActions.push(NONE);
    const isStart = before === NONE || actionOf(code, this.messages).kind === 'crash';
    if (isStart) this.origins.set(state, local.origin);
    return state;
  }

  private noteOtherWay(state: number, before: number, code: number): void {
    if (before === NONE || before === state) return;
    this.otherBefore.values[state] = before;
    this.otherActions.values[state] = code;
  }

  private messageOf(message: Message): number {
    const sums = new Int32Array(this.words);
    this.addFingerprints(messageFact(message), sums);
    const known = this.messageTable.count;
    const number = this.messageTable.add(sums[0]!, sums[1]!);
    if (number < known) return number;
    for (const word of sums) this.messageSums.push(word);
    this.messages.push(message);
    this.recipients.push(message.to);
    this.deadFrom.push(CONTRADICTED.has(message.kind) ? NEVER : message.term + 1);
    return number;
  }

  private addFingerprints(text: string, sums: Int32Array): void {
    for (const [at, names] of this.model.renamings.entries()) addFingerprint(text, names, sums, at * 2);
  }
}

const NONE = -1;
const NEVER = 2 ** 30;
/** Messages that are answered even in a later term, so that the sender learns of it. */
const CONTRADICTED: ReadonlySet<MessageKind> = new Set([
  'append',
  'heartbeat',
  'snapshot',
  'quiesce',
  'preVote',
  'vote',
]);
