/**
 * Takes requests to other nodes, and those of other nodes in. A request that comes a second time while the first is
 * still carried out gets the answer of the first.
 */
import { ErrorCode, QueryError, type RootGroup } from '@althing/engine';
import { CallError, CallKind, type Calls } from '../cluster/calls.js';
import { type GroupId, type NodeId, ROOT_GROUP } from '../consensus/protocol.js';
import type { Client, Reply, RequestBody } from '../request.js';
import type { GroupSession } from '../scopes/group-session.js';
import {
  decodeAnswer,
  decodeRequest,
  encodeAnswer,
  encodeBody,
  encodeRequest,
  type ForwardedAnswer,
  type ForwardedRequest,
} from './format.js';
import { type End, Journey } from './journey.js';
import { RequestsUnderWay } from './requests-under-way.js';
import type { Sequences } from './sequences.js';

export interface ForwarderOptions {
  readonly calls: Calls;
  readonly root: RootGroup;
  readonly rootSession: () => GroupSession;
  readonly sequences: Sequences;
  /** Version of the protocol that is spoken with a node; 0 while none is known. */
  readonly protocolOf: (node: NodeId) => number;
  /** Which start of this node this is. */
  readonly epoch: number;
  /** Reads a body in MessagePack. */
  readonly decodeBody: (body: Buffer) => RequestBody;
  readonly monotonic: () => number;
  readonly delay: (ms: number, callback: () => void) => () => void;
  /** Carries out a request that another node sent. */
  readonly begin: (journey: Journey) => void;
  /** Lets a journey try again, soon or at another leader. */
  readonly retry: (journey: Journey, group: GroupId) => void;
  /** Told what came of each attempt. */
  readonly tried?: (outcome: 'ok' | 'retried' | 'failed') => void;
  /** Told of each journey of another node that ended. */
  readonly ended: (journey: Journey) => void;
}

/** The first version of the protocol between nodes in which a request may have a name: older ones refuse it. */
const PROTOCOL_WITH_IDS = 2;

/** Bytes of requests that are sent and not answered. */
const SENT_BYTES_MAX = 128 * 1024 * 1024;

/** Requests of other nodes at once, and their bytes. */
const TAKEN_MAX = 20_000;
const TAKEN_BYTES_MAX = 128 * 1024 * 1024;

export class Forwarder {
  private readonly options: ForwarderOptions;
  private readonly underWay = new RequestsUnderWay();
  private sentBytes = 0;
  private sentCount = 0;
  private taken = 0;
  private takenBytes = 0;

