import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ByteWriter, changeRoot, LEVEL_NEWEST, RootGroup, takeBack } from '@althing/engine';
import type { LogOperation, StateStore } from '@althing/storage';
import { isVoter } from 'raft-ts';
import { systemEnvironment } from '../../base/environment.js';
import { groupIdentity } from '../../base/identity.js';
import { type Applied, type GroupId, type NodeId, ROOT_GROUP } from '../../between/protocol.js';
import { type Config, LiveSettings } from '../../config/index.js';
import { EngineSide } from '../../engine-side/engine-side.js';
import { silentReports } from '../../engine-side/silent-reports.js';
import { engineClock } from '../../engine-side/system-clock.js';
import { encodeEntry, plainHead } from '../../groups/entry.js';
import type { GroupSession } from '../../groups/group-session.js';
import type { Sessions } from '../../groups/sessions.js';
import { State } from '../../groups/state.js';
import { PasswordHasher } from '../../requests/password.js';
import type { Checkpointer } from '../../state/checkpointer.js';
import { createLogger } from '../../telemetry/logger.js';
import { engineSettings } from '../start/engine-settings.js';
import { recoveredPlace } from './recovered.js';
import { Replay } from './replay.js';
import { type OpenData, refused } from './survey.js';

/**
 * Makes the data of one node of a cluster those of a cluster of its own, with all that is in its logs: the
 * states are brought to the ends of the logs, the other members are taken from the list, each group goes on
 * from a checkpoint that has this node as its only member, and the cluster gets another id. Not atomic: to be
 * done on a copy.
 *
 * @throws StartError when the node lacks something, errors of damaged data and of the disk
 */
export async function rewrite(data: OpenData, config: Config): Promise<void> {
  const { state, log, identity, file } = data;
  const record = { clusterId: randomBytes(16), founders: null };
  const replay = new Replay(log);
  const { sessions, checkpointer, failures } = scopesOf(data, config, replay);
  const check = (): void => {
    if (failures.length > 0) throw failures[0];
  };
  await replayAll(sessions, replay, failures);
  const places = new Map<GroupId, Applied>();
  for (const session of sessions.all) {
    const end = replay.endOf(session.id);
    if (!isVoter(end.membership, identity.nodeId)) throw refused(`it has no vote in ${nameOf(session)}`);
    places.set(session.id, recoveredPlace(identity.nodeId, end, groupIdentity(record, session.id)));
  }
  for (const session of sessions.all) {
    const place = places.get(session.id);
    if (place === undefined) throw new Error(`no place was found for ${nameOf(session)}`);
    restartAt(session, place, identity.nodeId);
    await checkpointer.flush(session);
    check();
    if (state.applied(session.id)?.index !== place.index) {
      throw new Error(`the checkpoint of ${nameOf(session)} was not made`);
    }
  }
  // Deleted collections are removed from the state, before it is closed.
  await sessions.whenOpened();
  check();
  await log.appended(operationsFor(places, log.groups()));
  await file.save({ kind: 'member', record });
}

/**
 * Brings the states of all groups to the ends of their logs. That of the root group tells which others there
 * are.
 */
async function replayAll(sessions: Sessions, replay: Replay, failures: unknown[]): Promise<void> {
  sessions.open().catch((error: unknown) => void failures.push(error));
  do {
    await nextTurn();
    if (failures.length > 0) throw failures[0];
    if (sessions.complete === null) continue;
    // Nothing is being opened or removed any more.
    await sessions.whenOpened();
  } while (replay.handOver() || sessions.complete === null);
}

/** Lets a session hold what is behind its log, as if it had come in an entry. */
function restartAt(session: GroupSession, place: Applied, node: NodeId): void {
  const effects = session.group instanceof RootGroup ? effectsOfLoss(session.group, node) : NOTHING;
  const head = plainHead(Math.floor(Date.now()));
  const payload = encodeEntry(head, effects, new ByteWriter());
  const { index, membership } = place;
  session.handle({ kind: 'entries', group: session.id, entries: [{ ...place, payload }], last: place });
  session.handle({ kind: 'membership', group: session.id, index, membership });
}

/** The change that takes all members but one from the list. */
function effectsOfLoss(root: RootGroup, node: NodeId): Uint8Array {
  const members = [...root.members.values()];
  const { effects, undo } = changeRoot(root, (editor) => {
    for (const member of members) {
      if (member.nodeId !== node) editor.deleteMember(member);
      else if (member.leaving) editor.putMember({ ...member, leaving: false });
    }
  });
  takeBack(undo);
  return effects;
}

function operationsFor(places: ReadonlyMap<GroupId, Applied>, logged: readonly GroupId[]): LogOperation[] {
  const operations: LogOperation[] = [];
  for (const [group, { index, term, hash }] of places) {
    operations.push({ kind: 'reset', group, index, term, hash });
    operations.push({ kind: 'hardState', group, term, vote: 0, commit: index });
  }
  for (const group of logged) if (!places.has(group)) operations.push({ kind: 'drop', group });
  return operations;
}

/** The scopes of a node that only follows. */
function scopesOf(
  { state: store, identity, record }: OpenData,
  config: Config,
  replay: Replay,
): { readonly sessions: Sessions; readonly checkpointer: Checkpointer; readonly failures: unknown[] } {
  const failures: unknown[] = [];
  const fail = (error: unknown): void => void failures.push(error);
  const log = createLogger({ level: config.logLevel, format: config.logFormat, nodeName: config.nodeName });
  const node = { nodeId: identity.nodeId, incarnation: 0, cluster: record };
  const side = new EngineSide(engineSettings(new LiveSettings(config), LEVEL_NEWEST, node), {
    clock: engineClock,
    environment: systemEnvironment(log, null),
    disk: {
      state: new State(store, neverReopened),
      reserve: { hasReserve: false, releaseReserve: nothing, restoreReserve: nothing },
      freeBytes: async () => 0,
      bytesToReopen: async () => Number.POSITIVE_INFINITY,
      reserveBytes: 0,
    },
    line: replay,
    hasher: new PasswordHasher(),
    reports: { ...silentReports(fail), disk: () => fail(new Error('there is no room on the disk')) },
    departs: nothing,
    status: () => ({ status: 'SYNCHRONIZING', committed: 0, stored: 0, zone: 0 }),
  });
  replay.onEvent = (event) => side.handle(event);
  const { sessions, checkpointer } = side.scopes;
  return { sessions, checkpointer, failures };
}

async function nothing(): Promise<void> {}

async function neverReopened(): Promise<StateStore> {
  throw new Error('the state is not opened again');
}

function nameOf({ id }: GroupSession): string {
  return id === ROOT_GROUP ? 'the root scope' : `collection ${id}`;
}

const NOTHING = new Uint8Array(0);
