/**
 * All states of a small cluster, breadth first: the nodes, the messages under way, and how much of everything
 * may still happen. A state that was seen, also with the nodes renamed, is not followed again.
 *
 * The network keeps a message until it arrives: that it is lost is the same as that it never arrives. Only if
 * there are more messages than the network holds, some are lost, in every choice. A message that changes
 * nothing where it arrives is not delivered: the same follows when it is still under way. One that can not
 * change anything any more is taken away. A node that dies is started at once: while it is down nothing
 * happens there, and nothing need happen after.
 */
import { assert } from '../assert.js';
import { type ActionKind, codeOf } from './actions.js';
import { Automaton, BROKEN } from './automaton.js';
import type { Model } from './bounds.js';
import { Ints, mix32, PairTable } from './fingerprints.js';
import { brokenInvariant } from './invariants.js';
import { COMMIT, DISK_TERM, HAS_READY, LEADER, ROLE, TERM, WRITES } from './views.js';

/** One step of a path: what happens to a node. */
export interface Step {
  readonly node: number;
  readonly code: number;
}

export interface Finding {
  readonly problem: string;
  /** A shortest path from the beginning to the violation. */
  readonly steps: readonly Step[];
}

export interface Progress {
  readonly states: number;
  readonly depth: number;
  /** States that are yet to be followed. */
  readonly open: number;
  readonly nodeStates: number;
  readonly rows: number;
}

export interface Outcome extends Progress {
  readonly complete: boolean;
  readonly finding: Finding | null;
}

/** The budgets of an exploration, counted down; places of four bits in a word. */
const ENTRIES = 0;
const CRASHES = 4;
const REPEATS = 8;
const BEATS = 12;
const READS = 16;
const TRANSFERS = 20;
const CHANGES = 24;
const SLEEPS = 28;

export class Explorer {
  readonly automaton: Automaton;
  private readonly seen = new PairTable();
  /** The state before each state, and the step that led on. */
  private readonly before = new Ints();
  private readonly steps = new Ints();
  /**
   * States in full: what is left to happen, the number of messages, the states of the nodes, the messages
   * ascending.
   */
  private frontier = new Ints();
  private coming = new Ints();
  private open = 0;
  private depth = 0;
  private finding: Finding | null = null;

  /** The state that is being followed. */
  private current = 0;
  private left = 0;
  private readonly nodes: Int32Array;
  private messages: Int32Array = new Int32Array(0);
  /** The state that comes after it. */
  private readonly nextNodes: Int32Array;
  private readonly nextMessages: Int32Array;
  private nextCount = 0;
  private high = 0;
  private low = 0;

  constructor(private readonly model: Model) {
    this.automaton = new Automaton(model);
    this.nodes = Int32Array.from(model.ids, (id) => this.automaton.firstState(id));
    this.nextNodes = this.nodes.slice();
    this.nextMessages = new Int32Array(model.bounds.messages + SENDS_MAX);
    this.visit(leftOf(model), 0);
  }

  /**
   * Explores until everything was seen, a violation was found, or `isOver` says so, which is asked now and
   * then.
   */
  run(isOver: (progress: Progress) => boolean): Outcome {
    for (;;) {
      const layer = this.coming;
      this.coming = this.frontier;
      this.coming.clear();
      this.frontier = layer;
      if (layer.length === 0) return { ...this.progress(), complete: true, finding: null };
      this.current = this.seen.count - this.open;
      for (let at = 0; at < layer.length; this.current += 1) {
        if (this.current % ASK_EVERY === 0 && isOver(this.progress())) {
          return { ...this.progress(), complete: false, finding: null };
        }
        at = this.load(layer.values, at);
        this.open -= 1;
        this.follow();
        if (this.finding !== null) return { ...this.progress(), complete: false, finding: this.finding };
      }
      this.depth += 1;
    }
  }

  private progress(): Progress {
    return {
      states: this.seen.count,
      depth: this.depth,
      open: this.open,
      nodeStates: this.automaton.stateCount,
      rows: this.automaton.rowCount,
    };
  }

  private load(values: Int32Array, at: number): number {
    const { length } = this.nodes;
    this.left = values[at]!;
    const end = at + 2 + length + values[at + 1]!;
    for (let node = 0; node < length; node += 1) this.nodes[node] = values[at + 2 + node]!;
    this.messages = values.subarray(at + 2 + length, end);
    return end;
  }

  private follow(): void {
    for (let node = 0; node < this.nodes.length; node += 1) this.followNode(node);
    for (const message of this.messages) this.deliver(message);
  }

