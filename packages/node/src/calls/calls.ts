/**
 * Questions from the engine side of one node to that of another.
 *
 *   call   := kind:u8 payload
 *   return := outcome:u8 payload        outcome: 0 answered, 1 refused (payload: why, as text)
 */

import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/error-text.js';
import { NumberTable } from '../base/number-table.js';
import { Slab } from '../base/slab.js';
import type { Command, Event, NodeId, PreparedAnswer } from '../between/protocol.js';

export const CallKind = {
  Forward: 1,
  Snapshot: 2,
  Handover: 3,
  NodeRequest: 4,
  Member: 5,
  StateCheck: 7,
  Leave: 8,
  Import: 9,
  Rest: 10,
  Replace: 11,
  RootApplied: 12,
  ReadLog: 13,
} as const;

export type CallKind = (typeof CallKind)[keyof typeof CallKind];

/** No answer came. Unless it was refused, the other node may or may not have done what was asked. */
export class CallError extends Error {
  readonly reason: 'unreachable' | 'timeout' | 'refused';

  constructor(reason: CallError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export type CallHandler = (from: NodeId, payload: Uint8Array) => Uint8Array | Promise<Uint8Array>;

/** Answers a call, now or later. */
export type DirectHandler = (from: NodeId, payload: Uint8Array, call: OpenCall) => void;

/** A call of another node that is not answered yet. */
export class OpenCall {
  constructor(
    private readonly options: Pick<CallsOptions, 'send'>,
    private readonly slab: Slab,
    private readonly to: NodeId,
    private readonly id: number,
  ) {}

  /**
   * Answers it, once.
   *
   * @param bytes are copied
   */
  answer(bytes: Uint8Array): void {
    this.return(ANSWERED, bytes);
  }

  refuse(error: unknown): void {
    this.return(REFUSED, Buffer.from(messageOf(error)));
  }

  /**
   * Makes the answer that goes along with a proposal: with what is committed it is answered.
   *
   * @param bytes but for the index, which comes behind the first two of them; they are copied
   */
  prepare(bytes: Uint8Array): PreparedAnswer {
    return { to: this.to, id: this.id, payload: this.slab.copyBehind(ANSWERED, bytes) };
  }

  private return(outcome: number, answer: Uint8Array): void {
    const payload = this.slab.copyBehind(outcome, answer);
    this.options.send({ kind: 'return', to: this.to, id: this.id, payload });
  }
}

/** The asker of another node. One of the two is called, once. */
export interface Asker {
  /** @param bytes gone after a while */
  answered(bytes: Uint8Array): void;
  failed(error: CallError): void;
}

export interface CallsOptions {
  readonly send: (command: Command) => void;
  readonly clock: Pick<Clock, 'after'>;
  /**
   * Number of the first call; 1 by default. An answer to an earlier start of this node may still come, so
   * each start needs numbers that no earlier one had.
   */
  readonly firstId?: number;
}

/** Time between two looks at whether calls got no answer in time, in milliseconds. */
const LOOK_MS = 50;

interface Pending {
  /** Looks that the answer may still take. */
  looks: number;
  readonly timeoutMs: number;
  readonly asker: Asker;
}

export class Calls {
  private readonly pending = new NumberTable<Pending>();
  private readonly handlers = new Map<number, CallHandler>();
  private readonly directHandlers = new Map<number, DirectHandler>();
  private readonly slab = new Slab();
  private nextId: number;
  private watching = false;

  constructor(private readonly options: CallsOptions) {
    this.nextId = options.firstId ?? 1;
  }

  /** Says who answers calls of a kind. What a handler throws is told to the caller as refusal. */
  serve(kind: CallKind, handler: CallHandler): void {
    this.handlers.set(kind, handler);
  }

  /**
   * Says who answers calls of a kind that come often: without promises. What such a handler throws is told to
   * the caller as refusal.
   */
  serveDirectly(kind: CallKind, handler: DirectHandler): void {
    this.directHandlers.set(kind, handler);
  }

  /**
   * Asks another node.
   *
   * @param rest the end of a large payload, which is given away with the buffer that it lies in
   * @throws CallError
   */
  call(
    to: NodeId,
    kind: CallKind,
    payload: Uint8Array,
    timeoutMs: number,
    rest?: Uint8Array<ArrayBuffer>,
  ): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.ask(to, kind, payload, timeoutMs, { answered: resolve, failed: reject }, rest);
    });
  }

  /**
   * Asks another node, as `call` does, without a promise.
   *
   * @param payload is copied
   */
  ask(
    to: NodeId,
    kind: CallKind,
    payload: Uint8Array,
    timeoutMs: number,
    asker: Asker,
    rest?: Uint8Array<ArrayBuffer>,
  ): void {
    const id = this.nextId++;
    this.pending.set(id, { looks: Math.ceil(timeoutMs / LOOK_MS) + 1, timeoutMs, asker });
    this.watch();
    const call = { kind: 'call', to, id, payload: this.slab.copyBehind(kind, payload) } as const;
    this.options.send(rest === undefined ? call : { ...call, rest });
  }

  /** Looks at all calls now and then, which is cheaper than a timer for each. */
  private watch(): void {
    if (this.watching) return;
    this.watching = true;
    this.options.clock.after(LOOK_MS, () => {
      this.watching = false;
      for (const [id, pending] of this.pending.entries()) {
        pending.looks -= 1;
        if (pending.looks > 0) continue;
        if (!this.pending.delete(id)) continue;
        const took = `no answer within ${Math.round(pending.timeoutMs)} ms`;
        pending.asker.failed(new CallError('timeout', took));
      }
      if (this.pending.size > 0) this.watch();
    });
  }

  handle(event: Extract<Event, { readonly kind: 'called' | 'returned' }>): void {
    if (event.kind === 'returned') {
      const pending = this.pending.get(event.id);
      if (pending === undefined) return;
      this.pending.delete(event.id);
      settle(pending.asker, event.payload);
      return;
    }
    const { from, id, payload } = event;
    const call = new OpenCall(this.options, this.slab, from, id);
    const direct = this.directHandlers.get(payload[0] ?? 0);
    if (direct === undefined) {
      this.answer(from, payload).then(
        (answer) => call.answer(answer),
        (error: unknown) => call.refuse(error),
      );
      return;
    }
    try {
      direct(from, payload.subarray(1), call);
    } catch (error) {
      call.refuse(error);
    }
  }

  private async answer(from: NodeId, payload: Uint8Array): Promise<Uint8Array> {
    const handler = this.handlers.get(payload[0] ?? 0);
    if (handler === undefined) throw new Error('this version does not know such calls');
    return handler(from, payload.subarray(1));
  }
}

function settle(asker: Asker, answer: Uint8Array | null): void {
  if (answer === null || answer.length === 0) {
    asker.failed(new CallError('unreachable', 'the node can not be reached'));
  } else if (answer[0] === ANSWERED) {
    asker.answered(answer.subarray(1));
  } else {
    asker.failed(new CallError('refused', Buffer.from(answer.subarray(1)).toString('utf8')));
  }
}

const ANSWERED = 0;
const REFUSED = 1;
