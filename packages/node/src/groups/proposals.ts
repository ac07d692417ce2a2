/** The changes that a session proposes as leader: entries, with the names and answers that the log keeps, and what waits for them. */
import {
  ByteWriter,
  type Change,
  nodeError,
  type QueryError,
  type RoomEvent,
  takeBack,
} from '@althing/engine';
import { assert } from '../base/assert.js';
import { type DiskLevel, type GroupId, type PreparedAnswer, ROOT_GROUP } from '../between/protocol.js';
import { type EntryHead, encodeEntry, plainHead } from './entry.js';
import { encodeBegun, encodeFailure, encodeRefusal, encodeReply, encodeSecret } from './kept-reply.js';
import type { ClientNames, Names } from './names.js';
import { type PendingWrite, Pipeline, type PipelineElement } from './pipeline.js';
import {
  DISK_FULL,
  DISK_LOW,
  NO_CHANGES,
  RESTORING,
  SHORTAGES,
  TOO_MANY_KEYS,
  tooLarge,
} from './refusals.js';
import type { Replica } from './replica.js';
import type { Reply, Respond } from './request.js';
import type { SessionContext } from './session-context.js';
import type { SessionTable } from './session-table.js';

/** A change before it is proposed. */
type Proposal = Pick<
  PendingWrite,
  'undo' | 'collectionEvents' | 'roomEvents' | 'imposed' | 'reply' | 'respond'
>;

export class Proposals {
  readonly pipeline = new Pipeline();
  /** The leadership incarnation in which this node leads and may propose; 0 when it may not. */
  epoch = 0;
  /** True if effects are on their way that the state does not hold. */
  isImposing = false;
  disk: DiskLevel = 'ok';
  /** The latest time of an entry, by the wall clocks of leaders, in milliseconds. */
  private lastTime = 0;
  /** Up to when entries told how much time passed, by the monotonic clock. */
  private toldUntil = 0;
  private readonly writer = new ByteWriter();

  constructor(
    private readonly id: GroupId,
    private readonly context: SessionContext,
    private readonly replica: Replica,
  ) {}

  /** This node leads from now on. */
  lead(epoch: number): void {
    this.epoch = epoch;
    this.toldUntil = this.context.monotonic();
  }

  /** An entry of another leader has this time. */
  noteTime(time: number): void {
    this.lastTime = Math.max(this.lastTime, time);
  }

  /** Null when a change may be made now, else why not. */
  refusal(): QueryError | null {
    if (this.disk === 'full') return DISK_FULL;
    // The root scope hardly grows, and deleting a collection is a way to make room.
    if (this.disk === 'low' && this.id !== ROOT_GROUP) return DISK_LOW;
    if (this.epoch === 0) return NO_CHANGES;
    if (this.isImposing) return RESTORING;
    const full = this.pipeline.fullText;
    return full === null ? null : nodeError(`${full} wait to be written: try again`);
  }

  /** Why a new change can't be made under the names that its client gave it; null when it can. */
  nameRefusal({ key, client }: ClientNames, table: SessionTable): QueryError | null {
    if (key !== null && table.keyShortage(key, this.elapsed) !== null) return TOO_MANY_KEYS;
    const shortage = client === null ? null : table.clientShortage(client, this.elapsed);
    return shortage === null ? null : SHORTAGES[shortage];
  }

  /** Whole milliseconds since the entry before, as far as this node has led. */
  private readonly elapsed = (): number => Math.max(0, Math.floor(this.context.monotonic() - this.toldUntil));

  /** See `GroupSession.propose`. */
  propose(
    { effects, undo, collectionEvents, roomEvents = NO_EVENTS }: Omit<Change, 'events'>,
    reply: Reply,
    respond: Respond,
    names: Names | null,
    secret: string | null,
    early: PreparedAnswer | null,
  ): QueryError | null {
    const error = this.epoch === 0 ? NO_CHANGES : this.isImposing ? RESTORING : tooLarge(effects);
    if (error !== null) {
      takeBack(undo);
      this.answerRead({ ok: false, error, index: 0 }, respond);
      return error;
    }
    const kept = names === null ? null : this.keptOf(reply, secret);
    this.send(
      effects,
      names,
      kept,
      { undo, collectionEvents, roomEvents, imposed: null, reply, respond },
      early,
    );
    return null;
  }

