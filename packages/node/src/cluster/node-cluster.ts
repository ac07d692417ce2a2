import type { RootGroup } from '@althing/engine';
import type { AuditLog } from '../audit/audit-log.js';
import type { Config } from '../config/index.js';
import type { Bridge } from '../consensus/bridge.js';
import type { NodeEvent } from '../consensus/node-consensus.js';
import { type NodeId, ROOT_GROUP } from '../consensus/protocol.js';
import { delay } from '../life/timers.js';
import type { Logger } from '../logger.js';
import type { Sessions } from '../scopes/sessions.js';
import { Calls } from './calls.js';
import type { ClusterRecord } from './cluster-record.js';
import { Members, type MembersOptions } from './members.js';

export interface NodeClusterOptions extends Pick<MembersOptions, 'departs' | 'state'> {
  readonly config: Pick<Config, 'nodeName' | 'listenNodePort' | 'replaceAfterMs'>;
  readonly nodeId: NodeId;
  /** Which start of this node this is: later ones have larger numbers. */
  readonly incarnation: number;
  readonly cluster: ClusterRecord;
  readonly bridge: Bridge;
  readonly root: RootGroup;
  readonly sessions: () => Sessions;
  readonly audit: Pick<AuditLog, 'changedItself'>;
  readonly log: Logger;
}

/** More calls than a node makes in a millisecond: starts are numbered by the clock, and calls behind them. */
const CALLS_PER_MS = 1024;

/** The other nodes of the cluster, as a node deals with them: who they are, and questions to them. */
export class NodeCluster {
  readonly calls: Calls;
  readonly members: Members;
  private lastId = 0;

  constructor(options: NodeClusterOptions) {
    const { bridge, incarnation } = options;
    this.calls = new Calls({
      send: (command) => bridge.send(command),
      delay,
      firstId: incarnation * CALLS_PER_MS,
    });
    this.members = this.makeMembers(options);
  }

  handle(event: NodeEvent): void {
    if (event.kind === 'called' || event.kind === 'returned') this.calls.handle(event);
    else this.members.handle(event);
  }

  private makeMembers({
    config,
    nodeId,
    cluster,
    bridge,
    root,
    sessions,
    departs,
    state,
    audit,
    log,
  }: NodeClusterOptions): Members {
    return new Members({
      self: { nodeId, name: config.nodeName, host: config.nodeName, port: config.listenNodePort },
      root: () => root,
      session: () => sessions().ofGroup(ROOT_GROUP) ?? null,
      memberships: () => sessions().memberships,
      founders: cluster.founders,
      send: (command) => bridge.send(command),
      calls: this.calls,
      nextId: () => ++this.lastId,
      departs,
      state,
      replaceAfterMs: config.replaceAfterMs,
      monotonic: () => performance.now(),
      random: Math.random,
      report: (level, event, message) => log[level]({ event }, message),
      changed: (events) => audit.changedItself(events),
    });
  }
}
