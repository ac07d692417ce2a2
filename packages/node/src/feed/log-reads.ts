/**
 * Parts of the logs of groups, from this node or, where its own log begins later, from another one that holds more. The call:
 *
 *   call   := group:varint after:varint upTo:varint
 *   answer := part                                see `log-part.ts`
 */
import { ByteReader, ByteWriter } from '@althing/engine';
import { decodePart, encodePart } from '../between/log-part.js';
import type { Consensus, Event, GroupId, LogPart, NodeId } from '../between/protocol.js';
import { CallKind, type Calls } from '../calls/calls.js';

export interface LogReadsOptions {
  readonly nodeId: NodeId;
  readonly line: Pick<Consensus, 'send'>;
  readonly calls: Pick<Calls, 'call' | 'serve'>;
  /** The voters of a group; none where it is not there. */
  readonly voters: (group: GroupId) => readonly NodeId[];
}

export class LogReads {
  /** Reads that the consensus side was asked for, by number. */
  private readonly waiting = new Map<number, (part: LogPart | null) => void>();
  /** The node that had what this one lacks the last time. */
  private holder: NodeId = 0;
  private nextId = 1;

  constructor(private readonly options: LogReadsOptions) {
    options.calls.serve(CallKind.ReadLog, async (_from, payload) => {
      const input = new ByteReader(payload);
      return encodePart(await this.readHere(input.varint(), input.varint(), input.varint()));
    });
  }

  /**
   * Reads what lies behind `after`, up to `upTo`, which is committed; null where it can't be had now. A part without `before` says that it
   * never can: most of the nodes that hold the group said that their logs begin later.
   */
  async read(group: GroupId, after: number, upTo: number): Promise<LogPart | null> {
    const own = await this.readHere(group, after, upTo);
    if (own === null || own.before !== null) return own;
    // Its end is not there yet.
    if (after >= own.oldest.index) return null;
    const voters = this.options.voters(group);
    let lacking = voters.includes(this.options.nodeId) ? 1 : 0;
    let { oldest } = own;
    for (const node of this.othersFirst(voters)) {
      const part = await this.readAt(node, group, after, upTo);
      if (part === null) continue;
      if (part.before !== null) {
        this.holder = node;
        return part;
      }
      // One that is not there yet may get it all.
      if (after >= part.oldest.index) continue;
      lacking += 1;
      if (part.oldest.index < oldest.index) oldest = part.oldest;
    }
    return lacking * 2 > voters.length ? { ...own, oldest } : null;
  }

  handle({ id, part }: Extract<Event, { readonly kind: 'log_read' }>): void {
    const resolve = this.waiting.get(id);
    this.waiting.delete(id);
    resolve?.(part);
  }

  private readHere(group: GroupId, after: number, upTo: number): Promise<LogPart | null> {
    const id = this.nextId++;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.options.line.send({ kind: 'read_log', group, id, after, upTo, bytes: PART_BYTES });
    });
  }

  /** Null where no answer came that says something. */
  private async readAt(node: NodeId, group: GroupId, after: number, upTo: number): Promise<LogPart | null> {
    const out = new ByteWriter();
    for (const number of [group, after, upTo]) out.varint(number);
    try {
      return decodePart(await this.options.calls.call(node, CallKind.ReadLog, out.take(), WAIT_MS));
    } catch {
      return null;
    }
  }

  private othersFirst(voters: readonly NodeId[]): NodeId[] {
    const others = voters.filter((node) => node !== this.options.nodeId && node !== this.holder);
    return voters.includes(this.holder) ? [this.holder, ...others] : others;
  }
}

/** Bytes that are read at once: they are made into lines in some milliseconds. */
const PART_BYTES = 128 * 1024;

/** Time for the answer of another node. */
const WAIT_MS = 2000;
