/**
 * Snapshots of groups on their way from one node to another, in calls between the engine sides:
 *
 *   call   := 1 group:varint transfer:u48 message           begin, or go on with a transfer that broke off
 *           | 2 transfer:u48 sequence:varint checksum:u32 bytes       a chunk, as the storage describes it
 *   answer := next:varint                                   the chunk that is wanted next
 *
 * `message` is the one of Raft that the snapshot goes with. When the last chunk has come the consensus side
 * is asked whether the snapshot is still wanted; if so, it becomes the state of the group in one step.
 */
import { randomBytes } from 'node:crypto';
import { ByteReader, ByteWriter } from '@althing/engine';
import {
  DiskFullError,
  GroupBusyError,
  type SnapshotChunk,
  type SnapshotInstaller,
  type SnapshotSource,
} from '@althing/storage';
import { decodeMessage, encodeMessage } from 'raft-ts';
import { isDamage } from '../base/failures.js';
import { decodeMembership } from '../between/membership.js';
import type { Applied, Consensus, GroupId, NodeId } from '../between/protocol.js';
import { decodeApplied } from '../groups/applied.js';
import type { GroupSession, SnapshotEvents } from '../groups/group-session.js';
import type { State } from '../groups/state.js';
import { CallKind, type Calls } from '../members/calls.js';
import type { EngineMetrics } from '../telemetry/engine-metrics.js';

export interface SnapshotsOptions {
  readonly state: State;
  readonly consensus: Pick<Consensus, 'send'>;
  readonly calls: Pick<Calls, 'call' | 'serve'>;
  /** Sees to it that something of the group is stored. */
  readonly ensureStored: (session: GroupSession) => Promise<void>;
  /** Makes the state on disk that of a session which is paused. */
  readonly replace: (session: GroupSession, applied: Applied) => Promise<void>;
  readonly session: (group: GroupId) => GroupSession | undefined;
  /** Calls back after some milliseconds, unless it is called off by the function that it returns. */
  readonly delay: (ms: number, callback: () => void) => () => void;
  /** Called when the state had no room for what came. */
  readonly onDiskFull: () => void;
  /** Called when the state that should be sent is damaged here. */
  readonly onDamage: (error: unknown) => void;
  /** Called with what ends the node: a snapshot that can't be made the state. */
  readonly onFailure: (error: unknown) => void;
  readonly onInstalled: (session: GroupSession, index: number) => void;
  /** Counts what happens. */
  readonly figures?: Pick<EngineMetrics, 'snapshot' | 'snapshotBytes' | 'checked'>;
}

const BEGIN = 1;
const CHUNK = 2;

/** Snapshots that are sent at once. */
const SENDING_MAX = 2;

/** Chunks of one transfer that are under way at once. */
const WINDOW = 4;

/** Attempts to go on with a transfer before it counts as failed. */
const ATTEMPTS_MAX = 5;
const ATTEMPT_PAUSE_MS = 200;

const CALL_TIMEOUT_MS = 10_000;

/** A transfer of which nothing comes for so long is given up, so that the group can be checkpointed again. */
const IDLE_MAX_MS = 30_000;

interface Receiving {
  readonly transfer: number;
  readonly group: GroupId;
  readonly message: Uint8Array;
  readonly installer: SnapshotInstaller;
  cancelTimeout: () => void;
}

/** A snapshot on its way to another node. */
interface Outgoing {
  /** Whether another one took its place: it has to end. */
  isReplaced: boolean;
}

function assertWanted({ isReplaced }: Outgoing): void {
  if (isReplaced) throw new Error('another snapshot took the place of this one');
}

export class Snapshots implements SnapshotEvents {
  private readonly options: SnapshotsOptions;
  private readonly receiving = new Map<GroupId, Receiving>();
  /** The groups that a snapshot comes in of, until it is given up or is the state. */
  private readonly busy = new Set<GroupId>();
  private readonly waiting: (() => void)[] = [];
  private sending = 0;
  /** Snapshots on their way to other nodes, by group and node. */
  private readonly outgoing = new Map<string, Outgoing>();

  constructor(options: SnapshotsOptions) {
    this.options = options;
    options.calls.serve(CallKind.Snapshot, (_from, payload) => this.take(payload));
  }

  /** Whether a snapshot of the group is coming in or becomes the state: no checkpoint can be made then. */
  isReceiving(group: GroupId): boolean {
    return this.busy.has(group);
  }

