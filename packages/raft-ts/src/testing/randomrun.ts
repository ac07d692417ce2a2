/**
 * A random run of a small cluster: every decision is a number, and the same numbers lead to the same run.
 * The network loses, repeats, reorders and delays messages; processes die with what they had not synced;
 * members come and go. After the faults everything is healed, and then the cluster has to work again.
 */
import { changeOf } from '../change.js';
import type { LeaseOptions } from '../config.js';
import { type ChangeStep, isJoint, membershipOf, membersOf, NO_MEMBERS } from '../membership.js';
import type { Message } from '../messages.js';
import { type RandomSource, seededRandom } from '../random.js';
import type { TraceEvent } from '../trace.js';
import type { Membership, NodeId } from '../types.js';
import { Violation } from './checker.js';
import { Cluster } from './cluster.js';
import type { Host } from './host.js';
import type { RaftNodeClass } from './plant.js';
import { ReadWitness } from './read-witness.js';
import { type Act, drawSwarm, type Swarm } from './swarm.js';

export interface RunOptions {
  readonly seed: number;
  readonly nodeClass?: RaftNodeClass;
  readonly onTrace?: (event: TraceEvent) => void;
  readonly onAct?: (act: string) => void;
}

const TICK_MS = 100;
const MESSAGES_MAX = 400;
const HOSTS_MAX = 8;
const SETTLE_TICKS = 300;
const EXCHANGE_ROUNDS = 60;

/** Runs the acts that follow from the seed alone. Throws `Violation` or `RaftAssertionError`. */
export function runSeed(acts: number, setup: RunOptions): RandomRun {
  const run = new RandomRun(setup);
  const decide = seededRandom(setup.seed, 99);
  for (let at = 0; at < acts; at += 1) run.act(decide());
  run.settle();
  return run;
}

export class RandomRun {
  readonly cluster: Cluster;
  private readonly swarm: Swarm;
  private readonly totalWeight: number;
  private readonly onAct: ((act: string) => void) | undefined;
  private readonly paused = new Set<NodeId>();
  private clock_ms = 0;
  private nextNode: NodeId;
  private proposed = 0;
  readonly reads = new ReadWitness();

  constructor({ seed, nodeClass, onTrace, onAct }: RunOptions) {
    const swarm = drawSwarm(seededRandom(seed, 7));
    this.swarm = swarm;
    this.onAct = onAct;
    this.totalWeight = swarm.weights.reduce((sum, [, weight]) => sum + weight, 0);
    const voters = range(1, swarm.voters);
    const learners = range(swarm.voters + 1, swarm.learners);
    const membership = membershipOf(voters, learners);
    const lease: LeaseOptions = { clock_ms: () => this.clock_ms, tick_ms: TICK_MS };
    this.cluster = new Cluster({
      seed,
      membership,
      options: swarm.options,
      ...(swarm.useLease ? { lease } : {}),
      ...(nodeClass === undefined ? {} : { nodeClass }),
      ...(onTrace === undefined ? {} : { onTrace }),
      onRead: (node, result) => this.reads.told(node, result.outcome, result.context),
    });
    for (const id of [...voters, ...learners]) this.cluster.add(id, membership);
    this.nextNode = swarm.voters + swarm.learners + 1;
    if (seed % 4 === 0) return;
    this.cluster.host(1).node.campaign();
    this.exchange();
  }

  /** Does what `decision` says, as far as it makes sense now. */
  act(decision: number): void {
    const random = seededRandom(decision, 3);
    let at = random() % this.totalWeight;
    for (const [act, weight] of this.swarm.weights) {
      if (at < weight) {
        this.do(act, random);
        return;
      }
      at -= weight;
    }
  }

