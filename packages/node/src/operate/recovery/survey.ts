import { RecordKind, RootGroup } from '@althing/engine';
import { type DataFolder, LogStore, NodeDisk, StateStore } from '@althing/storage';
import { isVoter, type Membership, membershipOf, membersOf } from 'raft-ts';
import { decodeIdentity, type Identity, logIdentity } from '../../base/identity.js';
import { ClusterFile, type ClusterRecord } from '../../between/cluster-record.js';
import { firstVoters } from '../../between/membership.js';
import { type GroupId, ROOT_GROUP } from '../../between/protocol.js';
import { ExitCode } from '../../config/index.js';
import { logChainHash } from '../../consensus/group-log.js';
import { decodeApplied } from '../../groups/applied.js';
import { StartError } from '../start/running-node.js';
import { continuesFrom, readLog } from './replay.js';

/** Where a group stands on a node. */
export interface GroupSurvey {
  readonly group: GroupId;
  /** `root`, the name of a collection, or its number where the state on disk does not know it yet. */
  readonly name: string;
  /**
   * Term and index of the last entry: of two copies that with the higher term is ahead, then that with the
   * higher index.
   */
  readonly term: number;
  readonly index: number;
  /** Up to here the node knows that the entries are committed. What comes behind may be, or not. */
  readonly commit: number;
}

/** The cluster, as the data folder of a stopped node tells of it. */
export interface Survey {
  readonly nodeId: number;
  readonly clusterId: string;
  /** As the state on disk has them: `number name host:port`. */
  readonly members: readonly string[];
  /** Nodes of the root group besides this one. */
  readonly others: number;
  readonly groups: readonly GroupSurvey[];
}

/** The open parts of a data folder, to be closed. */
export interface OpenData {
  readonly state: StateStore;
  readonly log: LogStore;
  readonly identity: Identity;
  readonly file: ClusterFile;
  readonly record: ClusterRecord;
  close(): Promise<void>;
}

/**
 * Opens and verifies what is in a data folder.
 *
 * @throws StartError when it belongs to no cluster; errors of damaged data
 */
export async function openData(folder: DataFolder, segmentBytes: number): Promise<OpenData> {
  const state = await StateStore.open({ store: folder.stateStore, disk: folder.stateDisk });
  let log: LogStore | null = null;
  const close = async (): Promise<void> => {
    await log?.close();
    await state.close();
    await folder.close();
  };
  try {
    const stored = state.identity();
    if (stored === undefined) throw refused('it is empty');
    const identity = decodeIdentity(stored);
    const file = await ClusterFile.open(await NodeDisk.make(folder.path), Date.now());
    const cluster = file.load();
    if (cluster.kind !== 'member') throw refused('the node belongs to no cluster yet');
    await state.verify();
    log = await LogStore.open(folder.logDisk, {
      segmentBytes,
      storeId: logIdentity(identity),
      chainHash: logChainHash,
    });
    return { state, log, identity, file, record: cluster.record, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws StartError when the node has no vote in the root group, or no others are in it */
export async function surveyOf({ state, log, identity, record }: OpenData): Promise<Survey> {
  const root = await rootOn(state);
  const groups = [...new Set([ROOT_GROUP, ...state.groups(), ...log.groups()])].sort((a, b) => a - b);
  const members = membersOn(state, log, record);
  return {
    nodeId: identity.nodeId,
    clusterId: Buffer.from(record.clusterId).toString('hex'),
    members: [...root.members.values()].map(
      ({ number, name, host, port }) => `${number} ${name} ${host}:${port}`,
    ),
    others: othersIn(members, identity.nodeId),
    groups: groups.map((group) => standOf(group, nameOf(root, group), state, log)),
  };
}

function standOf(group: GroupId, name: string, state: StateStore, log: LogStore): GroupSurvey {
  const stored = state.applied(group);
  const view = log.view(group);
  const applied = stored === undefined ? { index: 0, term: 0 } : decodeApplied(stored);
  const inLog = stored === undefined || continuesFrom(view, decodeApplied(stored));
  const index = inLog ? view.lastIndex : applied.index;
  const term = inLog ? (view.term(index) ?? applied.term) : applied.term;
  const commit = Math.min(index, Math.max(view.hardState?.commit ?? 0, applied.index));
  return { group, name, term, index, commit };
}

/** The records of a state, as they lie on disk. */
export type StateRecords = Pick<StateStore, 'groups' | 'read' | 'scan'>;

/** Kinds of records that tell of members and names. */
const SURVEYED = [RecordKind.META, RecordKind.COLLECTION, RecordKind.MEMBER] as const;

/** The root scope as its last checkpoint has it, as far as some kinds of records tell. */
export async function rootOn(
  state: StateRecords,
  kinds: readonly RecordKind[] = SURVEYED,
): Promise<RootGroup> {
  const root = new RootGroup();
  for (const kind of kinds) {
    for await (const { id, part, value } of state.scan(ROOT_GROUP, kind)) {
      root.loadRecord(kind, id, value, part);
    }
  }
  return root;
}

/** The name of a group: `root`, that of a collection, or its number where the root scope does not know it. */
export function nameOf(root: RootGroup, group: GroupId): string {
  if (group === ROOT_GROUP) return 'root';
  return root.collections.get(group)?.name ?? `collection ${group}`;
}

/** The members of the root group. */
function membersOn(state: StateStore, log: LogStore, { founders }: ClusterRecord): Membership {
  const stored = state.applied(ROOT_GROUP);
  if (stored === undefined) return membershipOf(firstVoters((founders ?? []).map(({ nodeId }) => nodeId)));
  const root = { group: ROOT_GROUP, applied: decodeApplied(stored), isNew: false };
  return readLog(log, root, () => {}).membership;
}

function othersIn(membership: Membership, self: number): number {
  if (!isVoter(membership, self)) throw refused('its node has no vote: what others have is newer');
  return membersOf(membership).length - 1;
}

export function refused(why: string): StartError {
  return new StartError(`the data folder can not be recovered: ${why}`, ExitCode.Configuration);
}