  private followNode(node: number): void {
    const { values, size } = this.automaton.views;
    const at = this.nodes[node]! * size;
    const isLeader = values[at + ROLE] === LEADER;
    const writes = values[at + WRITES]!;
    const mayCampaign = !isLeader && values[at + TERM]! < this.model.termMax;
    if (values[at + HAS_READY] === 1) this.act(node, codeOf('fetch'), 0);
    for (let count = 1; count <= writes; count += 1) this.act(node, codeOf('persist', count), 0);
    if (mayCampaign) this.act(node, codeOf('campaign'), 0);
    if (isLeader) this.followLeader(node);
    this.spend(node, 'read', READS, this.known());
    for (let survivors = 0; survivors <= writes; survivors += 1)
      this.spend(node, 'crash', CRASHES, survivors);
  }

  private followLeader(node: number): void {
    const { entries, changes } = this.model.bounds;
    this.spend(node, 'propose', ENTRIES, entries - this.countLeft(ENTRIES));
    this.spend(node, 'change', CHANGES, changes.length - this.countLeft(CHANGES));
    this.spend(node, 'beat', BEATS, 0);
    const others = this.model.ids.filter((id) => id !== node + 1);
    for (const id of others) this.spend(node, 'transfer', TRANSFERS, id);
    for (const id of [0, ...others]) this.spend(node, 'sleep', SLEEPS, id);
    if (this.model.bounds.sleeps > 0) for (const id of others) this.act(node, codeOf('back', id), 0);
  }

  /** The highest index that anybody ever knew as committed. */
  private known(): number {
    const { values, size } = this.automaton.views;
    let known = 0;
    for (const state of this.nodes) known = Math.max(known, values[state * size + COMMIT]!);
    return known;
  }

  private countLeft(place: number): number {
    return (this.left >>> place) & COUNT;
  }

  private spend(node: number, kind: ActionKind, place: number, argument: number): void {
    if (this.countLeft(place) > 0) this.act(node, codeOf(kind, argument), 1 << place);
  }

  private act(node: number, code: number, cost: number): void {
    const row = this.rowOf(node, code);
    if (row !== NOTHING) this.goOn(node, row, NO_MESSAGE, code, cost);
  }

  private deliver(message: number): void {
    const { automaton } = this;
    const { kind, to } = automaton.messages[message]!;
    const node = to - 1;
    const { values, size } = automaton.views;
    // It would campaign in a term beyond.
    if (kind === 'timeoutNow' && values[this.nodes[node]! * size + TERM]! >= this.model.termMax) return;
    const code = codeOf('deliver', message);
    const row = this.rowOf(node, code);
    if (row === NOTHING) return;
    this.goOn(node, row, message, code, 0);
    if (this.countLeft(REPEATS) > 0) {
      this.goOn(node, row, NO_MESSAGE, codeOf('repeat', message), 1 << REPEATS);
    }
  }

  /** The row of what a node does; {@link NOTHING} if it leads nowhere. */
  private rowOf(node: number, code: number): number {
    const { automaton } = this;
    const state = this.nodes[node]!;
    const row = automaton.row(state, code);
    const next = automaton.next.values[row]!;
    if (next === BROKEN) {
      this.found(automaton.problems.get(row)!, this.current, { node: node + 1, code });
      return NOTHING;
    }
    return next === state && automaton.sendsCount.values[row] === 0 ? NOTHING : row;
  }

  /** The state after a row was followed, without the message that arrived. */
  private goOn(node: number, row: number, arrived: number, code: number, cost: number): void {
    const { next, sends, sendsFrom, sendsCount } = this.automaton;
    this.nextNodes.set(this.nodes);
    this.nextNodes[node] = next.values[row]!;
    this.takeMessages(arrived, node + 1);
    const from = sendsFrom.values[row]!;
    for (let at = from; at < from + sendsCount.values[row]!; at += 1) this.insert(sends.values[at]!);
    this.lose(this.nextCount - this.model.bounds.messages, 0, this.left - cost, code * NODES + node + 1);
  }

  /** Loses messages, in every choice of those from a place on, and comes to the states that are left. */
  private lose(count: number, first: number, left: number, step: number): void {
    if (count <= 0) {
      this.visit(left, step);
      return;
    }
    const messages = this.nextMessages;
    for (let at = first; at <= this.nextCount - count; at += 1) {
      const lost = messages[at]!;
      messages.copyWithin(at, at + 1, this.nextCount);
      this.nextCount -= 1;
      this.lose(count - 1, at, left, step);
      messages.copyWithin(at + 1, at, this.nextCount);
      messages[at] = lost;
      this.nextCount += 1;
    }
  }

