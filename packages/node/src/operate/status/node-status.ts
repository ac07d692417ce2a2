import { membersOf } from 'raft-ts';
import { type NodeId, type OperatorToken, ROOT_GROUP } from '../../between/protocol.js';
import { LOCAL_READ_MS, type LongRun, Phase, type SharedStatus } from '../../between/shared-status.js';
import type { GroupHost } from '../../consensus/group-host.js';
import type { PeerNetwork } from '../../consensus/peer-network.js';
import type { LeaderWatch } from '../../consensus/watches/leader-watch.js';
import type { StorageBeat } from '../../consensus/watches/storage-beat.js';
import { FAMILIES, seriesCount } from '../../telemetry/families.js';
import type { Metrics } from '../../telemetry/metrics.js';
import { type Check, problemOf, seconds } from './check.js';
import { Lagging } from './lagging.js';
import { operatorOf } from './operators.js';
import type { CancelOutcome, StatusView } from './status-server.js';

/** The settings that decide on the status of a node. */
export interface NodeStatusSettings {
  readonly version: string;
  readonly nodeName: string;
  readonly nodeId: NodeId;
  /** Length of a tick of Raft's time in milliseconds. */
  readonly tickMs: number;
  /**
   * Time that the engine thread may need for a query, in milliseconds: while it is silent for longer, it
   * can't serve.
   */
  readonly engineSilenceMs: number;
  /** Age that what the node knows of users may have, in milliseconds: with less it answers nothing but 503. */
  readonly rootAgeMaxMs: number;
}

export interface NodeStatusOptions extends NodeStatusSettings {
  readonly shared: Pick<
    SharedStatus,
    | 'phase'
    | 'isCaughtUp'
    | 'connections'
    | 'level'
    | 'engineSilence'
    | 'sinceLocalRead'
    | 'rootAge'
    | 'longRun'
    | 'cancelRun'
  >;
  /** The tokens that may end what runs. */
  readonly operators: () => readonly OperatorToken[];
  /** Tells that somebody ended what ran. */
  readonly cancelled: (user: string, run: LongRun) => void;
  readonly storage: Pick<StorageBeat, 'silence'>;
  readonly leader: Pick<LeaderWatch, 'isMissing' | 'missingTicks'>;
  readonly host: Pick<
    GroupHost,
    'status' | 'isConfirmed' | 'lag' | 'groupIds' | 'leading' | 'diskLevel' | 'freeBytes'
  >;
  readonly cluster: Pick<PeerNetwork, 'clusterId' | 'addressOf' | 'nameOf' | 'isUp' | 'plainProblem'>;
  readonly metrics: Pick<Metrics, 'add' | 'get'>;
  readonly page: (isReady: boolean) => Promise<string>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** When the process was started, and what time it is: wall clock in milliseconds. */
  readonly startedAt: number;
  readonly wallClock: () => number;
}

/** Something that a person should know, though the node may well serve. */
interface Alarm {
  readonly name: 'NOSPACE' | 'LOWSPACE' | 'ENGINE' | 'STORAGE' | 'LAG' | 'CERTIFICATE' | 'PLAINTEXT';
  readonly reason: string;
}

/** Silence of the disk after which the node is not healthy, in milliseconds. */
const STORAGE_SILENCE_MS = 30_000;

/**
 * Silence of the engine thread after which the node is not healthy, in milliseconds: at least this, and this
 * much more than a query may take. A node that is silent for longer than a query is not ready and leads
 * nothing, which is all that its clients need. To restart it costs everything that it has in memory, so a
 * pause that ends by itself must not lead to that: a collection of garbage in a large heap, a read from a
 * disk that is overrun.
 */
const ENGINE_SILENCE_MIN_MS = 30_000;
const ENGINE_SLACK_MS = 10_000;

/**
 * Time before the end of a certificate from when on that is an alarm, in milliseconds; the alert says the
 * same.
 */
const CERTIFICATE_MS = 14 * 86_400_000;

/**
 * The status of the node, as its status port tells it. Nothing of this asks the engine thread, which may be busy.
 */
export class NodeStatus implements StatusView {
  private readonly lagging = new Lagging();
  private wasHealthy = true;

  constructor(private readonly options: NodeStatusOptions) {}

