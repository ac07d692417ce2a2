import { ByteWriter } from 'raft-ts';
import { elementAt } from '../base/element.js';
import {
  ANSWER_HEAD_BYTES,
  type Command,
  type Event,
  type GroupId,
  type PreparedAnswer,
} from '../between/protocol.js';

/**
 * Answers to calls of other nodes that came along with proposals. They leave as soon as those are committed: until
 * the engine side has been told, and has answered, would be two more ways from thread to thread.
 *
 * It keeps count as the engine side does: what is committed are the next of the proposals of this epoch, and with its
 * end all that were not told as committed are lost, for the engine side to answer.
 */
export class PreparedAnswers {
  private readonly send: (answer: PreparedAnswer) => void;
  private readonly groups = new Map<GroupId, Standing>();

  /** @param send takes an answer that is complete */
  constructor(send: (answer: PreparedAnswer) => void) {
    this.send = send;
  }

  /** The engine side sent a command. To be called before it is obeyed. */
  commanded(command: Command): void {
    switch (command.kind) {
      case 'open':
      case 'installed':
      case 'not_installed':
        this.groups.set(command.group, new Standing(command.applied.index));
        return;
      case 'drop':
        this.groups.delete(command.group);
        return;
      case 'propose':
        this.groups.get(command.group)?.propose(command);
        return;
      default:
    }
  }

  /** The engine side is told an event. */
  told(event: Event): void {
    switch (event.kind) {
      case 'committed':
        this.groups.get(event.group)?.commit(event.count, event.last.index, this.send);
        return;
      case 'entries':
        this.groups.get(event.group)?.moveTo(event.last.index);
        return;
      case 'leading':
        this.groups.get(event.group)?.begin(event.epoch);
        return;
      case 'suspended':
      case 'following':
        this.groups.get(event.group)?.begin(0);
        return;
      default:
    }
  }
}

/** What the engine side was told of a group. */
class Standing {
  /** Of the last entry. */
  private index: number;
  /** In which it may propose; 0 for none. */
  private epoch = 0;
  /** Payloads that it proposed in the epoch, and those of which it was told that they are committed. */
  private proposed = 0;
  private committed = 0;
  /** What waits, by the number of the payload in the epoch: the first one is 1. */
  private waiting: { readonly payload: number; readonly answer: PreparedAnswer }[] = [];

  constructor(index: number) {
    this.index = index;
  }

  moveTo(index: number): void {
    this.index = index;
  }

  begin(epoch: number): void {
    this.epoch = epoch;
    this.proposed = 0;
    this.committed = 0;
    this.waiting = [];
  }

  propose({ epoch, payloads, answers }: Extract<Command, { kind: 'propose' }>): void {
    // What comes under another one is dropped.
    if (epoch !== this.epoch) return;
    if (answers !== undefined) {
      for (let i = 0; i < answers.length; i++) {
        const answer = elementAt(answers, i);
        if (answer !== null) this.waiting.push({ payload: this.proposed + i + 1, answer });
      }
    }
    this.proposed += payloads.length;
  }

  /** @param last index of the last entry that is committed; the payloads lie in a row behind what was told before */
  commit(count: number, last: number, send: (answer: PreparedAnswer) => void): void {
    const before = this.index - this.committed;
    this.committed += count;
    this.index = last;
    let sent = 0;
    for (const { payload, answer } of this.waiting) {
      if (payload > this.committed) break;
      send({ ...answer, payload: withIndex(answer.payload, before + payload) });
      sent += 1;
    }
    if (sent > 0) this.waiting = this.waiting.slice(sent);
  }
}

/** Most bytes of an index. */
const INDEX_BYTES_MAX = 8;

function withIndex(payload: Uint8Array, index: number): Uint8Array {
  const complete = new ByteWriter(payload.length + INDEX_BYTES_MAX);
  complete.raw(payload.subarray(0, ANSWER_HEAD_BYTES));
  complete.varint(index);
  complete.raw(payload.subarray(ANSWER_HEAD_BYTES));
  return complete.finish();
}
