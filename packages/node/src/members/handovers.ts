import type { MemberInfo } from '@althing/engine';
import type { Clock } from '../base/clock.js';
import type { Command, NodeId } from '../between/protocol.js';
import { CallKind, type Calls } from '../calls/calls.js';

export interface HandoversOptions {
  readonly send: (command: Command) => void;
  /** A number for a command whose answer has it too; no other command has the same. */
  readonly nextId: () => number;
  readonly calls: Pick<Calls, 'call'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Time for a member to give away what it leads, in milliseconds. */
const HANDOVER_MS = 10_000;

/**
 * Time after which a node that goes, and leads all the same, is asked once more to give that away, in
 * milliseconds.
 */
const ASK_AGAIN_MS = 3000;

/** Leaderships that this node gives to others, and those that members which leave are asked to give away. */
export class Handovers {
  /** Callbacks for when leaderships are handed over, by the number of the command. */
  private readonly underWay = new Map<number, () => void>();
  private steppingDown = false;
  /** When members that leave were last asked to give away what they lead, whether they heard it or not. */
  private readonly askedAt = new Map<NodeId, number>();
  private readonly asking = new Set<NodeId>();

  constructor(private readonly options: HandoversOptions) {}

  /** Gives what this node leads to another member, or to whichever is furthest (null). */
  some(to: MemberInfo | null): void {
    const { send, nextId } = this.options;
    send({ kind: 'hand_over', group: null, id: nextId(), to: to?.nodeId ?? 0, stay: true });
  }

  /** Gives all leaderships to other members; resolves when that is done, or can't be. */
  all(): Promise<void> {
    return new Promise((resolve) => this.giveAll(resolve));
  }

  /** Gives all away, unless that is under way. */
  stepDown(done: () => void): void {
    if (this.steppingDown) return;
    this.steppingDown = true;
    this.giveAll(() => {
      this.steppingDown = false;
      done();
    });
  }

  /** Asks a member to give away what it leads, unless that is under way. */
  ask(node: NodeId, answered: () => void): void {
    if (this.asking.has(node)) return;
    this.asking.add(node);
    const done = (): void => {
      this.asking.delete(node);
      this.askedAt.set(node, this.options.clock.now());
      answered();
    };
    // A node that can't be asked is removed all the same; its groups elect other leaders.
    this.options.calls.call(node, CallKind.Handover, NOTHING, HANDOVER_MS).then(done, done);
  }

  wasAsked(node: NodeId): boolean {
    return this.askedAt.has(node);
  }

  wasJustAsked(node: NodeId): boolean {
    const asked = this.askedAt.get(node) ?? Number.NEGATIVE_INFINITY;
    return this.options.clock.now() - asked < ASK_AGAIN_MS;
  }

  /** A member came or went: what it was asked before counts no more. */
  forgetAsked(node: NodeId): void {
    this.askedAt.delete(node);
  }

  /** The answer to a command has come. */
  done(id: number): void {
    const done = this.underWay.get(id);
    this.underWay.delete(id);
    done?.();
  }

  private giveAll(done: () => void): void {
    const { send, nextId } = this.options;
    const id = nextId();
    this.underWay.set(id, done);
    send({ kind: 'hand_over', group: null, id, to: 0, stay: false });
  }
}

const NOTHING = new Uint8Array(0);
