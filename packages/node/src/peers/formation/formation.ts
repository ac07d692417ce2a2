/**
 * A node's way to its cluster, and its answers to others that are on theirs. How it is used, in the consensus
 * thread:
 *
 *   const file = await ClusterFile.open(await NodeDisk.make(folder), Date.now());
 *   const transport = new Transport({ self: { incarnation: file.incarnation, ... },
 *     onAsk: (question, answer) => formation.question(question, answer), ... });
 *   await transport.listen();
 *   const formation = form({ store: file, ask: transport.ask.bind(transport), ... });
 *   const record = await formation.formed;          // may take for ever; rejects with RemovedError
 *   transport.setCluster(record.clusterId);
 *   ...
 *   formation.close();                              // before the transport
 *
 * The protocol is in formation-core.ts, its messages in formation-messages.ts.
 */

import { isDiskFull } from '@althing/storage';
import { Deferred } from '../../base/deferred.js';
import type { Identity } from '../../base/identity.js';
import type { ClusterRecord, ClusterState, Founder } from '../../between/cluster-record.js';
import type { JoinAnswer, Joiner, NodeId } from '../../between/protocol.js';
import { ExitCode } from '../../config/exit-codes.js';
import { FormationCore, type FormationEffect } from './formation-core.js';
import {
  decodeAnswer,
  decodeQuestion,
  encodeAnswer,
  encodeQuestion,
  type FormationAnswer,
  type FormationQuestion,
} from './formation-messages.js';
import { slotsOf } from './slots.js';

export interface FormationOptions {
  /** With the id of the cluster that this node may found. */
  readonly identity: Identity;
  /** The name at which other nodes reach this one: `node_name`. */
  readonly name: string;
  /** The highest level of a cluster that the software knows. */
  readonly level: number;
  /** Where others reach this node; the port is `listen_node_port`. */
  readonly address: { readonly host: string; readonly port: number };
  /**
   * The setting `cluster`. Empty: this node founds a cluster of its own at once, unless it waits for an
   * invitation.
   */
  readonly expected: readonly string[];
  /** Default false. */
  readonly waitForInvitation?: boolean;
  readonly store: ClusterStore;
  /** `Transport.ask`. */
  readonly ask: (host: string, port: number, question: Uint8Array, timeoutMs: number) => Promise<Buffer>;
  /** Asks the members service whether a node may join. */
  readonly askToJoin: (joiner: Joiner) => Promise<JoinAnswer>;
  readonly log: (level: 'info' | 'warn', message: string) => void;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Calls back after some milliseconds, unless it is called off by the function that it returns. */
  readonly delay: (ms: number, callback: () => void) => () => void;
  /** A random number from 0 to 1, 1 excluded. */
  readonly random: () => number;
}

/** Keeps what a node knows of its cluster; `ClusterFile` is one. */
export interface ClusterStore {
  load(): ClusterState;
  /** Resolves when it is durable. */
  save(state: ClusterState): Promise<void>;
}

/**
 * This node was removed from its cluster. Its data are kept; to join again, it needs an empty data folder.
 */
export class RemovedError extends Error {
  override readonly name = 'RemovedError';
  readonly exitCode = ExitCode.DataDamaged;

  constructor(
    /** The node that asked. */
    readonly nodeId: number,
  ) {
    super(
      'this node was removed from its cluster: start it with an empty data folder to join again as a new member',
    );
  }
}

/** The outcome of an invitation. */
export interface InviteAnswer {
  /** The reason why the node does not come; null: it will ask to join. */
  readonly problem: string | null;
  /** The node that declined, where it says who it is: it may be a member already. */
  readonly node?: NodeId;
}

/**
 * Asks a node outside of the cluster to join it, by way of the member at `member`.
 *
 * @param number of the invitation, which the node names when it asks to join
 * @throws AskError
 */
export async function invite(
  ask: FormationOptions['ask'],
  place: { readonly host: string; readonly port: number },
  member: { readonly host: string; readonly port: number },
  number: number,
): Promise<InviteAnswer> {
  const question = encodeQuestion({ kind: 'invite', host: member.host, port: member.port, number });
  const answer = decodeAnswer(await ask(place.host, place.port, question, ANSWER_MS));
  if (answer?.kind === 'done') return { problem: null };
  if (answer?.kind !== 'declined') return { problem: 'the node there does not understand invitations' };
  const hello = decodeAnswer(await ask(place.host, place.port, encodeQuestion({ kind: 'hello' }), ANSWER_MS));
  const { reason: problem } = answer;
  return hello?.kind === 'hello' ? { problem, node: hello.self.nodeId } : { problem };
}

/** Time for an answer, and for the answer to a node that wants to join, in milliseconds. */
const ANSWER_MS = 2000;
const JOIN_ANSWER_MS = 15_000;

/** Pause before what had no room is written again, in milliseconds. */
const SAVE_AGAIN_MS = 1000;

const NODE_ID_MAX = 2 ** 48 - 1;
const NAME_LENGTH_MAX = 255;