  /** Heals everything; then there must be one leader, and everybody must come to the same state. */
  settle(): void {
    const { cluster } = this;
    this.onAct?.('settle');
    cluster.cut.clear();
    this.paused.clear();
    for (const id of [...cluster.disks.keys()].sort((left, right) => left - right)) {
      if (!cluster.hosts.has(id)) cluster.restart(id);
    }
    let proposedAt = 0;
    for (let tick = 0; tick < SETTLE_TICKS; tick += 1) {
      this.exchange();
      const leader = this.leader();
      if (leader !== undefined && proposedAt === 0 && tick > 50) {
        const result = leader.node.propose([payloadOf(this.proposed)]);
        if (result.status === 'accepted') proposedAt = result.lastIndex;
      }
      if (leader !== undefined && isJoint(leader.node.status().membership))
        leader.node.proposeChange(changeOf());
      if (leader !== undefined && proposedAt > 0 && this.hasConverged(leader, proposedAt)) {
        this.checkReads();
        return;
      }
      this.clock_ms += TICK_MS;
      this.detectSilence();
      for (const host of cluster.running) {
        if (!host.node.quiesced) cluster.tick(host.id);
      }
    }
    throw new Violation('I16', `no progress after ${SETTLE_TICKS} ticks without faults: ${this.describe()}`);
  }

  private do(act: Act, random: RandomSource): void {
    const { cluster } = this;
    const running = cluster.running.filter(({ id }) => !this.paused.has(id));
    const host = running[random() % Math.max(running.length, 1)];
    if (host !== undefined) this.onAct?.(`${act} ${host.id}`);
    switch (act) {
      case 'deliver':
        this.deliver(random);
        return;
      case 'stir':
        this.stir(running, random);
        return;
      case 'restart':
        this.restart(random);
        return;
      case 'heal':
        this.heal(random);
        return;
      default:
        if (host !== undefined) this.doAt(host, act, random);
    }
  }

  private doAt(
    host: Host,
    act: Exclude<Act, 'deliver' | 'stir' | 'restart' | 'heal'>,
    random: RandomSource,
  ): void {
    const { cluster } = this;
    const { id, node } = host;
    switch (act) {
      case 'work':
        if (node.hasReady()) cluster.ready(id);
        return;
      case 'persist':
        if (host.writes.length > 0) cluster.persist(id, 1 + (random() % host.writes.length));
        return;
      case 'apply':
        if (host.isApplying) cluster.apply(id);
        return;
      case 'tick':
        this.tick(host);
        return;
      case 'propose':
        this.propose(host, random);
        return;
      case 'read':
        this.read(host);
        return;
      case 'crash':
        this.crash(host, random);
        return;
      case 'cut':
        this.cut(host, random);
        return;
      case 'compact':
        host.checkpoint();
        host.compact(random() % 4);
        return;
      case 'change':
        this.change(host, random);
        return;
      case 'transfer':
        node.transferLeadership(this.anyNode(random));
        return;
      case 'campaign':
        node.campaign();
        return;
      case 'quiesce':
        if (!node.quiesce(this.awayFrom(id))) this.detectSilence();
        return;
      case 'pause':
        this.paused.add(id);
        return;
      case 'unreachable':
        node.reportUnreachable(this.anyNode(random));
        return;
    }
  }

  /** A short while of undisturbed work. */
  private stir(hosts: readonly Host[], random: RandomSource): void {
    const { cluster } = this;
    this.onAct?.('stir');
    for (let round = 1 + (random() % 6); round > 0; round -= 1) {
      for (const host of hosts) {
        if (host.node.hasReady()) cluster.ready(host.id);
        if (random() % 4 > 0) cluster.persist(host.id);
        if (random() % 4 > 0) cluster.apply(host.id);
      }
      const count = cluster.messages.length;
      for (let at = 0; at < count; at += 1) this.deliver(random);
    }
  }

  private tick(host: Host): void {
    if (!this.swarm.useLease) {
      if (!host.node.quiesced) this.cluster.tick(host.id);
      return;
    }
    // Leases trust that everybody's time goes on alike.
    this.clock_ms += TICK_MS;
    for (const { id, node } of this.cluster.running) {
      if (!this.paused.has(id) && !node.quiesced) this.cluster.tick(id);
    }
  }

  private propose(host: Host, random: RandomSource): void {
    const payloads: Uint8Array[] = [];
    for (let count = random() % 4; count >= 0; count -= 1) {
      this.proposed += 1;
      payloads.push(payloadOf(this.proposed));
    }
    const { maxPendingEntries = Number.POSITIVE_INFINITY } = this.swarm.options;
    const { status } = host.node.propose(payloads);
    if (status === 'accepted') this.cluster.checker.onAccepted(host, maxPendingEntries);
  }

