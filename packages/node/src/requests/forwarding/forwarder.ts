/**
 * Takes requests to other nodes, and those of other nodes in. A request that comes a second time while the
 * first is still carried out gets the answer of the first.
 */
import { ByteWriter, MsgpackWriter, QueryError, type RootGroup, type WireValues } from '@althing/engine';
import { PROTOCOL_AFTER_0_1_0 } from '../../between/peer-protocol.js';
import { type GroupId, type NodeId, ROOT_GROUP } from '../../between/protocol.js';
import { type Asker, type CallError, CallKind, type Calls, type OpenCall } from '../../calls/calls.js';
import type { GroupSession } from '../../groups/group-session.js';
import {
  type Client,
  LogTexts,
  ORDINARY_TERMS,
  type Reply,
  type Request,
  type RequestBody,
} from '../../groups/request.js';
import {
  decodeAnswer,
  decodeRequest,
  encodeAnswer,
  encodeBody,
  encodeRequest,
  type ForwardedAnswer,
  type ForwardedRequest,
  isShorterThan,
  withLogs,
} from './format.js';
import { type EarlyAnswer, type End, PendingRequest, readCautiously } from './pending-request.js';
import { busy, NODE_SILENT, NODE_UNCLEAR, oldLeader, refused, USER_GONE } from './refusals.js';
import { RequestsUnderWay } from './requests-under-way.js';
import { SentRequest, type SentRequestOwner } from './sent-request.js';
import type { Sequences } from './sequences.js';
import { TakenRequest } from './taken-request.js';

export interface ForwarderOptions {
  readonly calls: Calls;
  readonly root: RootGroup;
  readonly rootSession: () => GroupSession;
  readonly sequences: Sequences;
  /** Version of the protocol that is spoken with a node; 0 while none is known. */
  readonly protocolOf: (node: NodeId) => number;
  /** Which start of this node this is. */
  readonly incarnation: number;
  /**
   * Gives the values of a request as MessagePack, as far as the limits of a query allow. Throws QueryError.
   */
  readonly toMsgpack: (values: WireValues) => Uint8Array;
  /** Reads a body in MessagePack. */
  readonly decodeBody: (body: Buffer) => RequestBody;
  readonly monotonic: () => number;
  readonly delay: (ms: number, callback: () => void) => () => void;
  /** Carries out a request that another node sent. */
  readonly begin: (pending: PendingRequest) => void;
  /** Lets a pending request try again, soon or at another leader. */
  readonly retry: (pending: PendingRequest, group: GroupId) => void;
  /** Called with the outcome of each attempt. */
  readonly tried?: (outcome: 'ok' | 'retried' | 'failed') => void;
  /** Called for each pending request of another node that ended. */
  readonly ended: (pending: PendingRequest) => void;
}

/** Bytes of requests that are sent and not answered. */
const SENT_BYTES_MAX = 128 * 1024 * 1024;

/** Requests of other nodes at once, and their bytes. */
const TAKEN_MAX = 20_000;
const TAKEN_BYTES_MAX = 128 * 1024 * 1024;

/** Up to this size requests and answers are encoded in the same memory again and again. */
const KEPT_WRITER_BYTES = 16 * 1024;

export class Forwarder implements SentRequestOwner {
  private readonly options: ForwarderOptions;
  private readonly underWay = new RequestsUnderWay();
  /** For short requests and answers. */
  private readonly writer = new ByteWriter();
  private readonly bodyWriter = new MsgpackWriter();
  private sentBytes = 0;
  private sentCount = 0;
  private taken = 0;
  private takenBytes = 0;

  constructor(options: ForwarderOptions) {
    this.options = options;
    const { calls } = options;
    calls.serveDirectly(CallKind.Forward, (from, payload, call) => this.take(from, payload, call));
    calls.serveDirectly(CallKind.NodeRequest, (from, payload, call) => this.takeForNode(from, payload, call));
  }

