/**
 * Questions from the engine side of one node to that of another.
 *
 *   call   := kind:u8 payload
 *   return := outcome:u8 payload        outcome: 0 answered, 1 refused (payload: why, as text)
 */

import { NumberTable } from '../base/number-table.js';
import type { Command, Event, NodeId } from '../between/protocol.js';

export const CallKind = {
  Forward: 1,
  Snapshot: 2,
  Handover: 3,
  NodeRequest: 4,
  Member: 5,
  Restore: 6,
  StateCheck: 7,
  Leave: 8,
  Import: 9,
  Rest: 10,
  Replace: 11,
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

export interface CallsOptions {
  readonly send: (command: Command) => void;
  /** Calls back after some milliseconds, unless it is called off by the function that it returns. */
  readonly delay: (ms: number, callback: () => void) => () => void;
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
  readonly expire: () => void;
  readonly settle: (payload: Uint8Array | null) => void;
}

export class Calls {
  private readonly options: CallsOptions;
  private readonly pending = new NumberTable<Pending>();
  private readonly handlers = new Map<number, CallHandler>();
  private nextId: number;
  private watching = false;

  constructor(options: CallsOptions) {
    this.options = options;
    this.nextId = options.firstId ?? 1;
  }

  /** Says who answers calls of a kind. What a handler throws is told to the caller as refusal. */
  serve(kind: CallKind, handler: CallHandler): void {
    this.handlers.set(kind, handler);
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
    const id = this.nextId++;
    const message = new Uint8Array(payload.length + 1);
    message[0] = kind;
    message.set(payload, 1);
    return new Promise((resolve, reject) => {
      const expire = (): void =>
        reject(new CallError('timeout', `no answer within ${Math.round(timeoutMs)} ms`));
      const settle = (answer: Uint8Array | null): void => {
        if (answer === null || answer.length === 0) {
          reject(new CallError('unreachable', 'the node can not be reached'));
        } else if (answer[0] === ANSWERED) {
          resolve(answer.subarray(1));
        } else {
          reject(new CallError('refused', Buffer.from(answer.subarray(1)).toString('utf8')));
        }
      };
      this.pending.set(id, { looks: Math.ceil(timeoutMs / LOOK_MS) + 1, expire, settle });
      this.watch();
      this.options.send({ kind: 'call', to, id, payload: message, ...(rest === undefined ? {} : { rest }) });
    });
  }

  /** Looks at all calls now and then, which is cheaper than a timer for each. */
  private watch(): void {
    if (this.watching) return;
    this.watching = true;
    this.options.delay(LOOK_MS, () => {
      this.watching = false;
      for (const [id, pending] of this.pending.entries()) {
        pending.looks -= 1;
        if (pending.looks > 0) continue;
        this.pending.delete(id);
        pending.expire();
      }
      if (this.pending.size > 0) this.watch();
    });
  }

  handle(event: Extract<Event, { readonly kind: 'called' | 'returned' }>): void {
    if (event.kind === 'returned') {
      const pending = this.pending.get(event.id);
      this.pending.delete(event.id);
      pending?.settle(event.payload);
      return;
    }
    const { from, id, payload } = event;
    this.answer(from, payload).then(
      (answer) => this.return(from, id, ANSWERED, answer),
      (error: unknown) =>
        this.return(from, id, REFUSED, Buffer.from(error instanceof Error ? error.message : String(error))),
    );
  }

  private async answer(from: NodeId, payload: Uint8Array): Promise<Uint8Array> {
    const handler = this.handlers.get(payload[0] ?? 0);
    if (handler === undefined) throw new Error('this version does not know such calls');
    return handler(from, payload.subarray(1));
  }

  private return(to: NodeId, id: number, outcome: number, answer: Uint8Array): void {
    const payload = new Uint8Array(answer.length + 1);
    payload[0] = outcome;
    payload.set(answer, 1);
    this.options.send({ kind: 'return', to, id, payload });
  }
}

const ANSWERED = 0;
const REFUSED = 1;
