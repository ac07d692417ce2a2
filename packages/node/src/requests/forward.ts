/**
 * Sends requests to other nodes, and takes in those of other nodes. A copy of a request that comes while the first is
 * carried out gets the answer of the first.
 */
import {
  ByteWriter,
  MsgpackWriter,
  QueryError,
  type RootGroup,
  type User,
  type WireValues,
} from '@althing/engine';
import type { Clock } from '../base/clock.js';
import { type GroupId, type NodeId, ROOT_GROUP } from '../between/protocol.js';
import { type Asker, type CallError, CallKind, type Calls, type OpenCall } from '../calls/calls.js';
import type { GroupSession } from '../groups/group-session.js';
import {
  type Client,
  type FailedReply,
  type LogTexts,
  ORDINARY_TERMS,
  type Request,
  type RequestBody,
} from '../groups/request.js';
import {
  decodeAnswer,
  decodeRequest,
  encodeAnswer,
  encodeRequest,
  type ForwardedAnswer,
  type ForwardedRequest,
} from './forward-format.js';
import { encodeBody, isShorterThan } from './forwarded-body.js';
import { BUSY, NODE_SILENT, NODE_UNCLEAR, refused, USER_GONE } from './replies.js';
import { PendingRequest, type RequestEnd, type RequestOwner, SENT } from './request.js';
import type { Sequences } from './sequences.js';
import { TakenRequest, TakenRequests } from './taken-requests.js';

export interface ForwarderOptions {
  readonly calls: Calls;
  readonly root: RootGroup;
  readonly rootSession: () => GroupSession;
  readonly sequences: Sequences;
  /** Number of this start of the node. */
  readonly incarnation: number;
  /**
   * Gives the values of a request as MessagePack, as far as the limits of a query allow. Throws QueryError.
   */
  readonly toMsgpack: (values: WireValues) => Uint8Array;
  /** Reads a body in MessagePack, for a user. */
  readonly decodeBody: (body: Buffer, userId: number) => RequestBody;
  /** See `Router.readsLater`. */
  readonly readsLater: (userId: number, bytes: number, read: () => void) => boolean;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly owner: RequestOwner;
  /** Carries out a request that another node sent. */
  readonly begin: (pending: PendingRequest) => void;
  /** Called with the outcome of each attempt. */
  readonly tried?: ((outcome: 'ok' | 'retried' | 'failed') => void) | undefined;
}

/** Bytes of requests that are sent and not answered. */
const SENT_BYTES_MAX = 128 * 1024 * 1024;

/** Requests of other nodes at once, and their bytes. */
const TAKEN_MAX = 20_000;
const TAKEN_BYTES_MAX = 128 * 1024 * 1024;

/** Up to this size requests and answers are encoded in the same memory again and again. */
const KEPT_WRITER_BYTES = 16 * 1024;

/** Bodies from this size on wait for their turn to be read. */
const LARGE_BODY_BYTES = 65_536;

/** A request that was sent to another node and is not answered. */
class SentRequest implements Asker {
  constructor(
    private readonly forwarder: Forwarder,
    readonly pending: PendingRequest,
    /** The group whose leader it was sent to; null for a request to the node itself. */
    readonly group: GroupId | null,
    readonly bytes: number,
  ) {}

  answered(answer: Uint8Array): void {
    this.forwarder.answered(this, answer);
  }

  failed(error: CallError): void {
    this.forwarder.failed(this, error);
  }
}

export class Forwarder {
  private readonly underWay = new TakenRequests();
  /** The writer of short requests and answers. */
  private readonly writer = new ByteWriter();
  private readonly bodyWriter = new MsgpackWriter();
  private sentBytes = 0;
  private sentCount = 0;
  private taken = 0;
  private takenBytes = 0;

  constructor(private readonly options: ForwarderOptions) {
    const { calls } = options;
    calls.serveDirectly(CallKind.Forward, (from, payload, call) => this.take(from, payload, call));
    calls.serveDirectly(CallKind.NodeRequest, (from, payload, call) => this.takeForNode(from, payload, call));
  }

  /** Requests that were sent to other nodes and are not answered. */
  get sent(): number {
    return this.sentCount;
  }

  /** Sends a change to the leader of its group. */
  send(pending: PendingRequest, group: GroupId, leader: NodeId): void {
    const payload = this.encode(pending, group);
    if (payload !== null) this.call(leader, CallKind.Forward, payload, pending, group);
  }

