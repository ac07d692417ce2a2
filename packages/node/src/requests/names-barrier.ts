import { ByteReader, ByteWriter } from 'raft-ts';
import type { NodeId } from '../between/protocol.js';
import { CallKind, type Calls } from '../calls/calls.js';
import type { GroupSession } from '../groups/group-session.js';

export interface NamesBarrierOptions {
  readonly calls: Pick<Calls, 'call' | 'serve'>;
  /** The other nodes that can be reached. */
  readonly others: () => readonly NodeId[];
  readonly rootSession: () => Pick<GroupSession, 'whenApplied'>;
  /** Calls back after some milliseconds, unless it is called off by the function that it returns. */
  readonly delay: (ms: number, work: () => void) => () => void;
}

/** How long a change of names waits for a node that lags behind, in milliseconds. */
const WAIT_MS = 500;

/**
 * Holds the answer to a change that lets the name of a collection mean something else until all nodes that can be
 * reached know of it. Who was told that a collection is gone would else find it at a node that lags behind, write
 * there, and be told that it was done: names are looked up in each node's own copy of the root state.
 */
export class NamesBarrier {
  private readonly options: NamesBarrierOptions;

  constructor(options: NamesBarrierOptions) {
    this.options = options;
    options.calls.serve(CallKind.RootApplied, (_from, payload) => this.untilApplied(payload));
  }

  /**
   * Calls back once the others hold the root state up to a log position; those that do not answer in time are not
   * waited for.
   */
  await(index: number, done: () => void): void {
    const { calls, others } = this.options;
    const payload = positionOf(index);
    const asked = others().map((node) => calls.call(node, CallKind.RootApplied, payload, WAIT_MS));
    if (asked.length === 0) done();
    else void Promise.allSettled(asked).then(done);
  }

  private untilApplied(payload: Uint8Array): Promise<Uint8Array> {
    const { rootSession, delay } = this.options;
    const index = new ByteReader(payload).varint();
    return new Promise((resolve, reject) => {
      const callOff = delay(WAIT_MS, () => reject(new Error('this node lags behind')));
      rootSession().whenApplied(index, () => {
        callOff();
        resolve(new Uint8Array(0));
      });
    });
  }
}

function positionOf(index: number): Uint8Array {
  const writer = new ByteWriter(8);
  writer.varint(index);
  return writer.finish();
}