export class Formation {
  private readonly outcome = new Deferred<ClusterRecord>();
  private readonly core: FormationCore;
  private readonly replies = new Map<number, (answer: FormationAnswer) => void>();
  private nextReply = 1;
  private record: ClusterRecord | null = null;
  private cancelWake: (() => void) | null = null;
  private closed = false;

  /** @throws ConfigurationError when `expected` names a node twice */
  constructor(private readonly options: FormationOptions) {
    const { identity, name, address, store } = options;
    this.core = new FormationCore({
      self: { nodeId: identity.nodeId, name, ...address, seed: identity.clusterId },
      level: options.level,
      slots: slotsOf(options.expected, name, address.port),
      state: store.load(),
      waitForInvitation: options.waitForInvitation ?? false,
      random: options.random,
    });
    // A caller that waits for it hears of it; that none does is no reason to end the process.
    this.formed.catch(() => {});
    this.wake();
  }

  /** The node belongs to a cluster. Rejects with RemovedError, or an error of the disk; never after `close`. */
  get formed(): Promise<ClusterRecord> {
    return this.outcome.promise;
  }

  /** Answers a question of another node, before this node belongs to a cluster and after it. */
  question(bytes: Uint8Array, answer: (reply: Uint8Array) => void): void {
    if (this.closed) return;
    const id = this.nextReply++;
    this.replies.set(id, (reply) => answer(encodeAnswer(reply)));
    this.core.question(id, decodeQuestion(bytes), this.options.now());
    this.act();
  }

  /** Nothing is asked and answered any more. */
  close(): void {
    this.closed = true;
    this.cancelWake?.();
    this.replies.clear();
  }

  private wake(): void {
    this.cancelWake = null;
    this.core.wake(this.options.now());
    this.act();
  }

  private act(): void {
    for (let effects = this.core.take(); effects.length > 0; effects = this.core.take()) {
      for (const effect of effects) this.do(effect);
    }
    this.cancelWake?.();
    this.cancelWake = null;
    const at = this.core.wakeAt;
    if (at === null || this.closed) return;
    this.cancelWake = this.options.delay(Math.max(0, at - this.options.now()), () => this.wake());
  }

  private do(effect: FormationEffect): void {
    switch (effect.kind) {
      case 'ask':
        this.ask(effect.id, effect.place, effect.question);
        break;
      case 'save':
        this.save(effect.state);
        break;
      case 'reply':
        this.reply(effect.to, effect.answer);
        break;
      case 'admit':
        this.admit(effect.to, effect.joiner);
        break;
      case 'formed':
        this.record = effect.record;
        this.outcome.resolve(effect.record);
        break;
      case 'removed':
        this.outcome.reject(new RemovedError(this.options.identity.nodeId));
        break;
      case 'log':
        this.options.log(effect.level, effect.message);
        break;
    }
  }

  /** Nothing is promised to others before it is durable: on a full disk that waits until there is room. */
  private save(state: ClusterState): void {
    const { store, now, delay, log } = this.options;
    store.save(state).then(
      () => {
        if (this.closed) return;
        this.core.saved(now());
        this.act();
      },
      (error: unknown) => {
        if (!isDiskFull(error)) {
          this.outcome.reject(error);
          return;
        }
        log('warn', 'the disk has no room to note which cluster this node belongs to: it is tried again');
        delay(SAVE_AGAIN_MS, () => {
          if (!this.closed) this.save(state);
        });
      },
    );
  }

  private ask(id: number, { host, port }: { host: string; port: number }, question: FormationQuestion): void {
    const timeoutMs = question.kind === 'join' ? JOIN_ANSWER_MS : ANSWER_MS;
    const settle = (answer: FormationAnswer | null): void => {
      if (this.closed) return;
      this.core.answered(id, answer, this.options.now());
      this.act();
    };
    this.options.ask(host, port, encodeQuestion(question), timeoutMs).then(
      (reply) => settle(decodeAnswer(reply)),
      () => settle(null),
    );
  }

  private reply(to: number, answer: FormationAnswer): void {
    const reply = this.replies.get(to);
    this.replies.delete(to);
    reply?.(answer);
  }

  private admit(to: number, joiner: Joiner): void {
    const { record } = this;
    if (record === null || !isJoiner(joiner)) {
      this.reply(to, { kind: 'refused', reason: 'the node does not say who and where it is' });
      return;
    }
    this.options.askToJoin(joiner).then(
      (answer) => {
        const accepted = answer.kind === 'accepted';
        this.reply(to, accepted ? { kind: 'accepted', clusterId: record.clusterId } : answer);
      },
      () => this.reply(to, { kind: 'wait', reason: 'the member that was asked can not tell now' }),
    );
  }
}

function isJoiner({ nodeId, name, host, port }: Founder): boolean {
  return (
    nodeId >= 1 &&
    nodeId <= NODE_ID_MAX &&
    port >= 1 &&
    port <= 65535 &&
    [name, host].every((text) => text.length > 0 && text.length <= NAME_LENGTH_MAX)
  );
}