  /** Asks another node about itself. */
  sendToNode(pending: PendingRequest, node: NodeId): void {
    const payload = this.encode(pending, ROOT_GROUP);
    if (payload !== null) this.call(node, CallKind.NodeRequest, payload, pending, null);
  }

  private call(
    to: NodeId,
    kind: CallKind,
    payload: Uint8Array,
    pending: PendingRequest,
    group: GroupId | null,
  ): void {
    const { calls, clock } = this.options;
    pending.become(SENT);
    this.sentBytes += payload.length;
    this.sentCount += 1;
    const sent = new SentRequest(this, pending, group, payload.length);
    calls.ask(to, kind, payload, Math.max(1, pending.deadline - clock.now()), sent);
  }

  /** Another node has answered a request that was sent to it. */
  answered(sent: SentRequest, bytes: Uint8Array): void {
    const { pending, group } = sent;
    if (!this.hasReturned(sent)) return;
    const answer = answerOf(bytes, pending);
    if (group !== null) this.takeAnswer(pending, group, answer);
    else pending.end(answer.kind === 'reply' ? answer : { kind: 'reply', reply: NODE_SILENT });
  }

  /** No answer came to a request that was sent to another node. */
  failed(sent: SentRequest, error: CallError): void {
    const { pending, group } = sent;
    if (!this.hasReturned(sent)) return;
    const isRefused = error.reason === 'refused';
    if (group === null) {
      pending.end({ kind: 'reply', reply: isRefused ? refused(error) : NODE_UNCLEAR });
      return;
    }
    if (isRefused) {
      this.refuse(pending, group, refused(error));
      return;
    }
    pending.noteCopy();
    this.retry(pending, group);
  }

  /** A request that was sent waits for no answer any more; returns whether it waits for anything. */
  private hasReturned({ pending, bytes }: SentRequest): boolean {
    this.sentBytes -= bytes;
    this.sentCount -= 1;
    return pending.resume();
  }

  private retry(pending: PendingRequest, group: GroupId): void {
    this.options.tried?.('retried');
    this.options.owner.wait(pending, group);
  }

  /** The request as it is sent, valid until the next one is; null when it can't be sent, and has ended. */
  private encode(pending: PendingRequest, group: GroupId): Uint8Array | null {
    const { sequences, incarnation, clock, rootSession } = this.options;
    const { request } = pending;
    const { key, name, readOnly, dryRun } = request.terms ?? ORDINARY_TERMS;
    const writer = isShorterThan(request.body, KEPT_WRITER_BYTES) ? this.bodyWriter : new MsgpackWriter();
    const body = encodeBody(request.body, this.options.toMsgpack, writer);
    if (this.sentBytes + body.length > SENT_BYTES_MAX) {
      this.refuse(pending, group, BUSY);
      return null;
    }
    const forwarded: ForwardedRequest = {
      group,
      incarnation,
      sequence: pending.sequence,
      low: sequences.low(group),
      rootIndex: rootSession().appliedIndex,
      deadlineMs: Math.max(0, Math.floor(pending.deadline - clock.now())),
      user: request.user.id,
      format: request.format,
      scope: request.scope,
      key,
      name,
      id: request.id ?? null,
      undecided: pending.doubt !== 'none',
      wantsLogs: request.logs !== undefined,
      saltKey: request.saltKey ?? null,
      readOnly,
      dryRun,
      body,
    };
    return encodeRequest(forwarded, this.writerFor(body.length));
  }

  private takeAnswer(pending: PendingRequest, group: GroupId, answer: ForwardedAnswer): void {
    switch (answer.kind) {
      case 'reply': {
        if (!answer.reply.ok && answer.reply.sealed === true) pending.noteSealed();
        else pending.noteNothingFound();
        this.options.tried?.('ok');
        pending.end(answer);
        return;
      }
      case 'busy':
        this.refuse(pending, group, BUSY);
        return;
      case 'lost':
      case 'late':
        if (answer.unknown) pending.noteDoubt();
        this.retry(pending, group);
        return;
      case 'elsewhere':
        this.retry(pending, group);
    }
  }

  /**
   * Ends a pending request with a refusal by this node; but what an earlier attempt may have done has to be
   * found out first.
   */
  private refuse(pending: PendingRequest, group: GroupId, reply: FailedReply): void {
    if (pending.doubt !== 'none') {
      this.retry(pending, group);
      return;
    }
    this.options.tried?.('failed');
    pending.end({ kind: 'reply', reply });
  }

