/**
 * Nodes come to belong to exactly one cluster, as a state machine without time, disk and network of its
 * own.
 *
 * A node that belongs to none asks all that `cluster` names. Is one of them a member of a cluster, it asks to
 * join that. Are all of them there, and none is a member, the one in the first slot proposes a cluster of
 * exactly these nodes, and founds it when each of them has promised, durably, to be part of that one and of
 * none with a lower round.
 *
 * Why there are never two, as long as no two processes answer in the same slot:
 *  - A cluster is founded by its proposer only, and only if all its founders have promised it.
 *  - Who is a member promises nothing. Who has promised a higher round takes no part in a lower one, unless a
 *    member says that it was founded.
 *  - Only who is in the first slot proposes: the proposer of an older proposal either is the same node, and
 *    has given that up durably, or its disk is lost.
 *  - So if a cluster was founded and any of its founders knows it, that one's promise is missing for any
 *    other.
 *  - What a node hears counts only if its own state is the same as when it asked.
 */
import type { ClusterRecord, ClusterState, Founder, Proposal } from '../../between/cluster-record.js';
import type { Joiner, NetworkAddress } from '../../between/protocol.js';
import type { FormationAnswer, FormationQuestion } from './formation-messages.js';
import { areSame, clusterIdOf, type Hello, hexOf, isAt, isSameId, problemOf } from './founding.js';
import type { Slots } from './slots.js';

/** Effects that the owner carries out. */
export type FormationEffect =
  /** `answered` follows. */
  | {
      readonly kind: 'ask';
      readonly id: number;
      readonly place: NetworkAddress;
      readonly question: FormationQuestion;
    }
  /** `saved` follows, when it is durable. There is one at a time. */
  | { readonly kind: 'save'; readonly state: ClusterState }
  | { readonly kind: 'reply'; readonly to: number; readonly answer: FormationAnswer }
  /** Somebody wants to join the cluster of this node: the answer is to be found elsewhere. */
  | { readonly kind: 'admit'; readonly to: number; readonly joiner: Joiner }
  | { readonly kind: 'formed'; readonly record: ClusterRecord }
  /** This node was a member once and is none any more. */
  | { readonly kind: 'removed' }
  | { readonly kind: 'log'; readonly level: 'info' | 'warn'; readonly message: string };

export interface FormationSelf {
  readonly nodeId: number;
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** 16 random bytes of this node: the id of a cluster that it founds alone, and what others are made of. */
  readonly seed: Uint8Array;
}

export interface FormationCoreOptions {
  readonly self: FormationSelf;
  /** The highest level of a cluster that the software knows. */
  readonly level: number;
  readonly slots: Slots;
  readonly state: ClusterState;
  /** True if a node without slots waits to be invited, where it would else found a cluster alone. */
  readonly waitForInvitation: boolean;
  /** A random number from 0 to 1, 1 excluded. */
  readonly random: () => number;
}

const POLL_FIRST_MS = 100;
const POLL_LAST_MS = 1000;
const JOIN_FIRST_MS = 50;
const JOIN_LAST_MS = 10_000;
const LOG_MS = 10_000;
const HOPS_MAX = 4;
const TRIES_MAX = 20;

export class FormationCore {
  private state: ClusterState;
  /** Rises with each change of the state. */
  private generation = 0;
  private saving: { readonly state: ClusterState; readonly after: () => void } | null = null;
  private readonly asked = new Map<number, (answer: FormationAnswer | null) => void>();
  private nextAsk = 1;
  private effects: FormationEffect[] = [];
  private now = 0;
  /** When something is to be done next; null while answers are waited for, and at the end. */
  private wakeAtMs: number | null = 0;
  private tries = 0;
  private joinTries = 0;
  private joining = false;
  /** The invitation that came last; null for none, and when the cluster has refused it. */
  private invitation: Invitation | null = null;
  private logAt = 0;

  constructor(private readonly options: FormationCoreOptions) {
    this.state = options.state;
  }

  /**
   * When `wake` is to be called, in the milliseconds that are handed to it; null: not before something else
   * happens.
   */
  get wakeAt(): number | null {
    return this.wakeAtMs;
  }

  /** The effects that are to be carried out, in order. */
  take(): FormationEffect[] {
    const { effects } = this;
    this.effects = [];
    return effects;
  }