  /**
   * Sends a snapshot. One of the same group to the same node that is still on its way ends, without a word to
   * Raft: it was asked for in an earlier term, and two that begin in turns would end each other for ever.
   */
  send(session: GroupSession, to: NodeId, message: Uint8Array): void {
    const name = `${session.id} ${to}`;
    const before = this.outgoing.get(name);
    if (before !== undefined) before.isReplaced = true;
    const outgoing: Outgoing = { isReplaced: false };
    this.outgoing.set(name, outgoing);
    const report = (arrived: boolean): void => {
      if (outgoing.isReplaced) return;
      this.outgoing.delete(name);
      this.report(session, to, arrived);
    };
    this.sendInTurn(session, to, message, outgoing).then(
      () => report(true),
      (error: unknown) => {
        report(false);
        // Trying again would not help, and who needs the snapshot must get it from somebody else.
        if (isDamage(error)) this.options.onDamage(error);
      },
    );
  }

  install(session: GroupSession, index: number): void {
    this.makeState(session, index).then(
      () => this.options.onInstalled(session, index),
      (error: unknown) => this.options.onFailure(error),
    );
  }

  refused(session: GroupSession): void {
    this.giveUp(session.id).catch(() => {});
  }

  /** Gives up what is coming in of a group. */
  async giveUp(group: GroupId): Promise<void> {
    const receiving = this.receiving.get(group);
    if (receiving === undefined) return;
    this.receiving.delete(group);
    receiving.cancelTimeout();
    this.options.figures?.snapshot('received', 'failed');
    try {
      await receiving.installer.abort();
    } finally {
      this.busy.delete(group);
    }
  }

  private report(session: GroupSession, to: NodeId, arrived: boolean): void {
    this.options.figures?.snapshot('sent', arrived ? 'ok' : 'failed');
    this.options.consensus.send({ kind: 'snapshot_sent', group: session.id, to, arrived });
  }

  private async sendInTurn(
    session: GroupSession,
    to: NodeId,
    message: Uint8Array,
    outgoing: Outgoing,
  ): Promise<void> {
    if (this.sending >= SENDING_MAX) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.sending += 1;
    try {
      assertWanted(outgoing);
      await this.options.ensureStored(session);
      const source = await this.options.state.store.openSnapshot(session.id);
      if (source === undefined) throw new Error(`nothing of group ${session.id} is stored`);
      try {
        await this.transfer(session.id, to, messageFor(source, message), source, outgoing);
      } finally {
        await source.close();
      }
    } finally {
      this.sending -= 1;
      this.waiting.shift()?.();
    }
  }

  private async transfer(
    group: GroupId,
    to: NodeId,
    message: Uint8Array,
    source: SnapshotSource,
    outgoing: Outgoing,
  ): Promise<void> {
    const transfer = randomBytes(6).readUIntBE(0, 6);
    for (let attempt = 1; ; attempt++) {
      assertWanted(outgoing);
      try {
        const next = await this.ask(to, encodeBegin(group, transfer, message));
        await this.sendChunks(to, transfer, source.chunks(next), outgoing);
        return;
      } catch (error) {
        if (attempt === ATTEMPTS_MAX || outgoing.isReplaced || isDamage(error)) throw error;
        await new Promise<void>((resolve) => this.options.delay(ATTEMPT_PAUSE_MS * attempt, resolve));
      }
    }
  }

  private async sendChunks(
    to: NodeId,
    transfer: number,
    chunks: AsyncIterable<SnapshotChunk>,
    outgoing: Outgoing,
  ): Promise<void> {
    const underWay: Promise<number>[] = [];
    for await (const chunk of chunks) {
      assertWanted(outgoing);
      const answer = this.ask(to, encodeChunk(transfer, chunk));
      this.options.figures?.snapshotBytes('sent', chunk.bytes.length);
      // A failure is noticed below; until then it is nobody's.
      answer.catch(() => {});
      underWay.push(answer);
      if (underWay.length >= WINDOW) await underWay.shift();
    }
    await Promise.all(underWay);
  }

  private async ask(to: NodeId, call: Uint8Array): Promise<number> {
    const answer = await this.options.calls.call(to, CallKind.Snapshot, call, CALL_TIMEOUT_MS);
    return new ByteReader(answer).varint();
  }

  private async take(payload: Uint8Array): Promise<Uint8Array> {
    const input = new ByteReader(payload);
    const next = input.u8() === BEGIN ? await this.begin(input) : await this.takeChunk(input);
    const out = new ByteWriter(16);
    out.varint(next);
    return out.take();
  }

