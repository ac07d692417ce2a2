import { ByteWriter } from 'raft-ts';
import type { NodeId } from '../between/protocol.js';

/** Calls, or returns, that are to travel to a node in one frame. */
interface Batch {
  readonly to: NodeId;
  readonly ids: number[];
  readonly writer: ByteWriter;
}

/** A frame costs both nodes as much as some ten calls: short ones of one callback of the event loop travel together. */
export class NumberedBatches {
  private batches: Batch[] = [];

  /**
   * @param frameBytes a frame is closed once it holds so much
   * @param send takes a frame, and the numbers of what is in it
   */
  constructor(
    private readonly frameBytes: number,
    private readonly send: (to: NodeId, frame: Uint8Array, ids: readonly number[]) => void,
  ) {}

  get isEmpty(): boolean {
    return this.batches.length === 0;
  }

  add(to: NodeId, id: number, payload: Uint8Array): void {
    const { ids, writer } = this.batchFor(to);
    ids.push(id);
    writer.varint(id);
    writer.varint(payload.length);
    writer.raw(payload);
    if (writer.length < this.frameBytes) return;
    this.batches = this.batches.filter((batch) => batch.writer !== writer);
    this.send(to, writer.finish(), ids);
  }

  /** Sends what was added. */
  flush(): void {
    const { batches } = this;
    this.batches = [];
    for (const { to, ids, writer } of batches) this.send(to, writer.finish(), ids);
  }

  /** Drops everything that was added for a node. */
  forget(to: NodeId): void {
    this.batches = this.batches.filter((batch) => batch.to !== to);
  }

  private batchFor(to: NodeId): Batch {
    for (const batch of this.batches) if (batch.to === to) return batch;
    const batch: Batch = { to, ids: [], writer: new ByteWriter(1024) };
    this.batches.push(batch);
    return batch;
  }
}