  /** Requests of other nodes that are being carried out. */
  get busy(): number {
    return this.taken;
  }

  /** Requests that were sent to other nodes and are not answered. */
  get sent(): number {
    return this.sentCount;
  }

  /** Sends a change to the leader of its group. */
  send(pending: PendingRequest, group: GroupId, leader: NodeId): void {
    const knowsOutcomes = this.knowsOutcomes(leader);
    const payload = this.encode(pending, group, leader);
    if (payload === null) return;
    const sent = new SentRequest(this, pending, group, payload.length, knowsOutcomes);
    this.call(leader, CallKind.Forward, payload, sent);
  }

  /** Another node has answered a request that was sent to it. */
  answered({ pending, group, bytes, knowsOutcomes }: SentRequest, answer: Uint8Array): void {
    this.over(pending, bytes);
    if (pending.ended) return;
    this.takeAnswer(pending, group, answerOf(answer, pending), knowsOutcomes);
  }

  /** No answer came to a request that was sent to another node. */
  failed({ pending, group, bytes, knowsOutcomes }: SentRequest, error: CallError): void {
    this.over(pending, bytes);
    if (pending.ended) return;
    if (error.reason === 'refused') {
      // An earlier version may say so when something broke on the way.
      if (!knowsOutcomes) pending.unknown = true;
      this.refuse(pending, group, refused(error));
      return;
    }
    pending.noteCopy();
    this.retry(pending, group);
  }

  private retry(pending: PendingRequest, group: GroupId): void {
    this.options.tried?.('retried');
    this.options.retry(pending, group);
  }

  /** Asks another node about itself. */
  sendToNode(pending: PendingRequest, node: NodeId): void {
    const payload = this.encode(pending, ROOT_GROUP, node);
    if (payload === null) return;
    const { length } = payload;
    this.call(node, CallKind.NodeRequest, payload, {
      pending,
      bytes: length,
      answered: (bytes) => {
        this.over(pending, length);
        if (pending.ended) return;
        const answer = answerOf(bytes, pending);
        pending.end(answer.kind === 'reply' ? answer : { kind: 'reply', reply: NODE_SILENT });
      },
      failed: (error) => {
        this.over(pending, length);
        pending.end({ kind: 'reply', reply: error.reason === 'refused' ? refused(error) : NODE_UNCLEAR });
      },
    });
  }

  private knowsOutcomes(node: NodeId): boolean {
    return this.options.protocolOf(node) >= PROTOCOL_AFTER_0_1_0;
  }

  private call(
    to: NodeId,
    kind: CallKind,
    payload: Uint8Array,
    sent: Asker & Pick<SentRequest, 'pending' | 'bytes'>,
  ): void {
    const { calls, monotonic } = this.options;
    const { pending, bytes } = sent;
    pending.called = true;
    this.sentBytes += bytes;
    this.sentCount += 1;
    calls.ask(to, kind, payload, Math.max(1, pending.deadline - monotonic()), sent);
  }

  /** A request that was sent waits for no answer any more. */
  private over(pending: PendingRequest, bytes: number): void {
    this.sentBytes -= bytes;
    this.sentCount -= 1;
    pending.called = false;
  }