  constructor(options: ForwarderOptions) {
    this.options = options;
    options.calls.serve(CallKind.Forward, (from, payload) => this.take(from, payload));
    options.calls.serve(CallKind.NodeRequest, (from, payload) => this.takeForNode(from, payload));
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
  send(journey: Journey, group: GroupId, leader: NodeId): void {
    const payload = this.encode(journey, group, leader);
    if (payload === null) return;
    this.call(journey, leader, CallKind.Forward, payload, {
      answered: (answer) => this.answered(journey, group, answer),
      failed: (error) => {
        if (error.reason === 'refused') {
          this.refuse(journey, group, refused(error));
          return;
        }
        journey.unknown = true;
        this.retry(journey, group);
      },
    });
  }

  private retry(journey: Journey, group: GroupId): void {
    this.options.tried?.('retried');
    this.options.retry(journey, group);
  }

  /** Asks another node about itself. */
  sendToNode(journey: Journey, node: NodeId): void {
    const payload = this.encode(journey, ROOT_GROUP, node);
    if (payload === null) return;
    this.call(journey, node, CallKind.NodeRequest, payload, {
      answered: (answer) =>
        journey.end(answer.kind === 'reply' ? answer : { kind: 'reply', reply: nodeSilent() }),
      failed: (error) =>
        journey.end({ kind: 'reply', reply: error.reason === 'refused' ? refused(error) : nodeSilent() }),
    });
  }

  private call(
    journey: Journey,
    to: NodeId,
    kind: CallKind,
    payload: Uint8Array,
    then: {
      readonly answered: (answer: ForwardedAnswer) => void;
      readonly failed: (error: CallError) => void;
    },
  ): void {
    const { calls, monotonic } = this.options;
    journey.called = true;
    this.sentBytes += payload.length;
    this.sentCount += 1;
    const over = (work: () => void): void => {
      this.sentBytes -= payload.length;
      this.sentCount -= 1;
      journey.called = false;
      if (!journey.ended) work();
    };
    calls.call(to, kind, payload, Math.max(1, journey.deadline - monotonic())).then(
      (bytes) => over(() => then.answered(decodeAnswer(bytes))),
      (error: unknown) => {
        if (!(error instanceof CallError)) throw error;
        over(() => then.failed(error));
      },
    );
  }

  /** The request as it is sent; null when it can't be sent, and has ended. */
  private encode(journey: Journey, group: GroupId, to: NodeId): Uint8Array | null {
    const { sequences, protocolOf, epoch, monotonic, rootSession } = this.options;
    const { request } = journey;
    journey.body ??= encodeBody(request.body);
    if (this.sentBytes + journey.body.length > SENT_BYTES_MAX) {
      this.refuse(journey, group, busy());
      return null;
    }
    return encodeRequest({
      group,
      epoch,
      sequence: journey.sequence,
      low: sequences.low(group),
      rootIndex: rootSession().appliedIndex,
      deadlineMs: Math.max(0, Math.floor(journey.deadline - monotonic())),
      user: request.user.id,
      format: request.format,
      scope: request.scope,
      key: request.terms?.key ?? null,
      id: protocolOf(to) >= PROTOCOL_WITH_IDS ? (request.id ?? null) : null,
      body: journey.body,
    });
  }

  private answered(journey: Journey, group: GroupId, answer: ForwardedAnswer): void {
    switch (answer.kind) {
      case 'reply':
        this.options.tried?.('ok');
        journey.end(answer);
        return;
      case 'busy':
        this.refuse(journey, group, busy());
        return;
      case 'lost':
      case 'late':
        if (answer.unknown) journey.unknown = true;
        this.retry(journey, group);
        return;
      case 'elsewhere':
        this.retry(journey, group);
    }
  }

  /** Ends a journey with a refusal; but what an earlier attempt may have done has to be found out first. */
  private refuse(journey: Journey, group: GroupId, reply: Reply): void {
    if (journey.unknown) {
      this.retry(journey, group);
      return;
    }
    this.options.tried?.('failed');
    journey.end({ kind: 'reply', reply });
  }

  private take(from: NodeId, payload: Uint8Array): Promise<Uint8Array> | Uint8Array {
    const request = decodeRequest(payload);
    const underWay = this.underWay.of(from, request.epoch, request.group);
    const first = underWay.get(request.sequence);
    if (first !== undefined) return first;
    if (!this.hasRoom(payload)) return encodeAnswer({ kind: 'busy' });
    const answer = this.carryOut(from, request, payload.length, request.group).finally(() =>
      underWay.delete(request.sequence),
    );
    underWay.set(request.sequence, answer);
    return answer;
  }

  private takeForNode(from: NodeId, payload: Uint8Array): Promise<Uint8Array> | Uint8Array {
    const request = decodeRequest(payload);
    if (!this.hasRoom(payload)) return encodeAnswer({ kind: 'busy' });
    return this.carryOut(from, { ...request, scope: { kind: 'node', id: null } }, payload.length, null);
  }

  private hasRoom({ length }: Uint8Array): boolean {
    return this.taken < TAKEN_MAX && this.takenBytes + length <= TAKEN_BYTES_MAX;
  }

  private carryOut(
    from: NodeId,
    request: ForwardedRequest,
    bytes: number,
    group: GroupId | null,
  ): Promise<Uint8Array> {
    const { delay, monotonic, rootSession } = this.options;
    const deadline = monotonic() + request.deadlineMs;
    this.taken += 1;
    this.takenBytes += bytes;
    return new Promise((resolve) => {
      let begun = false;
      const done = (end: End): void => {
        this.taken -= 1;
        this.takenBytes -= bytes;
        resolve(encodeAnswer(end));
      };
      const cancel = delay(request.deadlineMs, () => {
        if (begun) return;
        begun = true;
        done({ kind: 'late', unknown: false });
      });
      // What the sender knew about users and collections this node must know as well.
      rootSession().whenApplied(request.rootIndex, () => {
        if (begun) return;
        begun = true;
        cancel();
        this.start(from, request, group, deadline, done);
      });
    });
  }

  private start(
    from: NodeId,
    message: ForwardedRequest,
    group: GroupId | null,
    deadline: number,
    onEnd: (end: End) => void,
  ): void {
    const { root, decodeBody, begin, ended } = this.options;
    const { user: userId, scope, format, key, id, epoch, sequence, low } = message;
    const user = root.users.get(userId);
    if (user === undefined) {
      onEnd({ kind: 'reply', reply: { ok: false, error: USER_GONE } });
      return;
    }
    try {
      const body = decodeBody(Buffer.from(message.body));
      const terms = key === null ? null : { stale: false, minIndex: 0, key };
      const request = { scope, user, body, format, client: STAYS, terms, ...(id === null ? {} : { id }) };
      const forwarded = { origin: from, epoch, sequence, low };
      const journey = new Journey({
        request,
        forwarded,
        group,
        deadline,
        onEnd: (end) => {
          ended(journey);
          onEnd(end);
        },
      });
      begin(journey);
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      onEnd({ kind: 'reply', reply: { ok: false, error } });
    }
  }
}

/** Another node waits as long as its deadline. */
const STAYS: Client = { gone: false };

const USER_GONE = new QueryError(ErrorCode.AUTH, 'the user was deleted');

function nodeError(message: string): Reply {
  return { ok: false, error: new QueryError(ErrorCode.NODE, message) };
}

function busy(): Reply {
  return nodeError('too many requests wait for another node: try again');
}

function refused(error: CallError): Reply {
  return nodeError(`another node refused the request: ${error.message}`);
}

function nodeSilent(): Reply {
  return nodeError('the node can not be reached: try again later');
}