  /** Time has come; the first call starts everything. */
  wake(now: number): void {
    this.now = now;
    if (this.wakeAtMs === null || now < this.wakeAtMs) return;
    this.wakeAtMs = null;
    if (this.state.kind === 'member') this.effects.push({ kind: 'formed', record: this.state.record });
    else if (this.saving !== null) this.retry(POLL_LAST_MS);
    else if (this.isAlone) this.foundAlone();
    else if (this.isForsaken) {
      this.wait(
        'this node has promised to found a cluster with others: set "cluster" as it was, or empty the data folder',
        'warn',
      );
    } else this.poll();
  }

  /** An answer has come, or none will (null). */
  answered(id: number, answer: FormationAnswer | null, now: number): void {
    this.now = now;
    const handle = this.asked.get(id);
    this.asked.delete(id);
    handle?.(answer);
  }

  /** The state that was to be saved is durable. */
  saved(now: number): void {
    this.now = now;
    const { saving } = this;
    if (saving === null) return;
    this.saving = null;
    this.state = saving.state;
    this.generation++;
    saving.after();
  }

  /** Somebody asks. `to` is repeated in the reply. */
  question(to: number, question: FormationQuestion | null, now: number): void {
    this.now = now;
    const reply = (answer: FormationAnswer): void => void this.effects.push({ kind: 'reply', to, answer });
    switch (question?.kind) {
      case 'hello':
        reply({ kind: 'hello', self: this.self, slots: this.options.slots.digest, state: this.state });
        break;
      case 'promise':
        this.promise(question.proposal, reply);
        break;
      case 'founded':
        this.learn(question.record, reply);
        break;
      case 'join':
        if (this.state.kind === 'member') this.effects.push({ kind: 'admit', to, joiner: question.joiner });
        else reply({ kind: 'wait', reason: 'the node is in no cluster yet' });
        break;
      case 'invite':
        this.beInvited(question, reply);
        break;
      case 'adopt':
        reply({ kind: 'declined', reason: 'the node has a cluster_secret' });
        break;
      default:
        reply({ kind: 'unknown' });
    }
  }

  private get self(): Founder {
    const { nodeId, name, host, port } = this.options.self;
    return { nodeId, name, host, port };
  }

  /** True if there are no others: then the cluster is founded at once. */
  private get isAlone(): boolean {
    return this.hasNoOthers && this.state.kind === 'empty';
  }

  /** True if there were others, and are none any more. */
  private get isForsaken(): boolean {
    return this.hasNoOthers && this.state.kind === 'promised';
  }

  private get hasNoOthers(): boolean {
    const { slots, waitForInvitation } = this.options;
    return slots.all.length === 0 ? !waitForInvitation : slots.all.length === 1 && slots.own === 0;
  }

  private foundAlone(): void {
    this.become({ clusterId: this.options.self.seed, founders: [this.self] }, () => {});
  }

  private poll(): void {
    const { all, own } = this.options.slots;
    const hellos: (Hello | null)[] = all.map(() => null);
    const asked = all.map((_, at) => at).filter((at) => at !== own);
    const { generation } = this;
    let left = asked.length;
    const done = (): void => {
      if (this.generation !== generation || this.saving !== null || this.joining) this.retry(POLL_FIRST_MS);
      else this.consider(hellos);
    };
    for (const at of asked) {
      this.ask(all[at]!, { kind: 'hello' }, (answer) => {
        hellos[at] = answer?.kind === 'hello' ? answer : null;
        if (--left === 0) done();
      });
    }
    if (left === 0) done();
  }