  /** The request as it is sent, valid until the next one is; null when it can't be sent, and has ended. */
  private encode(pending: PendingRequest, group: GroupId, to: NodeId): Uint8Array | null {
    const knowsOutcomes = this.knowsOutcomes(to);
    const { sequences, incarnation, monotonic, rootSession } = this.options;
    const { request } = pending;
    const name = request.terms?.name ?? null;
    if (name !== null && !knowsOutcomes) {
      this.refuse(pending, group, oldLeader());
      return null;
    }
    const writer = isShorterThan(request.body, KEPT_WRITER_BYTES) ? this.bodyWriter : new MsgpackWriter();
    const body = encodeBody(request.body, this.options.toMsgpack, writer);
    if (this.sentBytes + body.length > SENT_BYTES_MAX) {
      this.refuse(pending, group, busy());
      return null;
    }
    const forwarded: ForwardedRequest = {
      group,
      incarnation,
      sequence: pending.sequence,
      low: sequences.low(group),
      rootIndex: rootSession().appliedIndex,
      deadlineMs: Math.max(0, Math.floor(pending.deadline - monotonic())),
      user: request.user.id,
      format: request.format,
      scope: request.scope,
      key: request.terms?.key ?? null,
      name,
      id: request.id ?? null,
      knowsOutcomes,
      undecided: knowsOutcomes && pending.unknown,
      wantsLogs: request.logs !== undefined,
      saltKey: knowsOutcomes ? (request.saltKey ?? null) : null,
      body,
    };
    return encodeRequest(forwarded, this.writerFor(body.length));
  }

