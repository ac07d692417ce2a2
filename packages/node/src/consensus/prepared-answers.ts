import { ByteWriter } from 'raft-ts';
import { assert } from '../base/assert.js';
import { ANSWER_HEAD_BYTES, type PreparedAnswer } from '../between/protocol.js';

/**
 * Answers to calls of other nodes that came along with the proposals of a group. They leave as soon as those are committed:
 * until the engine side had been told, and had answered, would be two more ways from thread to thread.
 */
export class PreparedAnswers {
  /** In the order of the entries that they wait for. */
  private waiting: { readonly index: number; readonly answer: PreparedAnswer }[] = [];

  /** @param send takes an answer that is complete */
  constructor(private readonly send: (answer: PreparedAnswer) => void) {}

  /** @param firstIndex of the entry of the first proposal */
  add(firstIndex: number, answers: readonly (PreparedAnswer | null)[]): void {
    const last = this.waiting.at(-1);
    assert(last === undefined || last.index < firstIndex, 'proposals lie behind those before them');
    answers.forEach((answer, i) => {
      if (answer !== null) this.waiting.push({ index: firstIndex + i, answer });
    });
  }

  /** All entries up to an index are committed. */
  commit(upTo: number): void {
    const { waiting } = this;
    if (waiting[0] === undefined || waiting[0].index > upTo) return;
    this.waiting = waiting.filter(({ index }) => index > upTo);
    for (const { index, answer } of waiting)
      if (index <= upTo) this.send({ ...answer, payload: withIndex(answer.payload, index) });
  }

  /** Forgets the answers whose proposals are not committed: the engine side answers. */
  clear(): void {
    this.waiting = [];
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
