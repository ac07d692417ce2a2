/**
 * Snapshots of groups on their way from one node to another, in calls between the engine sides (`snapshot-calls.ts`). When the last
 * chunk has come the consensus side is asked whether the snapshot is still wanted; if so, it becomes the state of the group in one step.
 */

import { randomBytes } from 'node:crypto';
import { ByteReader, ByteWriter } from '@althing/engine';
import {
  CHUNK_BYTES_DEFAULT,
  isDiskFull,
  type SnapshotChunk,
  type SnapshotInstaller,
  type SnapshotSource,
  type StateStore,
} from '@althing/storage';
import { type Clock, pause } from '../base/clock.js';
import { isDamage } from '../base/failures.js';
import type { Applied, Consensus, GroupId, NodeId } from '../between/protocol.js';
import { snapshotOf } from '../between/snapshot-message.js';
import { CallKind, type Calls } from '../calls/calls.js';
import { decodeApplied } from '../groups/applied.js';
import type { GroupSession } from '../groups/group-session.js';
import type { SnapshotEvents } from '../groups/session-context.js';
import type { State } from '../groups/state.js';
import type { EngineMetrics } from '../telemetry/engine-metrics.js';
import { BEGIN, chunkHead, encodeBegin, messageFor, readTransfer } from './snapshot-calls.js';

export interface SnapshotsOptions {
  readonly state: State;
  readonly consensus: Pick<Consensus, 'send'>;
  readonly calls: Pick<Calls, 'call' | 'serve'>;
  /** Writes a checkpoint of the group unless something of it is stored. */
  readonly ensureStored: (session: GroupSession) => Promise<void>;
  /** Makes the state on disk that of a session which is paused; false if its collection is gone. */
  readonly replace: (session: GroupSession, applied: Applied, store: StateStore) => Promise<boolean>;
  readonly session: (group: GroupId) => GroupSession | undefined;
  readonly clock: Pick<Clock, 'after'>;
  /** Called when the state had no room for what came. */
  readonly onDiskFull: () => void;
  /** Called when the state that should be sent is damaged here. */
  readonly onDamage: (error: unknown) => void;
  /** Called with what ends the node: a snapshot that can't be made the state. */
  readonly onFailure: (error: unknown) => void;
  readonly onInstalled: (session: GroupSession, index: number) => void;
  /** Called with a snapshot that had come and is not the state, since there was no room, or it was opened again. */
  readonly onLost: (session: GroupSession, index: number) => void;
  /** Counts what happens. */
  readonly figures?: Pick<EngineMetrics, 'snapshot' | 'snapshotBytes' | 'checked'>;
}

/** Snapshots that are sent at once. */
const SENDING_MAX = 2;

/** Each chunk costs several messages between threads, whatever its size. */
const CHUNK_TIMES = 2;

/** Chunks of one transfer that are under way at once. */
const WINDOW = 4;

/** Buffers of chunks that are kept for the next ones. */
const BUFFERS_MAX: number = SENDING_MAX * WINDOW;

/** Bytes of snapshots that may be under way at once, all together. */
export const SENT_BYTES_MAX: number = SENDING_MAX * WINDOW * CHUNK_TIMES * CHUNK_BYTES_DEFAULT;

/** Attempts to go on with a transfer before it counts as failed. */
const ATTEMPTS_MAX = 5;
const ATTEMPT_PAUSE_MS = 200;

/** Time for an answer, in milliseconds: all that is under way may have to get through a slow way before. */
const CALL_TIMEOUT_MS = 20_000;

/** Chunks from this size on are given away with their buffer instead of being copied. */
const GIVEN_BYTES_MIN = 64 * 1024;

/** A transfer of which nothing comes for so long is given up, so that the group can be checkpointed again. */
const IDLE_MAX_MS = 30_000;

interface Receiving {
  readonly transfer: number;
  readonly group: GroupId;
  readonly message: Uint8Array;
  /** The log position that the snapshot stands for. */
  readonly index: number;
  /** The one that it is written to. What came is lost when that is closed. */
  readonly store: StateStore;
  readonly installer: SnapshotInstaller;
  cancelTimeout: () => void;
}

