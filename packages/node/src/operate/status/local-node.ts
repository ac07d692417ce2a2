import { createHash, timingSafeEqual } from 'node:crypto';
import {
  type BackupsView,
  type ClusterEntry,
  type ConnectionEntry,
  type Engine,
  type GroupEntry,
  type MemberInfo,
  type MetricsHistory,
  type ModulesView,
  type NodeCounters,
  type NodeEntry,
  type NodeInfo,
  type NodeView,
  nodeError,
  type ProcedureFigures,
  type QueryFigures,
  type RequestEntry,
  type RestoresView,
} from '@althing/engine';
import { isVoter, type Membership } from 'raft-ts';
import type { Clock } from '../../base/clock.js';
import { type GroupId, type GroupPosition, type NodeId, ROOT_GROUP } from '../../between/protocol.js';
import { Phase } from '../../between/shared-status.js';
import type { Config } from '../../config/index.js';
import type { Positions } from '../../groups/positions.js';
import type { Hello, MemberStatus } from '../../members/hello.js';
import type { Members } from '../../members/members.js';
import type { Overview } from '../../members/overview.js';
import { isReadable, READABLE } from '../../peers/encryption.js';
import type { Counters } from '../../requests/counters.js';
import type { PresentRequests } from '../../requests/present-requests.js';
import type { RequestFigures } from '../../requests/request-figures.js';
import type { CollectionSizes } from '../../state/collection-sizes.js';
import type { History } from '../../telemetry/history.js';

/** A group as this node sees it. */
export interface GroupLook {
  readonly id: GroupId;
  readonly leading: boolean;
  /** The node that leads, as far as this one knows; 0 for none. */
  readonly leader: NodeId;
  readonly membership: Membership;
  readonly appliedIndex: number;
}

export interface LocalNodeOptions {
  readonly nodeId: NodeId;
  readonly version: string;
  readonly config: Pick<
    Config,
    | 'nodeName'
    | 'zone'
    | 'httpApiPort'
    | 'listenClientPort'
    | 'ipSupport'
    | 'httpStatusPort'
    | 'listenNodePort'
    | 'storagePath'
    | 'resultSizeLimit'
    | 'pythonInterpreter'
    | 'clusterSecret'
    | 'tlsClientCaFile'
    | 'peerTls'
    | 'bindNodeAddr'
  >;
  readonly engine: () => Pick<Engine, 'root' | 'cachedPrograms'>;
  /** Null until the node is far enough. */
  readonly members: () =>
    | (Pick<Members, 'handOver' | 'removalProblem'> & {
        readonly overview: Pick<Overview, 'entries' | 'level' | 'lowest'>;
      })
    | null;
  readonly groups: () => Iterable<GroupLook>;
  /** The ends of their logs; null where that has to be found out first. */
  readonly positions: () => Positions['present'];
  /** Index of the last log entry that is durable in the state of a group. */
  readonly storedIndex: (group: GroupId) => number;
  readonly phase: () => Phase;
  readonly connections: () => number;
  readonly clients: () => readonly ConnectionEntry[];
  readonly present: () => Pick<PresentRequests, 'all' | 'cancel'>;
  readonly counters: () => Counters;
  readonly sizes: Pick<CollectionSizes, 'of'>;
  readonly history: Pick<History, 'since'>;
  readonly runs: Pick<RequestFigures, 'queries' | 'procedureCalls' | 'reset'>;
  /** The backups that the node takes by itself; null until it is far enough. */
  readonly backups: () => (BackupsView & { readonly waiting: number }) | null;
  /** Null until the node is far enough. */
  readonly restores: () => RestoresView | null;
  readonly modules: () => ModulesView & { readonly path: string };
  /** Level of the log by its name there. */
  readonly log: { level: string };
  /** Sets a setting until the node is started again; throws a QueryError where that can't be. */
  readonly setConfig: (name: string, value: string) => void;
  readonly stop: () => void;
  readonly clock: Pick<Clock, 'now'>;
}

/** This node, as functions of the language see it. */
export class LocalNode implements NodeView {
  constructor(private readonly options: LocalNodeOptions) {}

  info(): NodeInfo {
    const { config, version, nodeId, engine, connections, clock, log } = this.options;
    const { status, committed, stored } = this.state();
    const lowest = this.options.members()?.overview.lowest() ?? { committed, stored };
    return {
      node_id: engine().root.members.get(nodeId)?.number ?? 0,
      version,
      syntax_version: 'v1',
      msgpack_version: BUILT_IN,
      libcleri_version: BUILT_IN,
      libuv_version: process.versions.uv ?? BUILT_IN,
      libpcre2_version: BUILT_IN,
      status,
      zone: config.zone,
      log_level: levelOf(log.level),
      node_name: config.nodeName,
      client_port: config.listenClientPort,
      node_port: config.listenNodePort,
      ip_support: config.ipSupport.toUpperCase(),
      storage_path: config.storagePath.endsWith('/') ? config.storagePath : `${config.storagePath}/`,
      uptime: clock.now() / 1000,
      changes_in_queue: 0,
      archived_in_memory: 0,
      archive_files: 0,
      local_stored_change_id: stored,
      local_committed_change_id: committed,
      global_stored_change_id: lowest.stored,
      global_committed_change_id: lowest.committed,
      db_stored_change_id: stored,
      next_change_id: committed + 1,
      http_status_port: portOrDisabled(config.httpStatusPort),
      http_api_port: portOrDisabled(config.httpApiPort),
      scheduled_backups: this.options.backups()?.waiting ?? 0,
      yajl_version: BUILT_IN,
      connected_clients: connections(),
      result_size_limit: config.resultSizeLimit,
      cached_queries: engine().cachedPrograms,
      threshold_query_cache: 0,
      cache_expiration_time: 0,
      python_interpreter: config.pythonInterpreter,
      modules_path: `${this.options.modules().path}/`,
      platform: process.platform,
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      libwebsockets_version: BUILT_IN,
    };
  }