  /** @param knowsOutcomes whether the one who answers was told what is known of earlier attempts */
  private takeAnswer(
    pending: PendingRequest,
    group: GroupId,
    answer: ForwardedAnswer,
    knowsOutcomes: boolean,
  ): void {
    switch (answer.kind) {
      case 'reply': {
        if (!answer.reply.ok && answer.reply.sealed === true) pending.seal();
        else if (knowsOutcomes) pending.settle();
        else if (pending.unknown && !answer.reply.ok) {
          // It speaks of this attempt alone, and may be a refusal.
          this.retry(pending, group);
          return;
        }
        this.options.tried?.('ok');
        const reply = knowsOutcomes ? answer.reply : readCautiously(answer.reply, pending);
        pending.end({ kind: 'reply', reply });
        return;
      }
      case 'busy':
        this.refuse(pending, group, busy());
        return;
      case 'lost':
      case 'late':
        if (answer.unknown) pending.unknown = true;
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
  private refuse(pending: PendingRequest, group: GroupId, reply: Reply): void {
    if (pending.unknown) {
      this.retry(pending, group);
      return;
    }
    this.options.tried?.('failed');
    pending.end({ kind: 'reply', reply });
  }

  private take(from: NodeId, payload: Uint8Array, call: OpenCall): void {
    const request = decodeRequest(payload);
    const { knowsOutcomes, sequence } = request;
    const underWay = this.underWay.of(from, request.incarnation, request.group);
    const first = underWay.get(sequence);
    if (first !== undefined) {
      first.join(call);
      return;
    }
    if (!this.hasRoom(payload)) {
      call.answer(encodeAnswer({ kind: 'busy' }, knowsOutcomes));
      return;
    }
    const taken = new TakenRequest(call, this.writer);
    underWay.set(sequence, taken);
    this.carryOut(from, request, payload.length, request.group, taken, () => underWay.delete(sequence));
  }

  private takeForNode(from: NodeId, payload: Uint8Array, call: OpenCall): void {
    const request = decodeRequest(payload);
    if (!this.hasRoom(payload)) {
      call.answer(encodeAnswer({ kind: 'busy' }, request.knowsOutcomes));
      return;
    }
    const toItself = { ...request, scope: { kind: 'node', id: null } } as const;
    this.carryOut(from, toItself, payload.length, null, new TakenRequest(call, this.writer), () => {});
  }

  /** For about so many bytes, which are copied before anything else is written. */
  private writerFor(size: number): ByteWriter {
    return size > KEPT_WRITER_BYTES ? new ByteWriter(size + 128) : this.writer;
  }

  private hasRoom({ length }: Uint8Array): boolean {
    return this.taken < TAKEN_MAX && this.takenBytes + length <= TAKEN_BYTES_MAX;
  }

  private carryOut(
    from: NodeId,
    request: ForwardedRequest,
    bytes: number,
    group: GroupId | null,
    taken: TakenRequest,
    ended: () => void,
  ): void {
    const { monotonic, rootSession } = this.options;
    const deadline = monotonic() + request.deadlineMs;
    this.taken += 1;
    this.takenBytes += bytes;
    const logs = request.wantsLogs ? new LogTexts() : null;
    const done = (end: End): void => {
      this.taken -= 1;
      this.takenBytes -= bytes;
      ended();
      if (!taken.awaitsAnswer) return;
      const size = end.kind === 'reply' && end.reply.ok ? end.reply.result.length : 0;
      const encoded = encodeAnswer(end, request.knowsOutcomes, this.writerFor(size));
      taken.end(logs === null ? encoded : withLogs(encoded, logs.texts));
    };
    const early = group === null || logs !== null ? null : taken;
    const start = (): void => this.start(from, request, group, { deadline, logs, early }, done);
    // This node must know everything about users and collections that the sender knew.
    if (rootSession().appliedIndex >= request.rootIndex) start();
    else this.startOnceApplied(request, group, start, done);
  }

  private startOnceApplied(
    request: ForwardedRequest,
    group: GroupId | null,
    start: () => void,
    done: (end: End) => void,
  ): void {
    const { delay, rootSession } = this.options;
    let begun = false;
    const cancel = delay(request.deadlineMs, () => {
      if (begun) return;
      begun = true;
      done({ kind: 'late', unknown: isUndecided(request, group) });
    });
    rootSession().whenApplied(request.rootIndex, () => {
      if (begun) return;
      begun = true;
      cancel();
      start();
    });
  }

  private start(
    from: NodeId,
    message: ForwardedRequest,
    group: GroupId | null,
    { deadline, logs, early }: Carrying,
    onEnd: (end: End) => void,
  ): void {
    const { root, decodeBody, begin, ended } = this.options;
    const { user: userId, scope, format, key, name, id, saltKey, incarnation, sequence, low } = message;
    const undecided = isUndecided(message, group);
    const outcome = undecided ? 'unknown' : 'none';
    const user = root.users.get(userId);
    if (user === undefined) {
      onEnd({ kind: 'reply', reply: { ok: false, error: USER_GONE, outcome } });
      return;
    }
    try {
      const body = decodeBody(Buffer.from(message.body));
      const terms = key === null && name === null ? null : { ...ORDINARY_TERMS, key, name };
      const request: Writable<Request> = { scope, user, body, format, client: STAYS, terms };
      if (id !== null) request.id = id;
      if (saltKey !== null) request.saltKey = saltKey;
      if (logs !== null) request.logs = logs;
      const forwarded = { origin: from, incarnation, sequence, low };
      const pending = new PendingRequest({
        request,
        forwarded,
        group,
        undecided,
        // Who can't tell could not be told either that the log holds a refusal.
        hasCopies: message.undecided,
        deadline,
        early,
        onEnd: (end) => {
          ended(pending);
          onEnd(end);
        },
      });
      begin(pending);
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      onEnd({ kind: 'reply', reply: { ok: false, error, outcome } });
    }
  }
}

/** An object that is being put together: copies of others, property by property, take several times as long. */
type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** How a request of another node is carried out. */
interface Carrying {
  readonly deadline: number;
  readonly logs: LogTexts | null;
  readonly early: EarlyAnswer | null;
}

/** An answer; what code said by `log` goes to who asked. */
function answerOf(bytes: Uint8Array, { request: { logs } }: PendingRequest): ForwardedAnswer {
  logs?.clear();
  return decodeAnswer(bytes, (text) => logs?.log(text));
}

/** Another node waits as long as its deadline. */
const STAYS: Client = { gone: false };

/**
 * Whether an earlier attempt of a request may have made a change. Who can't tell is taken for one that knows
 * of such an attempt. Requests to a node itself are made once.
 */
function isUndecided({ knowsOutcomes, undecided }: ForwardedRequest, group: GroupId | null): boolean {
  return group !== null && (undecided || !knowsOutcomes);
}