/** A snapshot on its way to another node. */
interface Outgoing {
  /** True if another one took its place: it has to end. */
  isReplaced: boolean;
}

function assertWanted({ isReplaced }: Outgoing): void {
  if (isReplaced) throw new Error('another snapshot took the place of this one');
}

export class Snapshots implements SnapshotEvents {
  private readonly receiving = new Map<GroupId, Receiving>();
  /** The groups that a snapshot comes in of, until it is given up or is the state. */
  private readonly busy = new Set<GroupId>();
  /** Snapshots that become the state. */
  private readonly installing = new Map<GroupSession, Promise<void>>();
  private readonly waiting: (() => void)[] = [];
  private sending = 0;
  /** Buffers of chunks that have been sent. A new one for each chunk would be garbage that is collected again and again. */
  private readonly buffers: ArrayBuffer[] = [];
  /** Snapshots on their way to other nodes, by group and node. */
  private readonly outgoing = new Map<string, Outgoing>();

  constructor(private readonly options: SnapshotsOptions) {
    options.calls.serve(CallKind.Snapshot, (_from, payload) => this.take(payload));
  }

  /** True if any snapshot is on its way, in or out. */
  get isActive(): boolean {
    return this.sending > 0 || this.busy.size > 0;
  }

  /** A buffer of a chunk that has been sent, and may be filled again. */
  takeBack(buffer: ArrayBuffer): void {
    if (this.sending > 0 && this.buffers.length < BUFFERS_MAX) this.buffers.push(buffer);
  }