  /** The messages under way, but for one, and for those that do nothing any more at a node that went on. */
  private takeMessages(without: number, changed: number): void {
    const { recipients } = this.automaton;
    let count = 0;
    for (const message of this.messages) {
      if (message === without) continue;
      if (recipients.values[message] === changed && this.isDead(message)) continue;
      this.nextMessages[count] = message;
      count += 1;
    }
    this.nextCount = count;
  }

  /** True if a message speaks of a term that is over where it goes to, and will not even be answered. */
  private isDead(message: number): boolean {
    const { recipients, deadFrom, views } = this.automaton;
    const state = this.nextNodes[recipients.values[message]! - 1]!;
    return views.values[state * views.size + DISK_TERM]! >= deadFrom.values[message]!;
  }

  /**
   * Adds a message to those under way, which are a set: of two equal ones it does not matter which arrives.
   */
  private insert(message: number): void {
    if (this.isDead(message)) return;
    const messages = this.nextMessages;
    let at = this.nextCount;
    while (at > 0 && messages[at - 1]! > message) at -= 1;
    if (at > 0 && messages[at - 1] === message) return;
    messages.copyWithin(at + 1, at, this.nextCount);
    messages[at] = message;
    this.nextCount += 1;
    assert(this.nextCount < messages.length, 'Too many messages in one step', this.nextCount);
  }

  /** Comes to the next state; if it is new, it is checked, and followed later. */
  private visit(left: number, step: number): void {
    this.fingerprint(left);
    const known = this.seen.count;
    if (this.seen.add(this.high, this.low) < known) return;
    this.before.push(this.current);
    this.steps.push(step);
    const problem = brokenInvariant(this.automaton.views, this.nextNodes, this.model.quorum);
    if (problem !== null) this.found(problem, known, null);
    this.coming.push(left);
    this.coming.push(this.nextCount);
    for (const state of this.nextNodes) this.coming.push(state);
    for (let at = 0; at < this.nextCount; at += 1) this.coming.push(this.nextMessages[at]!);
    this.open += 1;
  }

  /** The lowest of the fingerprints that the next state has under all renamings. */
  private fingerprint(left: number): void {
    const states = this.automaton.stateSums.values;
    const messages = this.automaton.messageSums.values;
    const words = this.model.renamings.length * 2;
    let lowestHigh = 0;
    let lowestLow = 0;
    for (let word = 0; word < words; word += 2) {
      let high = left;
      let low = left;
      for (const state of this.nextNodes) {
        high = (high + states[state * words + word]!) | 0;
        low = (low + states[state * words + word + 1]!) | 0;
      }
      for (let at = 0; at < this.nextCount; at += 1) {
        const place = this.nextMessages[at]! * words + word;
        high = (high + messages[place]!) | 0;
        low = (low + messages[place + 1]!) | 0;
      }
      const isLower = high < lowestHigh || (high === lowestHigh && low < lowestLow);
      if (word > 0 && !isLower) continue;
      lowestHigh = high;
      lowestLow = low;
    }
    this.high = mix32(lowestHigh);
    this.low = mix32(lowestLow);
  }

  private found(problem: string, state: number, last: Step | null): void {
    if (this.finding !== null) return;
    const steps: Step[] = last === null ? [] : [last];
    for (let at = state; at > 0; at = this.before.values[at]!) {
      const step = this.steps.values[at]!;
      steps.push({ node: step % NODES, code: Math.floor(step / NODES) });
    }
    this.finding = { problem, steps: steps.reverse() };
  }
}

function leftOf({ bounds, changes }: Model): number {
  const { entries, crashes, repeats, beats, reads, transfers, sleeps } = bounds;
  return (
    (entries << ENTRIES) |
    (crashes << CRASHES) |
    (repeats << REPEATS) |
    (beats << BEATS) |
    (reads << READS) |
    (transfers << TRANSFERS) |
    (changes.length << CHANGES) |
    (sleeps << SLEEPS)
  );
}

const COUNT = 15;
const NODES = 8;
const NO_MESSAGE = -1;
const NOTHING = -1;
/** States that are followed between two looks at the clock. */
const ASK_EVERY = 1024;
/** Room for what one step may send. */
const SENDS_MAX = 256;
