/**
 * An empty node that was started with a one-time secret gets the secret of a cluster. It listens
 * on its node port with a key made of the one-time secret; a member that knows it, from `new_node()`, proves so,
 * as nodes do (greeting.ts), and hands over the secret of the cluster. From then on the node talks with that
 * one only, and is invited as any other.
 *
 * All this is encrypted (encryption.ts), on loopback, too, and with `peer_tls = off`: what travels is the
 * secret. It is as safe as the one-time secret is hard to guess: who guesses that, and stands in between, could
 * pass for either side.
 */

import { messageOf } from '../../base/error-text.js';
import { isFitSecret } from '../../between/cluster-secret.js';
import { AskError } from '../questions.js';
import { Transport, type TransportOptions } from '../transport.js';
import { decodeAnswer, decodeQuestion, encodeAnswer, encodeQuestion } from './formation-messages.js';

/** The node that adopts, or is adopted, as its transport has it. */
export type AdoptionSelf = Pick<TransportOptions, 'self' | 'bind' | 'log'>;

export interface AdoptionOptions extends AdoptionSelf {
  /** The one-time secret that this node was started with. */
  readonly secret: string;
  /** Called for every stranger that was refused. */
  readonly onRefused: NonNullable<TransportOptions['onRefused']>;
  /**
   * Makes the secret of the cluster this node's own, durably. Called once, unless it throws.
   *
   * @throws Error what the member is told
   */
  readonly adopt: (clusterSecret: string) => void;
  /** Takes an invitation of a cluster that has the same secret as this node was started with. */
  readonly invited: TransportOptions['onAsk'];
}

/** Time for the handing over, in milliseconds. */
const ANSWER_MS = 2000;

/** The waiting of a node for the secret of its cluster. */
export class Adoption {
  private readonly transport: Transport;
  private isOver = false;

  constructor(private readonly options: AdoptionOptions) {
    this.transport = transportOf(options.secret, options, {
      onAsk: (question, answer) => this.question(question, answer),
      onRefused: options.onRefused,
    });
  }

  /** @throws ConfigurationError when the port is in use */
  async listen(): Promise<void> {
    await this.transport.listen();
  }

  /** Others are heard no more; what was answered is sent. */
  close(): Promise<void> {
    return this.transport.close();
  }

  private question(bytes: Buffer, answer: (reply: Uint8Array) => void): void {
    const question = decodeQuestion(bytes);
    if (question?.kind === 'invite') {
      // The cluster's own secret is what this node was started with.
      const problem = this.take(this.options.secret);
      if (problem === null) this.options.invited(bytes, answer);
      else answer(encodeAnswer({ kind: 'declined', reason: problem }));
    } else if (question?.kind === 'adopt') {
      const problem = this.take(question.secret);
      answer(encodeAnswer(problem === null ? { kind: 'done' } : { kind: 'declined', reason: problem }));
    } else answer(encodeAnswer({ kind: 'unknown' }));
  }

  private take(clusterSecret: string): string | null {
    if (this.isOver) return 'the node just got the secret of a cluster';
    if (!isFitSecret(clusterSecret)) return 'that is no secret of a cluster: it has 16 to 1024 characters';
    try {
      this.options.adopt(clusterSecret);
    } catch (error) {
      return `the node can not keep the secret: ${messageOf(error)}`;
    }
    this.isOver = true;
    return null;
  }
}

/**
 * Hands the secret of the cluster over to a node that waits with a one-time secret.
 *
 * @returns null when it has it; else why not, and whether that may be because it has it already
 */
export async function handOver(
  place: { readonly host: string; readonly port: number },
  oneTimeSecret: string,
  clusterSecret: string,
  self: AdoptionSelf,
): Promise<{ readonly problem: string; readonly isKnown: boolean } | null> {
  const transport = transportOf(oneTimeSecret, { ...self, log: () => {} }, { onAsk: () => {} });
  try {
    const question = encodeQuestion({ kind: 'adopt', secret: clusterSecret });
    const answer = decodeAnswer(await transport.ask(place.host, place.port, question, ANSWER_MS));
    if (answer?.kind === 'done') return null;
    const problem =
      answer?.kind === 'declined' ? answer.reason : 'the node there does not understand one-time secrets';
    return { problem, isKnown: true };
  } catch (error) {
    if (!(error instanceof AskError)) throw error;
    const isOther = error.reason === 'refused';
    const problem = isOther ? 'it was started with another secret, or is no empty node' : error.message;
    return { problem, isKnown: isOther };
  } finally {
    await transport.close();
  }
}

/** Talks with a one-time secret, encrypted. */
function transportOf(
  secret: string,
  own: AdoptionSelf,
  handlers: Pick<TransportOptions, 'onAsk' | 'onRefused'>,
): Transport {
  const nothing = (): void => {};
  return new Transport({
    self: own.self,
    bind: own.bind,
    log: own.log,
    ...handlers,
    secret,
    tls: null,
    encryption: 'on',
    heartbeatMs: ANSWER_MS,
    silenceMs: ANSWER_MS,
    onFrame: nothing,
    onPeer: nothing,
    onRemoved: nothing,
    onSuperseded: nothing,
  });
}
