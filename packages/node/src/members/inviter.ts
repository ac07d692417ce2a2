import type { Invitation } from '@althing/engine';
import type { Clock } from '../base/clock.js';
import type { Command } from '../between/protocol.js';

export interface InviterOptions {
  readonly send: (command: Command) => void;
  readonly nextId: () => number;
  readonly clock: Pick<Clock, 'now'>;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Called when it turns out why a node does not come. */
  readonly failed: (invitation: Invitation, problem: string) => void;
}

interface Attempt {
  readonly invitation: Invitation;
  /** When the next question is due. */
  due: number;
  /** Number of questions so far. */
  count: number;
  /** The question that waits for an answer; 0 for none. */
  asked: number;
  problem: string | null;
}

/** Pause between the first questions, how many these are, and the longest pause, in milliseconds. */
const FIRST_PAUSE_MS = 1000;
const SOON_COUNT = 10;
const LONGEST_PAUSE_MS = 120_000;

/**
 * Asks nodes that were called for to come, again and again until they are there or called off: every second at
 * first, since a node may be about to be started, and then with growing pauses.
 */
export class Inviter {
  private readonly attempts = new Map<number, Attempt>();

  constructor(private readonly options: InviterOptions) {}

  /**
   * To be called now and then.
   *
   * @param invitations those that are open; none on a node that does not lead the root group
   */
  work(invitations: ReadonlyMap<number, Invitation>): void {
    const now = this.options.clock.now();
    for (const [number, { invitation }] of this.attempts) {
      if (invitations.get(number) !== invitation) this.attempts.delete(number);
    }
    for (const invitation of invitations.values()) {
      let attempt = this.attempts.get(invitation.number);
      if (attempt === undefined) {
        attempt = { invitation, due: now, count: 0, asked: 0, problem: null };
        this.attempts.set(invitation.number, attempt);
      }
      if (attempt.asked === 0 && attempt.due <= now) this.ask(attempt);
    }
  }

  /**
   * Takes the answer to a question; one of somebody else is left alone.
   *
   * @param isMember whether the node there is a member already: it came by another way
   * @returns the invitation that has done its work
   */
  answered(id: number, problem: string | null, isMember = false): Invitation | null {
    const attempt = [...this.attempts.values()].find(({ asked }) => asked === id);
    if (attempt === undefined) return null;
    attempt.asked = 0;
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.max(0, attempt.count - SOON_COUNT), LONGEST_PAUSE_MS);
    attempt.due = this.options.clock.now() + pause * (1 + this.options.random() / 2);
    if (isMember) return attempt.invitation;
    if (problem !== null && problem !== attempt.problem) this.options.failed(attempt.invitation, problem);
    attempt.problem = problem;
    return null;
  }

  private ask(attempt: Attempt): void {
    const { number, host, port, secret = null } = attempt.invitation;
    attempt.asked = this.options.nextId();
    attempt.count += 1;
    this.options.send({ kind: 'invite', id: attempt.asked, number, host, port, secret });
  }
}