  /** See `GroupSession.impose`. */
  impose(
    effects: Uint8Array,
    done: (committed: boolean) => void,
    names: (Names & { readonly kept: Uint8Array }) | null,
  ): void {
    if (this.epoch === 0 || this.pipeline.length > 0 || this.disk === 'full') {
      done(false);
      return;
    }
    this.isImposing = true;
    this.send(effects, names, names?.kept ?? null, {
      undo: [],
      collectionEvents: [],
      roomEvents: NO_EVENTS,
      imposed: effects,
      reply: { ok: true, result: '', index: 0 },
      respond: ({ ok }) => done(ok),
    });
  }

  /** Answers what was computed on the state as it is, as soon as all of that is committed. */
  answerRead(reply: Reply, respond: Respond): void {
    reply.index = this.replica.applied.index;
    if (this.pipeline.changes === 0) respond(reply);
    else this.pipeline.add({ kind: 'barrier', reply, respond });
  }

  /**
   * Answers the first changes that wait, which are committed.
   *
   * @param last index of the last entry that is committed
   */
  commit(count: number, last: number): void {
    if (count > 0) this.replica.changesUpTo(last);
    this.pipeline.commit(count, this.replica.applied.index, last, (write) => {
      if (write.imposed !== null) this.isImposing = false;
      this.replica.commit(write);
    });
    const { group } = this.replica;
    group.settle(group.changeCount - this.pipeline.changes);
  }

  /** Gives out what waits; this node does not lead any more, or ends. */
  takeAll(): PipelineElement[] {
    this.epoch = 0;
    this.isImposing = false;
    return this.pipeline.takeAll();
  }

  /** The kept form of an answer, or of an error and what was changed before it. */
  private keptOf(reply: Reply, secret: string | null): Uint8Array {
    if (!reply.ok) {
      if (reply.sealed === true) return encodeRefusal(reply.error);
      return (reply.outcome === 'unknown' ? encodeBegun : encodeFailure)(reply.error);
    }
    if (secret === null) return encodeReply(reply.result);
    return encodeSecret(secret);
  }

  private headOf(names: Names | null, kept: Uint8Array | null): EntryHead {
    this.noteTime(Math.floor(this.context.now()));
    const { lastTime: time } = this;
    const elapsed = this.elapsed();
    this.toldUntil += elapsed;
    if (names === null || kept === null) return plainHead(time, elapsed);
    const { request, key, client } = names;
    return { time, elapsed, request, key, client, reply: kept };
  }

  /** Puts an entry on its way. */
  private send(
    effects: Uint8Array,
    names: Names | null,
    kept: Uint8Array | null,
    proposal: Proposal,
    early: PreparedAnswer | null = null,
  ): void {
    const { id: group, epoch } = this;
    assert(epoch !== 0, 'only the leader of a group proposes');
    const head = this.headOf(names, kept);
    const out = effects.length > KEPT_WRITER_BYTES ? new ByteWriter(effects.length + 80) : this.writer;
    const payload = encodeEntry(head, effects, out);
    const bytes = payload.length;
    const { undo, collectionEvents, roomEvents, imposed, reply, respond } = proposal;
    // Not spread: an object that is put together by a copy of another takes several times as long.
    this.pipeline.add({
      kind: 'write',
      undo,
      collectionEvents,
      roomEvents,
      bytes,
      head,
      imposed,
      reply,
      respond,
    });
    this.replica.changedBytes += bytes;
    const payloads = [payload];
    this.context.consensus.send(
      early === null
        ? { kind: 'propose', group, epoch, payloads }
        : { kind: 'propose', group, epoch, payloads, answers: [early] },
    );
  }
}

/** Effects up to this size are encoded in the same memory again and again. */
const KEPT_WRITER_BYTES = 16 * 1024;

const NO_EVENTS: readonly RoomEvent[] = [];