  private async begin(input: ByteReader): Promise<number> {
    const group = input.varint();
    const transfer = readTransfer(input);
    const message = input.bytes(input.remaining).slice();
    const old = this.receiving.get(group);
    if (old?.transfer === transfer) return old.installer.nextSequence;
    if (this.options.session(group) === undefined) throw new Error(`group ${group} is not open here`);
    // A complete snapshot is being decided about, or becomes the state.
    const isComplete = old === undefined ? this.busy.has(group) : old.installer.isComplete;
    if (isComplete) throw new Error(`a snapshot of group ${group} has just come: try again`);
    await this.giveUp(group);
    const installer = this.installerOf(group);
    const receiving = { transfer, group, message, installer, cancelTimeout: () => {} };
    this.receiving.set(group, receiving);
    this.busy.add(group);
    this.watch(receiving);
    return 0;
  }

  private installerOf(group: GroupId): SnapshotInstaller {
    try {
      return this.options.state.store.installSnapshot(group);
    } catch (error) {
      if (error instanceof GroupBusyError) throw new Error(`group ${group} is being checkpointed: try again`);
      throw error;
    }
  }

  private async takeChunk(input: ByteReader): Promise<number> {
    const transfer = readTransfer(input);
    const sequence = input.varint();
    const checksum = input.u32();
    const bytes = input.bytes(input.remaining);
    const receiving = [...this.receiving.values()].find((each) => each.transfer === transfer);
    if (receiving === undefined) throw new Error('the transfer was given up');
    this.watch(receiving);
    this.options.figures?.snapshotBytes('received', bytes.length);
    const { installer } = receiving;
    const wasComplete = installer.isComplete;
    try {
      await installer.write({ sequence, checksum, bytes });
    } catch (error) {
      // Nothing more can be written then, not even what comes again.
      if (error instanceof DiskFullError) {
        this.options.onDiskFull();
        await this.giveUp(receiving.group);
      }
      throw error;
    }
    if (this.receiving.get(receiving.group) !== receiving) throw new Error('the transfer was given up');
    if (installer.isComplete && !wasComplete) {
      receiving.cancelTimeout();
      const { group, message } = receiving;
      this.options.consensus.send({ kind: 'snapshot_arrived', group, message });
    }
    return installer.nextSequence;
  }

  private watch(receiving: Receiving): void {
    receiving.cancelTimeout();
    receiving.cancelTimeout = this.options.delay(IDLE_MAX_MS, () => {
      if (this.receiving.get(receiving.group) === receiving) this.giveUp(receiving.group).catch(() => {});
    });
  }

  /** The session gets no further event and runs no call before the state is another one. */
  private async makeState(session: GroupSession, index: number): Promise<void> {
    session.pause();
    const receiving = this.receiving.get(session.id);
    if (receiving === undefined)
      throw new Error(`a snapshot of group ${session.id} is to be installed, but is not here`);
    this.receiving.delete(session.id);
    receiving.cancelTimeout();
    const applied = decodeApplied(await receiving.installer.commit());
    this.options.figures?.snapshot('received', 'ok');
    this.options.figures?.checked('ok');
    if (applied.index !== index)
      throw new Error(`the snapshot of group ${session.id} is not the one that was told`);
    await this.options.replace(session, applied);
    this.busy.delete(session.id);
    session.resume();
  }
}

/** Raft's message with what the snapshot really is: it may be newer than when Raft asked for it. */
function messageFor(source: SnapshotSource, bytes: Uint8Array): Uint8Array {
  const message = decodeMessage(bytes);
  if (message.kind !== 'snapshot') throw new Error('a message is no snapshot message');
  const { index, term, hash, membership } = decodeApplied(source.header.applied);
  return encodeMessage({
    ...message,
    snapshot: { index, term, hash, membership: decodeMembership(membership) },
  });
}

function encodeBegin(group: GroupId, transfer: number, message: Uint8Array): Uint8Array {
  const out = new ByteWriter(message.length + 24);
  out.u8(BEGIN);
  out.varint(group);
  out.bytes(u48(transfer));
  out.bytes(message);
  return out.take();
}

function encodeChunk(transfer: number, { sequence, checksum, bytes }: SnapshotChunk): Uint8Array {
  const out = new ByteWriter(bytes.length + 24);
  out.u8(CHUNK);
  out.bytes(u48(transfer));
  out.varint(sequence);
  out.u32(checksum);
  out.bytes(bytes);
  return out.take();
}

function u48(value: number): Uint8Array {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(value, 0, 6);
  return bytes;
}

function readTransfer(input: ByteReader): number {
  return Buffer.from(input.bytes(6)).readUIntBE(0, 6);
}