  private take(from: NodeId, payload: Uint8Array, call: OpenCall): void {
    const message = decodeRequest(payload);
    const { group, sequence } = message;
    const underWay = this.underWay.of(from, message.incarnation, group);
    const first = underWay.get(sequence);
    if (first !== undefined) {
      first.join(call);
      return;
    }
    if (!this.hasRoom(payload, call)) return;
    const taken = new TakenRequest(from, message, group, payload.length, call, this.writer);
    underWay.set(sequence, taken);
    this.carryOut(taken, () => underWay.delete(sequence));
  }

  private takeForNode(from: NodeId, payload: Uint8Array, call: OpenCall): void {
    const message = decodeRequest(payload);
    if (!this.hasRoom(payload, call)) return;
    const toItself = { ...message, scope: { kind: 'node', id: null } } as const;
    this.carryOut(new TakenRequest(from, toItself, null, payload.length, call, this.writer), () => {});
  }

  /** A writer for about so many bytes, which are copied before anything else is written. */
  private writerFor(size: number): ByteWriter {
    return size > KEPT_WRITER_BYTES ? new ByteWriter(size + 128) : this.writer;
  }

  private hasRoom({ length }: Uint8Array, call: OpenCall): boolean {
    const hasRoom = this.taken < TAKEN_MAX && this.takenBytes + length <= TAKEN_BYTES_MAX;
    if (!hasRoom) call.answer(encodeAnswer({ kind: 'busy' }));
    return hasRoom;
  }

  private carryOut(taken: TakenRequest, ended: () => void): void {
    const { clock, rootSession, readsLater } = this.options;
    const { message, bytes, doubt } = taken;
    const begun = clock.now();
    const deadline = begun + message.deadlineMs;
    this.taken += 1;
    this.takenBytes += bytes;
    const done = (end: RequestEnd): void => {
      this.taken -= 1;
      this.takenBytes -= bytes;
      ended();
      taken.end(end, this.writerFor(end.kind === 'reply' && end.reply.ok ? end.reply.result.length : 0));
    };
    // A large body is read when it is its turn, as at the doors for clients.
    const start = (): void => {
      const { length } = message.body;
      const read = (): void => this.start(taken, begun, deadline, done);
      if (length < LARGE_BODY_BYTES || !readsLater(message.user, length, read)) read();
    };
    // This node must know everything about users and collections that the sender knew.
    if (rootSession().appliedIndex >= message.rootIndex) {
      start();
      return;
    }
    let isOver = false;
    const cancel = clock.after(message.deadlineMs, () => {
      isOver = true;
      done({ kind: 'late', unknown: doubt !== 'none' });
    });
    rootSession().whenApplied(message.rootIndex, () => {
      if (isOver) return;
      cancel();
      start();
    });
  }

  private start(taken: TakenRequest, begun: number, deadline: number, done: (end: RequestEnd) => void): void {
    const { root, owner, begin } = this.options;
    const { from, message, group, logs, doubt } = taken;
    const { incarnation, sequence, low } = message;
    try {
      const user = root.users.get(message.user);
      if (user === undefined) throw USER_GONE;
      const name = { origin: from, incarnation, sequence, low };
      const early = group === null || logs !== null ? null : taken;
      const request = this.requestOf(message, user, logs);
      begin(new PendingRequest(owner, request, begun, deadline, done, { name, group, doubt, early }));
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      done({ kind: 'reply', reply: { ok: false, error, outcome: doubt === 'none' ? 'none' : 'unknown' } });
    }
  }

  private requestOf(message: ForwardedRequest, user: User, logs: LogTexts | null): Request {
    const { scope, format, key, name, id, saltKey, readOnly, dryRun } = message;
    const body = this.options.decodeBody(Buffer.from(message.body), user.id);
    const isOrdinary = key === null && name === null && !readOnly && !dryRun;
    const terms = isOrdinary ? null : { ...ORDINARY_TERMS, key, name, readOnly, dryRun };
    const request: Writable<Request> = { scope, user, body, format, client: STAYS, terms };
    if (id !== null) request.id = id;
    if (saltKey !== null) request.saltKey = saltKey;
    if (logs !== null) request.logs = logs;
    return request;
  }
}

/** An object that is being put together: copies of others, property by property, take several times as long. */
type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** An answer; what code said by `log` goes to the request. */
function answerOf(bytes: Uint8Array, { request: { logs } }: PendingRequest): ForwardedAnswer {
  logs?.clear();
  return decodeAnswer(bytes, (text) => logs?.log(text));
}

/** Another node waits as long as its deadline. */
const STAYS: Client = { gone: false };
