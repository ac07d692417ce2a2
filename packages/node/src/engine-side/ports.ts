/** The ports of an engine side: settings, what it works on, and who is told what happens. */
import type { EngineOptions, Environment, RootEvent } from '@althing/engine';
import type { Clock } from '../base/clock.js';
import type { ClusterRecord } from '../between/cluster-record.js';
import type { Consensus, GroupId, NodeId } from '../between/protocol.js';
import type { GroupSession } from '../groups/group-session.js';
import type { State } from '../groups/state.js';
import type { MembersOptions } from '../members/members.js';
import type { RouterOptions } from '../requests/router.js';
import type { TaskReport } from '../requests/tasks.js';
import type { CheckpointReport, CheckpointSettings } from '../state/checkpointer.js';
import type { DiskEvent, DiskKeeperOptions } from '../state/disk-keeper.js';
import type { GarbageSettings } from '../state/garbage-collector.js';
import type { StateCheck, StateCheckSettings } from '../state/state-checks.js';
import type { EngineMetrics } from '../telemetry/engine-metrics.js';

export interface EngineSettings
  extends CheckpointSettings,
    GarbageSettings,
    StateCheckSettings,
    Pick<MembersOptions, 'replaceAfterMs'> {
  readonly nodeId: NodeId;
  /** Number of this start of the node: later ones have larger numbers, more than one a millisecond apart. */
  readonly incarnation: number;
  readonly cluster: ClusterRecord;
  /** The name by which others reach this node. */
  readonly name: string;
  /** Where other nodes reach this one; default: at its name. */
  readonly host?: string;
  readonly port: number;
  readonly engine: Pick<EngineOptions, 'limits' | 'quotas' | 'programCacheBytes' | 'knownLevel'>;
  /** Time that a request may wait for a leader, for other nodes, or for its turn, in milliseconds. */
  readonly requestTimeoutMs: number;
}

export interface EngineClock extends Clock {
  /** Calls back when other work had its turn. */
  readonly soon: (work: () => void) => void;
  /** Milliseconds for which this process has had a processor, or several; missing: as `now`. */
  readonly busy?: () => number;
  /** See `CheckpointerOptions`: how encoding, and building indexes, takes time where time stands still meanwhile. */
  readonly encoding?: { readonly now: () => number; readonly thingsPerLook: number };
}

export interface StateDisk
  extends Pick<DiskKeeperOptions, 'reserve' | 'freeBytes' | 'bytesToReopen' | 'reserveBytes'> {
  readonly state: State;
}

/** The listeners to what happens. */
export interface EngineReports {
  readonly disk: (event: DiskEvent) => void;
  /** Something about the members that people should know. */
  readonly members: MembersOptions['report'];
  /** Called with changes that the cluster made by itself. */
  readonly changedItself: (events: readonly RootEvent[]) => void;
  readonly snapshotInstalled: (session: GroupSession, index: number) => void;
  /** One that had come could not become the state, and is sent again. */
  readonly snapshotLost: (session: GroupSession, index: number) => void;
  readonly checkpointed: (session: GroupSession, report: CheckpointReport) => void;
  /** There was no room for a checkpoint; it will be tried again. */
  readonly checkpointHadNoRoom: (session: GroupSession) => void;
  readonly stateChecked: (check: StateCheck) => void;
  readonly taskRan: (run: TaskReport) => void;
  /** A defect of the engine, or damaged data: nothing that the engine side can do anything about. */
  readonly defect: (error: unknown) => void;
  /** This node's state of a group is another one than that of the majority. */
  readonly diverged: (group: GroupId, index: number) => void;
  /** The node can't go on. */
  readonly failed: (message: string, error: unknown) => void;
}

export interface EnginePorts
  extends Pick<RouterOptions, 'hasher' | 'askModule' | 'restore' | 'runs' | 'slow' | 'changed'> {
  readonly clock: EngineClock;
  readonly environment: Omit<Environment, 'voters' | 'isCommittedUser'>;
  readonly disk: StateDisk;
  /** The line to the consensus side; its events come by `EngineSide.handle`. */
  readonly line: Pick<Consensus, 'send' | 'sendReady'>;
  readonly reports: EngineReports;
  /** See `MembersOptions`. */
  readonly departs: MembersOptions['departs'];
  readonly status: MembersOptions['state'];
  /** Runs queries over snapshots; without it nobody does. */
  readonly readers?: NonNullable<RouterOptions['snapshots']['readers']>;
  /** Counts requests, and notes what they did to the root scope. */
  readonly figures?: EngineMetrics;
}
