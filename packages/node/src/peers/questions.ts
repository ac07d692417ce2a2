import type { NetworkAddress } from '../between/protocol.js';
import type { Channel } from './channel.js';
import { dial } from './dial.js';
import { FrameKind } from './frame.js';
import { Purpose } from './greeting-format.js';
import { type Missed, missText, plainText } from './missed.js';

/** Questions that wait for an answer at a time. */
const ASKED_MAX = 64;

/** Time that a question may wait for its answer, in milliseconds. */
const ASKED_MS = 60_000;

/** Why a question got no answer. */
export class AskError extends Error {
  override readonly name = 'AskError';
  readonly reason: 'unreachable' | 'timeout' | 'refused';

  constructor(reason: AskError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface QuestionsOptions {
  /** The way to dial a node; null when this one talks to nobody. */
  readonly request: (place: NetworkAddress, purpose: Purpose) => Parameters<typeof dial>[0] | null;
  readonly missed: (place: NetworkAddress, outcome: Missed) => void;
  readonly onAsk: (question: Buffer, answer: (reply: Uint8Array) => void) => void;
}

/**
 * Questions from node to node on connections of their own, for nodes that are in no cluster yet: asked and
 * answered once.
 */
export class Questions {
  private readonly asks = new Set<() => void>();
  /** Connections with a question that is not answered, and how each is given up. */
  private readonly asked = new Map<Channel, () => void>();

  constructor(private readonly options: QuestionsOptions) {}

  /** True if as many questions of others wait as may. */
  get isFull(): boolean {
    return this.asked.size >= ASKED_MAX;
  }

  /**
   * Asks a node.
   *
   * @throws AskError
   */
  ask(host: string, port: number, question: Uint8Array, timeoutMs: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const request = this.options.request({ host, port }, Purpose.Ask);
      if (request === null) {
        reject(new AskError('refused', 'this node has no cluster_secret, or ends'));
        return;
      }
      let channel: Channel | null = null;
      const over = (): void => {
        clearTimeout(timer);
        cancel();
        channel?.destroy();
        this.asks.delete(abort);
      };
      const fail = (error: AskError): void => {
        over();
        reject(error);
      };
      const abort = (): void => fail(new AskError('unreachable', 'this node ends'));
      const timer = setTimeout(
        () => fail(new AskError('timeout', `no answer within ${timeoutMs} ms`)),
        timeoutMs,
      );
      const cancel = dial(request, (outcome) => {
        if (outcome.kind !== 'open') {
          this.options.missed({ host, port }, outcome);
          fail(askErrorOf(outcome));
          return;
        }
        channel = outcome.channel;
        channel.onEnd = (error) =>
          fail(new AskError('unreachable', error?.message ?? 'the connection was closed'));
        channel.onFrame = (kind, payload) => {
          if (kind !== FrameKind.Answer) return;
          over();
          resolve(Buffer.from(payload));
        };
        channel.send(FrameKind.Question, question);
      });
      this.asks.add(abort);
    });
  }

  /** Takes the question of a connection that was made for one. */
  take(channel: Channel): void {
    const over = (): void => {
      clearTimeout(timer);
      this.asked.delete(channel);
    };
    const timer = setTimeout(() => {
      over();
      channel.destroy();
    }, ASKED_MS);
    this.asked.set(channel, over);
    let isAsked = false;
    channel.onEnd = over;
    channel.onFrame = (kind, question) => {
      if (kind !== FrameKind.Question || isAsked) return;
      isAsked = true;
      this.options.onAsk(Buffer.from(question), (reply) => {
        if (!this.asked.has(channel)) return;
        over();
        channel.send(FrameKind.Answer, reply);
        channel.end();
      });
    };
  }

  /** Gives up all of them. */
  close(): void {
    for (const abort of [...this.asks]) abort();
    for (const [channel, over] of [...this.asked]) {
      over();
      channel.destroy();
    }
  }
}

function askErrorOf(outcome: Missed): AskError {
  if (outcome.kind === 'refused') return new AskError('refused', missText(outcome).message);
  return new AskError('unreachable', plainText(outcome.error));
}
