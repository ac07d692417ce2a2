import type { MemberInfo } from '@althing/engine';
import type { Command } from '../between/protocol.js';

export interface HandoversOptions {
  readonly send: (command: Command) => void;
  /** A number for a command whose answer has it too. */
  readonly nextId: () => number;
}

/** Leaderships that this node gives to others. */
export class Handovers {
  private readonly options: HandoversOptions;
  /** Callbacks for when leaderships are handed over, by the number of the command. */
  private readonly underWay = new Map<number, () => void>();
  private steppingDown = false;

  constructor(options: HandoversOptions) {
    this.options = options;
  }

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