  /** Looks at what changes by itself. To be called several times a second. */
  look(): void {
    const { host, now } = this.options;
    this.lagging.note(host.lag(now()).ms);
  }

  healthy(): readonly Check[] {
    const { shared, storage, engineSilenceMs, metrics } = this.options;
    const engineMax = Math.max(ENGINE_SILENCE_MIN_MS, engineSilenceMs + ENGINE_SLACK_MS);
    const engine = shared.phase === Phase.STARTING ? 0 : shared.engineSilence();
    const disk = storage.silence();
    const checks: Check[] = [
      { name: 'engine', problem: engine > engineMax ? silenceText(engine) : null },
      { name: 'storage', problem: disk > STORAGE_SILENCE_MS ? storageText(disk) : null },
    ];
    const isHealthy = problemOf(checks) === null;
    if (this.wasHealthy && !isHealthy) metrics.add('livenessFailures');
    this.wasHealthy = isHealthy;
    return checks;
  }

  ready(): readonly Check[] {
    const { shared } = this.options;
    return [
      { name: 'phase', problem: this.phaseProblem() },
      { name: 'engine', problem: this.engineProblem() },
      { name: 'local_read', problem: this.readProblem() },
      { name: 'leader', problem: this.leaderProblem() },
      { name: 'caught_up', problem: shared.isCaughtUp ? null : 'the node is catching up' },
      { name: 'lag', problem: this.lagProblem() },
      { name: 'users', problem: this.usersProblem() },
    ];
  }

  started(): readonly Check[] {
    const isStarting = this.options.shared.phase === Phase.STARTING;
    return [{ name: 'phase', problem: isStarting ? this.phaseProblem() : null }];
  }

  leading(): readonly Check[] {
    const root = this.options.host.status(ROOT_GROUP);
    const isLeader = root?.role === 'leader';
    const isConfirmed = this.options.host.isConfirmed(ROOT_GROUP);
    return [
      { name: 'leader', problem: isLeader ? null : this.leaderText(root?.leader ?? 0) },
      { name: 'confirmed', problem: isConfirmed ? null : 'no majority has confirmed this node as leader' },
    ];
  }

  state(): string {
    const { phase } = this.options.shared;
    if (phase === Phase.READY) return 'READY';
    return phase === Phase.STARTING ? 'SYNCHRONIZING' : 'SHUTTING_DOWN';
  }

  summary(): object {
    const { version, nodeName, nodeId, host, shared, cluster } = this.options;
    const root = host.status(ROOT_GROUP);
    const { freeBytes } = host;
    return {
      status: this.state(),
      version,
      node_name: nodeName,
      node_id: nodeId,
      cluster_id: cluster.clusterId,
      level: shared.level,
      term: root?.term ?? null,
      role: root?.role ?? null,
      leader: this.nameOf(root?.leader ?? 0),
      commit: root?.commitIndex ?? null,
      applied: root?.appliedIndex ?? null,
      groups: host.groupIds.length,
      leading: host.leading,
      connections: shared.connections,
      long_run: shared.longRun,
      disk: { level: host.diskLevel, free_bytes: Number.isFinite(freeBytes) ? freeBytes : null },
      root: root === undefined ? null : { role: root.role, term: root.term, commit: root.commitIndex },
      members: this.members(root),
      alarms: this.alarms(),
    };
  }

  metrics(): Promise<string> {
    return this.options.page(problemOf(this.ready()) === null);
  }

  cancel(run: number, authorization: string | undefined): CancelOutcome {
    const { shared, operators, wallClock, cancelled } = this.options;
    const user = operatorOf(operators(), authorization, wallClock());
    if (user === null) return 'unauthorized';
    if (this.usersProblem() !== null) return 'stale';
    const { longRun } = shared;
    if (longRun?.run !== run) return 'not_running';
    shared.cancelRun(run);
    cancelled(user, longRun);
    return 'told';
  }

  private phaseProblem(): string | null {
    const { shared, startedAt, wallClock } = this.options;
    if (shared.phase === Phase.READY) return null;
    if (shared.phase !== Phase.STARTING) return 'the node is shutting down';
    return `the node has been starting for ${seconds(wallClock() - startedAt)}`;
  }

  private engineProblem(): string | null {
    const { shared, engineSilenceMs } = this.options;
    if (shared.phase === Phase.STARTING) return null;
    const silence = shared.engineSilence();
    return silence > engineSilenceMs ? silenceText(silence) : null;
  }