  /** All have answered or will not; this node's own slot is null. */
  private consider(hellos: readonly (Hello | null)[]): void {
    const { slots, self } = this.options;
    const members = hellos.filter(
      (hello) => hello?.state.kind === 'member' && hello.self.nodeId !== self.nodeId,
    );
    const records = members.flatMap((hello) => (hello?.state.kind === 'member' ? [hello.state.record] : []));
    if (new Set(records.map(({ clusterId }) => hexOf(clusterId))).size > 1) {
      this.wait('the nodes that "cluster" names belong to different clusters', 'warn');
      return;
    }
    const mine = records.find(({ founders }) => founders?.some(({ nodeId }) => nodeId === self.nodeId));
    if (mine !== undefined) {
      this.become(mine, () => {});
      return;
    }
    if (records.length > 0) {
      const places = slots.all.filter((_, at) => hellos[at]?.state.kind === 'member');
      this.join(places[Math.floor(this.options.random() * places.length)]!, records[0]!.clusterId, 0);
      return;
    }
    // A node that is not in the list founds nothing. The answer to its question may be lost after the cluster has taken it in: nobody
    // invites it again then.
    if (this.invitation !== null && slots.own < 0) {
      this.join(this.invitation, null, 0);
      return;
    }
    this.joinTries = 0;
    const problems = slots.all.flatMap((slot, at) =>
      at === slots.own ? [] : problemOf(slot, hellos[at] ?? null, self.nodeId, slots.digest),
    );
    const ids = new Set(hellos.map((hello) => hello?.self.nodeId ?? self.nodeId));
    if (problems.length > 0) this.wait(`waiting for ${problems.join(', ')}`, 'info');
    else if (slots.own < 0)
      this.wait('this node is not named in "cluster", and waits for a cluster to join', 'info');
    else if (ids.size < slots.all.length)
      this.wait('several entries of "cluster" lead to the same node', 'warn');
    else if (slots.own > 0)
      this.wait('all nodes are there; waiting for the first of them to found the cluster', 'info');
    else this.propose(hellos);
  }

  private propose(hellos: readonly (Hello | null)[]): void {
    const founders = this.options.slots.all.map(({ host, port }, at): Founder => {
      const { nodeId, name } = hellos[at]?.self ?? this.self;
      return { nodeId, name, host, port };
    });
    const others = hellos.flatMap((hello) =>
      hello?.state.kind === 'promised' ? [hello.state.proposal] : [],
    );
    const own = this.state.kind === 'promised' ? this.state.proposal : null;
    const isInForce = (proposal: Proposal): boolean =>
      areSame(proposal.founders, founders) &&
      others.every((other) => other.round < proposal.round || isSameId(other.clusterId, proposal.clusterId));
    if (own !== null && isInForce(own)) {
      this.collect(own);
      return;
    }
    const round = Math.max(0, own?.round ?? 0, ...others.map((other) => other.round));
    const clusterId = clusterIdOf(this.options.self.seed, round + 1, founders);
    const proposal: Proposal = { round: round + 1, clusterId, founders };
    this.save({ kind: 'promised', proposal }, () => this.collect(proposal));
  }

  /** Asks the others for their promises; with all of them the cluster is founded. */
  private collect(proposal: Proposal): void {
    const others = proposal.founders.slice(1);
    const { generation } = this;
    let left = others.length;
    let promised = 0;
    for (const place of others) {
      this.ask(place, { kind: 'promise', proposal }, (answer) => {
        if (answer?.kind === 'done') promised++;
        if (--left > 0) return;
        if (promised < others.length || this.generation !== generation || this.saving !== null) {
          this.retry(POLL_FIRST_MS);
          return;
        }
        const record = { clusterId: proposal.clusterId, founders: proposal.founders };
        this.become(record, () => {
          for (const other of others) this.ask(other, { kind: 'founded', record }, () => {});
        });
      });
    }
  }

  private promise(proposal: Proposal, reply: (answer: FormationAnswer) => void): void {
    const problem = this.objectionTo(proposal);
    if (problem !== null) {
      reply({ kind: 'declined', reason: problem });
    } else if (this.state.kind === 'promised' && this.state.proposal.round === proposal.round) {
      reply({ kind: 'done' });
    } else {
      this.save({ kind: 'promised', proposal }, () => reply({ kind: 'done' }));
    }
  }

  private objectionTo({ round, clusterId, founders }: Proposal): string | null {
    const { slots, self } = this.options;
    if (this.state.kind === 'member') return 'the node is in a cluster';
    if (this.saving !== null || this.joining) return 'the node is about to be in a cluster';
    if (slots.own < 1) return 'the node takes part in no proposal of others';
    const isMine = founders[slots.own]?.nodeId === self.nodeId;
    const isOurs =
      founders.length === slots.all.length && founders.every((founder, at) => isAt(founder, slots.all[at]!));
    if (!isMine || !isOurs) return 'the proposal is for other nodes';
    if (this.state.kind === 'empty') return null;
    const known = this.state.proposal;
    if (round > known.round || (round === known.round && isSameId(clusterId, known.clusterId))) return null;
    return 'a later proposal is known';
  }

