/**
 * Everything that a node ever promised, knew and was, over all of its lives: the invariants speak of it, and
 * no node remembers it. It is part of the state that is explored. Names of invariants are those of
 * `testing/checker.ts`.
 */
import type { Core } from '../core.js';
import { isRemoved, isVoter } from '../membership.js';
import type { Message } from '../messages.js';
import { RaftNode } from '../node.js';
import { Violation } from '../testing/checker.js';
import type { Host } from '../testing/host.js';
import type { TraceEvent } from '../trace.js';
import type { Entry, Index, NodeId } from '../types.js';

export class Witness {
  lives = 1;
  /** Terms that it led, one bit each. */
  led = 0;
  /** Candidates that it told of its vote, by term. */
  readonly votes: NodeId[] = [];
  /** Chain hashes of the entries that it ever knew as committed, by index. */
  readonly committed: number[] = [];
  /** The highest index that it knew as committed when it led a term, by term. */
  readonly committedIn: Index[] = [];

  clone(): Witness {
    const copy = new Witness();
    copy.lives = this.lives;
    copy.led = this.led;
    copy.votes.push(...this.votes);
    copy.committed.push(...this.committed);
    copy.committedIn.push(...this.committedIn);
    return copy;
  }

  /** Index of the last entry that it ever knew as committed. */
  get commit(): Index {
    return Math.max(this.committed.length - 1, 0);
  }

  /** See `facts.ts`. */
  facts(): string[] {
    const facts = [`led ${this.led}`, `committed ${this.commit} ${this.committed[this.commit] ?? 0}`];
    for (const [term, node] of this.votes.entries()) facts.push(`voted ${term} @${node}`);
    for (const [term, index] of this.committedIn.entries()) facts.push(`committed in ${term} ${index}`);
    return facts;
  }

  onTrace(host: Host, event: TraceEvent): void {
    if (event.type === 'vote' && event.refused === null && !event.pre) {
      const { membership } = host.node;
      const isOver = isRemoved(membership, event.candidate) || isRemoved(membership, event.node);
      check(!isOver, 'I11', `${event.node} votes for ${event.candidate}, and one of them was removed`);
    }
    if (event.type !== 'role' || event.role !== 'leader') return;
    const bit = 1 << event.term;
    check((this.led & bit) === 0, 'I1', `${event.node} leads twice in term ${event.term}`);
    this.led |= bit;
  }

  /**
   * A message leaves: what it promises must be on the disk, and must not contradict what was promised before.
   */
  onSend(host: Host, message: Message): void {
    if (message.kind === 'vote') this.onVote(host, message.term, host.id);
    else if (message.kind === 'voteResponse' && message.granted) {
      this.onVote(host, message.term, message.to);
    } else if (message.kind === 'appendResponse' && !message.rejected && message.term === host.node.term) {
      checkAcknowledgement(host, message.index);
    }
  }

  /** An entry is to be applied: it must be on the disk. */
  onCommitted({ id, disk }: Host, { index, hash }: Entry): void {
    const { log } = disk;
    const isDurable = log.lastIndex() >= index && (index < log.firstIndex() || log.hash(index) === hash);
    check(isDurable, 'I6', `${id} is to apply ${index} before it is durable`);
  }

  /**
   * Something happened: what is known as committed stays so, and a leader can commit what it found in its
   * log.
   */
  onState(core: Core): void {
    const { log, id, term } = core;
    const known = this.committed[log.commit];
    const isSame = known === undefined || log.commit < log.first - 1 || known === log.hashAt(log.commit);
    check(isSame, 'I4', `${id} knew another entry as committed at ${log.commit}`);
    for (let index = this.committed.length; index <= log.commit; index += 1) {
      this.committed.push(index < log.first - 1 ? 0 : log.hashAt(index));
    }
    if (core.role !== 'leader') return;
    check(isVoter(core.tracker.membership, id), 'I11', `${id} leads without being a voter`);
    check(log.lastTerm === term, 'I3', `${id} leads in term ${term} without an entry of its own`);
    put(this.committedIn, term, log.commit);
  }

  private onVote({ id, disk }: Host, term: number, candidate: NodeId): void {
    const { hardState } = disk;
    const isDurable = hardState.term > term || (hardState.term === term && hardState.vote === candidate);
    check(isDurable, 'I6', `${id} promises its vote of term ${term} before it is durable`);
    const given = this.votes[term] || candidate;
    check(given === candidate, 'I1', `${id} votes for ${given} and for ${candidate} in term ${term}`);
    put(this.votes, term, candidate);
  }
}

/** Throws `Violation` unless `holds`. */
export function check(holds: boolean, invariant: string, message: string): void {
  if (!holds) throw new Violation(invariant, message);
}

function checkAcknowledgement({ id, disk, node }: Host, index: Index): void {
  const onDisk = disk.log;
  const { log } = RaftNode.coreOf(node);
  check(onDisk.lastIndex() >= index, 'I6', `${id} acknowledges ${index} before it is durable`);
  check(log.last >= index, 'I6', `${id} acknowledges ${index}, which it has cut off`);
  if (index < onDisk.firstIndex()) return;
  const isSame = onDisk.hash(index) === log.hashAt(index);
  check(isSame, 'I6', `${id} acknowledges ${index} while its disk holds another entry there`);
}

function put(list: number[], at: number, value: number): void {
  while (list.length <= at) list.push(0);
  list[at] = value;
}