  private readProblem(): string | null {
    const { shared, engineSilenceMs } = this.options;
    const age = shared.sinceLocalRead();
    if (age === null) return 'the state was not read yet';
    // The last one may be as old as that without any silence.
    return age > engineSilenceMs + LOCAL_READ_MS ? `the state could not be read for ${seconds(age)}` : null;
  }

  private leaderProblem(): string | null {
    return this.options.leader.isMissing ? this.noLeaderText() : null;
  }

  private lagProblem(): string | null {
    if (!this.lagging.isTooFar) return null;
    const { host, now } = this.options;
    const { group, ms } = host.lag(now());
    return `group ${group} is ${seconds(ms)} behind its leader`;
  }

  /** A node that was cut off has a leader again before it knows that nobody was locked out meanwhile. */
  private usersProblem(): string | null {
    const { shared, rootAgeMaxMs } = this.options;
    if (shared.rootAge <= rootAgeMaxMs) return null;
    return 'what the node knows of users is older than it may be (auth_max_stale_ms)';
  }

  private leaderText(leader: NodeId): string {
    const name = this.nameOf(leader);
    return name === null ? this.noLeaderText() : `${name} leads`;
  }

  private noLeaderText(): string {
    const { leader, tickMs } = this.options;
    const ticks = leader.missingTicks;
    return ticks === null ? 'no leader is known yet' : `no leader for ${seconds(ticks * tickMs)}`;
  }

  private nameOf(node: NodeId): string | null {
    const { nodeId, nodeName, cluster } = this.options;
    if (node === 0) return null;
    return node === nodeId ? nodeName : cluster.nameOf(node);
  }

  private members(root: ReturnType<GroupHost['status']>): object[] {
    if (root === undefined) return [];
    const { nodeId, cluster } = this.options;
    const { membership, leader } = root;
    return membersOf(membership).map((node) => ({
      node_id: node,
      name: this.nameOf(node),
      address: cluster.addressOf(node),
      role: membership.voters.includes(node) ? 'voter' : 'learner',
      is_leader: node === leader,
      connected: node === nodeId || cluster.isUp(node),
    }));
  }

  private alarms(): Alarm[] {
    const { host, storage, cluster } = this.options;
    const alarms: Alarm[] = [];
    if (host.diskLevel === 'full') alarms.push({ name: 'NOSPACE', reason: 'the disk is full' });
    if (host.diskLevel === 'low') alarms.push({ name: 'LOWSPACE', reason: 'the disk is almost full' });
    const engine = this.engineProblem() ?? this.readProblemOnceReady();
    if (engine !== null) alarms.push({ name: 'ENGINE', reason: engine });
    const disk = storage.silence();
    if (disk > STORAGE_ALARM_MS) alarms.push({ name: 'STORAGE', reason: storageText(disk) });
    const lag = this.lagProblem();
    if (lag !== null) alarms.push({ name: 'LAG', reason: lag });
    const certificate = this.certificateProblem();
    if (certificate !== null) alarms.push({ name: 'CERTIFICATE', reason: certificate });
    const plain = cluster.plainProblem;
    if (plain !== null) alarms.push({ name: 'PLAINTEXT', reason: plain });
    return alarms;
  }

  private readProblemOnceReady(): string | null {
    return this.options.shared.phase === Phase.READY ? this.readProblem() : null;
  }

  private certificateProblem(): string | null {
    const { metrics, wallClock } = this.options;
    const count = seriesCount(FAMILIES.certificateEnd);
    const ends = Array.from({ length: count }, (_, series) => 1000 * metrics.get('certificateEnd', series));
    const first = Math.min(...ends.filter((end) => end > 0));
    const isOver = first <= wallClock();
    if (first > wallClock() + CERTIFICATE_MS) return null;
    return `a certificate ${isOver ? 'ended' : 'ends'} at ${new Date(first).toISOString()}`;
  }
}

/** Silence of the disk from which on that is an alarm, in milliseconds: far beyond what a sync takes. */
const STORAGE_ALARM_MS = 3000;

function silenceText(ms: number): string {
  return `the engine thread has been silent for ${seconds(ms)}`;
}

function storageText(ms: number): string {
  return `the disk has not answered for ${seconds(ms)}`;
}