  /** The proposer says that the cluster is founded. */
  private learn(record: ClusterRecord, reply: (answer: FormationAnswer) => void): void {
    if (this.state.kind === 'member' && isSameId(this.state.record.clusterId, record.clusterId)) {
      reply({ kind: 'done' });
    } else if (
      this.saving === null &&
      this.state.kind === 'promised' &&
      isSameId(this.state.proposal.clusterId, record.clusterId)
    ) {
      const { clusterId, founders } = this.state.proposal;
      this.become({ clusterId, founders }, () => reply({ kind: 'done' }));
    } else {
      reply({ kind: 'declined', reason: 'the node has promised no such thing' });
    }
  }

  private beInvited(invitation: Invitation, reply: (answer: FormationAnswer) => void): void {
    if (this.state.kind !== 'empty' || this.saving !== null) {
      const reason =
        this.state.kind === 'member'
          ? 'the node belongs to a cluster'
          : 'the node is about to found a cluster';
      reply({ kind: 'declined', reason });
      return;
    }
    reply({ kind: 'done' });
    this.invitation = invitation;
    if (!this.joining) this.join(invitation, null, 0);
  }

  /** @param clusterId the cluster that is to be joined; null: whichever it is */
  private join(place: NetworkAddress, clusterId: Uint8Array | null, hops: number): void {
    this.joining = true;
    this.wakeAtMs = null;
    const { generation, invitation } = this;
    const number = invitation?.number;
    const joiner = {
      ...this.self,
      level: this.options.level,
      ...(number === undefined ? {} : { invitation: number }),
    };
    this.ask(place, { kind: 'join', joiner }, (answer) => {
      if (this.generation !== generation || this.saving !== null) {
        this.joining = false;
        this.retry(POLL_LAST_MS);
        return;
      }
      if (answer?.kind === 'redirect' && hops < HOPS_MAX) {
        this.join(answer, clusterId, hops + 1);
        return;
      }
      this.joining = false;
      if (answer?.kind === 'removed') this.effects.push({ kind: 'removed' });
      else if (answer?.kind === 'accepted' && (clusterId === null || isSameId(answer.clusterId, clusterId))) {
        this.become({ clusterId: answer.clusterId, founders: null }, () => {});
      } else {
        const refused = answer?.kind === 'refused';
        if (refused && this.invitation === invitation) this.invitation = null;
        const why = refused || answer?.kind === 'wait' ? answer.reason : 'no answer';
        this.note(
          `asked ${place.host}:${place.port} to let this node join: ${why}`,
          refused ? 'warn' : 'info',
        );
        this.joinTries = Math.min(this.joinTries + 1, TRIES_MAX);
        this.retry(refused ? JOIN_LAST_MS : Math.min(JOIN_FIRST_MS * 2 ** this.joinTries, JOIN_LAST_MS));
      }
    });
  }

  private become(record: ClusterRecord, after: () => void): void {
    this.wakeAtMs = null;
    this.save({ kind: 'member', record }, () => {
      after();
      this.effects.push({ kind: 'formed', record });
    });
  }

  private save(state: ClusterState, after: () => void): void {
    this.saving = { state, after };
    this.effects.push({ kind: 'save', state });
  }

  private ask(
    place: NetworkAddress,
    question: FormationQuestion,
    handle: (answer: FormationAnswer | null) => void,
  ): void {
    const id = this.nextAsk++;
    this.asked.set(id, handle);
    this.effects.push({ kind: 'ask', id, place: { host: place.host, port: place.port }, question });
  }

  private wait(message: string, level: 'info' | 'warn'): void {
    this.note(message, level);
    this.tries = Math.min(this.tries + 1, TRIES_MAX);
    this.retry(Math.min(POLL_FIRST_MS * 2 ** this.tries, POLL_LAST_MS));
  }

  private retry(ms: number): void {
    if (this.state.kind === 'member') return;
    this.wakeAtMs = this.now + ms * (0.5 + this.options.random() / 2);
  }

  private note(message: string, level: 'info' | 'warn'): void {
    if (this.now < this.logAt) return;
    this.logAt = this.now + LOG_MS;
    this.effects.push({ kind: 'log', level, message });
  }
}

type Invitation = Extract<FormationQuestion, { readonly kind: 'invite' }>;