  private read(host: Host): void {
    const name = this.reads.next(host.id);
    if (this.cluster.read(host.id, name).status === 'accepted') this.reads.asked(name, host.id);
  }

  private deliver(random: RandomSource): void {
    const { cluster } = this;
    const { dropPerMille, repeatPerMille, reorders } = this.swarm;
    while (cluster.messages.length > MESSAGES_MAX) this.lose(0);
    if (cluster.messages.length === 0) return;
    const at = reorders ? random() % cluster.messages.length : this.oldestOfSomeLink(random);
    const message = cluster.messages[at]!;
    this.onAct?.(`deliver ${message.from}->${message.to} ${message.kind}`);
    if (random() % 1000 < dropPerMille) {
      this.lose(at);
      return;
    }
    if (random() % 1000 < repeatPerMille && message.kind !== 'snapshot') cluster.messages.push(message);
    if (this.paused.has(message.to)) return;
    cluster.deliver(at);
  }

  /** A connection keeps the order of its messages: the first of a random link. */
  private oldestOfSomeLink(random: RandomSource): number {
    const { messages } = this.cluster;
    const { from, to } = messages[random() % messages.length]!;
    return messages.findIndex((message) => message.from === from && message.to === to);
  }

  private lose(at: number): void {
    const [message] = this.cluster.messages.splice(at, 1);
    if (message !== undefined) this.cluster.onLost(message);
  }

  private crash(host: Host, random: RandomSource): void {
    this.cluster.crash(host.id, random() % (host.writes.length + 1));
    this.reads.crashed(host.id);
    // Hosts are told of lost transfers, whoever dies.
    this.cluster.messages = this.cluster.messages.filter((message) => !this.diesWith(message, host.id));
  }

  private diesWith(message: Message, id: NodeId): boolean {
    const dies = message.kind === 'snapshot' && (message.from === id || message.to === id);
    if (dies) this.cluster.onLost(message);
    return dies;
  }

  private restart(random: RandomSource): void {
    const { cluster } = this;
    const down = [...cluster.disks.keys()]
      .filter((id) => !cluster.hosts.has(id))
      .sort((left, right) => left - right);
    if (down.length > 0) cluster.restart(down[random() % down.length]!);
  }

  private cut(host: Host, random: RandomSource): void {
    const { cut } = this.cluster;
    const peer = this.anyNode(random);
    const kind = random() % 4;
    if (kind === 0) {
      for (const other of this.cluster.disks.keys()) {
        cut.add(`${host.id}>${other}`);
        cut.add(`${other}>${host.id}`);
      }
      return;
    }
    cut.add(`${host.id}>${peer}`);
    if (kind > 1) cut.add(`${peer}>${host.id}`);
  }

  private heal(random: RandomSource): void {
    const { cut } = this.cluster;
    this.onAct?.('heal');
    if (random() % 2 === 0) cut.clear();
    else for (const link of [...cut]) if (random() % 2 === 0) cut.delete(link);
    const paused = [...this.paused];
    const resumed = paused[random() % Math.max(paused.length, 1)];
    if (resumed !== undefined) this.paused.delete(resumed);
  }

  private change(host: Host, random: RandomSource): void {
    const { membership } = host.node.status();
    if (isJoint(membership)) {
      host.node.proposeChange(changeOf());
      return;
    }
    const steps: ChangeStep[] = [];
    for (let count = random() % 3; count >= 0; count -= 1) steps.push(this.drawStep(membership, random));
    const transition = random() % 3 === 0 ? 'joint' : 'auto';
    const leave = random() % 5 === 0 ? 'explicit' : 'auto';
    host.node.proposeChange({ steps, transition, leave, context: new Uint8Array(random() % 3) });
  }