  get modules(): ModulesView {
    return this.options.modules();
  }

  get backups(): BackupsView {
    const backups = this.options.backups();
    if (backups === null) throw nodeError('the node is just being started');
    return backups;
  }

  get restores(): RestoresView {
    const restores = this.options.restores();
    if (restores === null) throw nodeError('the node is just being started');
    return restores;
  }

  nodes(): readonly NodeEntry[] {
    return this.options.members()?.overview.entries() ?? [];
  }

  groups(): Iterable<GroupEntry> | null {
    const positions = this.options.positions();
    return positions === null ? null : this.groupEntries(positions);
  }

  private *groupEntries(positions: NonNullable<Positions['present']>): Iterable<GroupEntry> {
    for (const group of this.options.groups()) yield this.entryOf(group, positions.get(group.id));
  }

  level(): ClusterEntry {
    const { config, engine, members } = this.options;
    const { level, knownLevel: known } = engine().root;
    const entry = members()?.overview.level() ?? { level, known, waitsFor: [] };
    const isPlain = isReadable({
      secret: config.clusterSecret ?? null,
      tls: config.tlsClientCaFile ?? null,
      encryption: config.peerTls,
      bind: { address: config.bindNodeAddr },
    });
    return { ...entry, warnings: isPlain ? [READABLE] : [] };
  }

  counters(): NodeCounters {
    return this.options.counters().values();
  }

  queries(): readonly QueryFigures[] {
    return this.options.runs.queries();
  }

  procedures(): readonly ProcedureFigures[] {
    return this.options.runs.procedureCalls();
  }

  history(since: number): MetricsHistory {
    return this.options.history.since(since);
  }

  collectionBytes(id: number): number | null {
    return this.options.sizes.of(id);
  }

  connections(): readonly ConnectionEntry[] {
    return this.options.clients();
  }

  requests(): Iterable<RequestEntry> {
    return this.options.present().all();
  }

  cancelRequest(id: number | bigint): void {
    this.options.present().cancel(id);
  }

  resetCounters(): void {
    this.options.counters().reset();
    this.options.runs.reset();
  }

  setLogLevel(level: number): void {
    this.options.log.level = LEVELS[level]?.[0] ?? 'info';
  }

  setConfig(name: string, value: string): void {
    this.options.setConfig(name, value);
  }

  shutDown(): void {
    this.options.stop();
  }

  handOver(to: MemberInfo | null): void {
    this.options.members()?.handOver(to);
  }

  invitationProblem(): string | null {
    if (this.options.config.clusterSecret !== undefined) return null;
    return 'this node has no cluster_secret, so no other one can join: set it (the same on all nodes), and start again';
  }

  isClusterSecret(secret: string): boolean {
    const own = this.options.config.clusterSecret;
    return own !== undefined && isSame(secret, own);
  }

  removalProblem(member: MemberInfo): string | null {
    const members = this.options.members();
    return members === null ? 'the node is just being started' : members.removalProblem(member);
  }

  /** The state of this node, for the others. */
  state(): Pick<Hello, 'status' | 'committed' | 'stored' | 'zone'> {
    let committed = 0;
    let stored = 0;
    for (const { id, appliedIndex } of this.options.groups()) {
      committed += appliedIndex;
      stored += Math.min(this.options.storedIndex(id), appliedIndex);
    }
    return { status: statusOf(this.options.phase()), committed, stored, zone: this.options.config.zone };
  }

  private entryOf(
    { id, leading, leader, membership, appliedIndex }: GroupLook,
    position: GroupPosition | undefined,
  ): GroupEntry {
    const { nodeId } = this.options;
    const { root } = this.options.engine();
    const leads = leading ? nodeId : leader;
    const numbersOf = (nodes: readonly NodeId[]): number[] =>
      nodes.flatMap((node) => root.members.get(node)?.number ?? []).sort((a, b) => a - b);
    const name = root.collections.get(id)?.name;
    return {
      scope: id === ROOT_GROUP ? '@thingsdb' : `@collection:${name ?? '?'}`,
      role: leading ? 'leader' : isVoter(membership, nodeId) ? 'follower' : 'learner',
      leader: root.members.get(leads)?.number ?? null,
      applied: appliedIndex,
      voters: numbersOf(membership.voters),
      learners: numbersOf(membership.learners),
      term: position?.term ?? null,
      commit: position?.commit ?? null,
      last: position?.last ?? null,
      members:
        position?.members?.flatMap(({ node, ...rest }) => {
          const number = root.members.get(node)?.number;
          return number === undefined ? [] : [{ node: number, ...rest }];
        }) ?? null,
    };
  }
}

/** Stands for the version of libraries that Althing does without. */
const BUILT_IN = 'built in';

/** Levels of the log by number: what they are called in the log, and in the language. */
const LEVELS: readonly (readonly [string, string])[] = [
  ['debug', 'DEBUG'],
  ['info', 'INFO'],
  ['warn', 'WARNING'],
  ['error', 'ERROR'],
  ['fatal', 'CRITICAL'],
];

function levelOf(level: string): string {
  return LEVELS.find(([name]) => name === level)?.[1] ?? level.toUpperCase();
}

function statusOf(phase: Phase): MemberStatus {
  if (phase === Phase.READY) return 'READY';
  return phase === Phase.STARTING ? 'SYNCHRONIZING' : 'SHUTTING_DOWN';
}

function portOrDisabled(port: number): number | string {
  return port === 0 ? 'disabled' : port;
}

/** Compares secrets in a time that does not depend on where they differ. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