  /** True if a snapshot of the group is coming in or becomes the state: no checkpoint can be made then. */
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
    const installing = this.makeState(session, index)
      .then(
        (installed) => {
          if (installed) this.options.onInstalled(session, index);
          else if (this.options.session(session.id) === session) this.options.onLost(session, index);
        },
        (error: unknown) => this.options.onFailure(error),
      )
      .finally(() => this.installing.delete(session));
    this.installing.set(session, installing);
  }

  refused(session: GroupSession): void {
    this.giveUp(session.id).catch(() => {});
  }

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

  /** The collection of a session is gone: resolves when no snapshot of it is written or read any more. */
  async forget(session: GroupSession): Promise<void> {
    await this.giveUp(session.id).catch(() => {});
    await this.installing.get(session);
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
      const source = await this.options.state.store.openSnapshot(session.id, 2, CHUNK_TIMES);
      if (source === undefined) throw new Error(`nothing of group ${session.id} is stored`);
      try {
        await this.transfer(session.id, to, messageFor(source, message), source, outgoing);
      } finally {
        await source.close();
      }
    } finally {
      this.sending -= 1;
      if (this.sending === 0) this.buffers.length = 0;
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
        await this.sendChunks(
          to,
          transfer,
          source.chunks(next, (bytes) => this.bufferOf(bytes)),
          outgoing,
        );
        return;
      } catch (error) {
        if (attempt === ATTEMPTS_MAX || outgoing.isReplaced || isDamage(error)) throw error;
        await pause(this.options.clock, ATTEMPT_PAUSE_MS * attempt);
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
      const { length } = chunk.bytes;
      const answer = this.askAbout(to, transfer, chunk);
      this.options.figures?.snapshotBytes('sent', length);
      // A failure is noticed below; until then it is nobody's.
      answer.catch(() => {});
      underWay.push(answer);
      if (underWay.length >= WINDOW) await underWay.shift();
    }
    await Promise.all(underWay);
  }

  private async ask(to: NodeId, call: Uint8Array, rest?: Uint8Array<ArrayBuffer>): Promise<number> {
    const answer = await this.options.calls.call(to, CallKind.Snapshot, call, CALL_TIMEOUT_MS, rest);
    return new ByteReader(answer).varint();
  }

  private bufferOf(bytes: number): Buffer {
    const used = this.buffers.pop();
    return used === undefined || used.byteLength < bytes
      ? Buffer.allocUnsafe(bytes)
      : Buffer.from(used, 0, bytes);
  }

  private askAbout(to: NodeId, transfer: number, chunk: SnapshotChunk): Promise<number> {
    const head = chunkHead(transfer, chunk);
    const { bytes } = chunk;
    // A large chunk was made for this one call; a small one may be needed again, or share its buffer.
    if (bytes.length >= GIVEN_BYTES_MIN && bytes.buffer instanceof ArrayBuffer)
      return this.ask(to, head, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length));
    return this.ask(to, Buffer.concat([head, bytes]));
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
    const { index } = snapshotOf(message).snapshot;
    const old = this.receiving.get(group);
    const { store, isOpen } = this.options.state;
    if (!isOpen) throw new Error('the state is being opened again: try again');
    if (old?.transfer === transfer && old.store === store) return old.installer.nextSequence;
    if (this.options.session(group) === undefined) throw new Error(`group ${group} is not open here`);
    // A complete snapshot is being decided about, or becomes the state.
    const isComplete = old === undefined ? this.busy.has(group) : old.installer.isComplete;
    if (isComplete) throw new Error(`a snapshot of group ${group} has just come: try again`);
    await this.giveUp(group);
    if (this.options.state.store !== store) throw new Error('the state was opened again: try again');
    const installer = store.installSnapshot(group);
    const receiving = { transfer, group, message, index, store, installer, cancelTimeout: () => {} };
    this.receiving.set(group, receiving);
    this.busy.add(group);
    this.watch(receiving);
    return 0;
  }

  private async takeChunk(input: ByteReader): Promise<number> {
    const transfer = readTransfer(input);
    const sequence = input.varint();
    const checksum = input.u32();
    const bytes = input.bytes(input.remaining);
    const receiving = [...this.receiving.values()].find((each) => each.transfer === transfer);
    if (receiving === undefined) throw new Error('the transfer was given up');
    const { state } = this.options;
    if (!state.isOpen || state.store !== receiving.store) {
      await this.giveUp(receiving.group);
      throw new Error('the state was opened again, and the transfer given up');
    }
    this.watch(receiving);
    this.options.figures?.snapshotBytes('received', bytes.length);
    const { installer } = receiving;
    const wasComplete = installer.isComplete;
    try {
      await installer.write({ sequence, checksum, bytes });
    } catch (error) {
      // Nothing more can be written then, not even what comes again.
      if (isDiskFull(error)) {
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
    receiving.cancelTimeout = this.options.clock.after(IDLE_MAX_MS, () => {
      if (this.receiving.get(receiving.group) === receiving) this.giveUp(receiving.group).catch(() => {});
    });
  }

  /**
   * The session gets no further event and runs no call before the state is another one, or will not be.
   *
   * @returns false if the snapshot is not the state: there was no room for it, or it was given up
   */
  private async makeState(session: GroupSession, index: number): Promise<boolean> {
    const { state, replace, figures } = this.options;
    const { id } = session;
    session.pause();
    await this.commit(session, index);
    const installed = await state.use(async (store) => {
      const stored = store.applied(id);
      if (stored === undefined || stored.index !== index) return false;
      return replace(session, decodeApplied(stored), store);
    });
    // Another one may be coming in by now.
    if (!this.receiving.has(id)) this.busy.delete(id);
    if (installed) {
      figures?.snapshot('received', 'ok');
      figures?.checked('ok');
    } else {
      session.notInstalled();
    }
    session.resume();
    return installed;
  }

  /**
   * Makes a snapshot what is on the disk, if it is still here. What came of that is to be looked for there: a
   * write that had no room may have been made all the same, which can be told when the state was opened again.
   */
  private async commit(session: GroupSession, index: number): Promise<void> {
    const { state, onDiskFull } = this.options;
    const receiving = this.receiving.get(session.id);
    if (receiving?.index !== index || !receiving.installer.isComplete) return;
    this.receiving.delete(session.id);
    receiving.cancelTimeout();
    const { store, installer } = receiving;
    try {
      await state.use(async (current) => {
        if (current !== store) {
          this.options.figures?.snapshot('received', 'failed');
          await installer.abort();
          return;
        }
        const applied = await installer.commit();
        if (applied.index !== index)
          throw new Error(`the snapshot of group ${session.id} is not the one that was told`);
      });
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      this.options.figures?.snapshot('received', 'failed');
      onDiskFull();
      await state.reopened(store);
    }
  }
}