  private drawStep(membership: Membership, random: RandomSource): ChangeStep {
    const members = membersOf(membership);
    const node = members[random() % members.length]!;
    switch (random() % 6) {
      case 0:
        return members.length > 2 ? { action: 'remove', node } : { action: 'addVoter', node };
      case 1:
        return { action: 'addLearner', node, promote: false };
      case 2:
        return { action: 'addVoter', node };
      default:
        return this.drawNewcomer(random) ?? { action: 'addVoter', node };
    }
  }

  private drawNewcomer(random: RandomSource): ChangeStep | undefined {
    if (this.cluster.disks.size >= HOSTS_MAX) return undefined;
    const node = this.nextNode;
    this.nextNode += 1;
    this.cluster.add(node, NO_MEMBERS);
    if (random() % 3 === 0) return { action: 'addVoter', node };
    return { action: 'addLearner', node, promote: random() % 2 === 0 };
  }

  private anyNode(random: RandomSource): NodeId {
    return 1 + (random() % (this.nextNode - 1));
  }

  /** Delivers and works until nothing is left to do. */
  private exchange(): void {
    const { cluster } = this;
    for (let round = 0; round < EXCHANGE_ROUNDS; round += 1) {
      let busy = false;
      for (const host of cluster.running) {
        if (host.node.hasReady()) cluster.ready(host.id);
        else if (host.writes.length > 0) cluster.persist(host.id);
        else if (host.isApplying) cluster.apply(host.id);
        else continue;
        busy = true;
      }
      const count = cluster.messages.length;
      for (let at = 0; at < count; at += 1) cluster.deliver(0);
      if (!busy && count === 0) return;
    }
  }

  /** The nodes that the host of another one does not reach. */
  private awayFrom(id: NodeId): ReadonlySet<NodeId> {
    const { cluster } = this;
    const isAway = (node: NodeId): boolean =>
      !cluster.hosts.has(node) || this.paused.has(node) || cluster.cut.has(`${node}>${id}`);
    return new Set([...cluster.disks.keys()].filter((node) => node !== id && isAway(node)));
  }

  /** A host that watches its peers tells followers of a dead leader's process, and leaders who went and who is back. */
  private detectSilence(): void {
    const { cluster } = this;
    for (const { id, node } of cluster.running) {
      if (!node.quiesced || this.paused.has(id)) continue;
      const away = this.awayFrom(id);
      if (node.leader !== id && away.has(node.leader)) node.leaderSilent();
      for (const other of cluster.disks.keys()) {
        if (!away.has(other)) node.memberBack(other);
        else if (!node.asleepWithout.has(other)) node.memberGone(other);
      }
    }
  }

  private leader(): Host | undefined {
    const leaders = this.cluster.running.filter(({ node }) => node.role === 'leader');
    return leaders.sort((left, right) => right.node.term - left.node.term)[0];
  }

  private hasConverged(leader: Host, index: number): boolean {
    const { membership, commitIndex } = leader.node.status();
    if (commitIndex < index || isJoint(membership)) return false;
    return membersOf(membership).every((id) => {
      const host = this.cluster.hosts.get(id);
      return (
        host !== undefined &&
        host.machine.index === leader.machine.index &&
        host.machine.hash === leader.machine.hash
      );
    });
  }

  /** Reads do not hang: each was answered or dropped, or it was asked a moment ago. */
  private checkReads(): void {
    for (let tick = 0; tick < 60 && this.reads.open.length > 0; tick += 1) {
      this.clock_ms += TICK_MS;
      for (const { id, node } of this.cluster.running) if (!node.quiesced) this.cluster.tick(id);
      this.exchange();
    }
    const { open } = this.reads;
    if (open.length > 0) throw new Violation('I16', `reads hang: ${open.join(' ')}`);
  }

  private describe(): string {
    return this.cluster.running
      .map(({ id, node }) => {
        const { role, term, commitIndex, lastIndex, appliedIndex, quiesced, leader } = node.status();
        return `${id}=${role}@${term} leader=${leader} ${appliedIndex}/${commitIndex}/${lastIndex}${quiesced ? ' quiesced' : ''}`;
      })
      .join(', ');
  }
}

function payloadOf(number: number): Uint8Array {
  return new TextEncoder().encode(`p${number}`);
}

function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => first + at);
}
