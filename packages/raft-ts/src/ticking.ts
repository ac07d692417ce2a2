/** Time passes. */
import { assert } from './assert.js';
import type { Core } from './core.js';
import { campaign } from './election.js';
import { broadcastHeartbeats } from './heartbeats.js';
import type { Progress } from './progress.js';
import { tickForwardedReads } from './readindex.js';
import { becomeFollower } from './roles.js';
import type { RoleReason } from './trace.js';
import { tickTransfer } from './transfer.js';
import { NO_NODE } from './types.js';

/** One tick. A quiesced node has no time. */
export function tick(core: Core): void {
  if (core.quiesced) return;
  core.now += 1;
  if (core.role === 'leader') tickLeader(core);
  else tickFollower(core);
}

function tickLeader(core: Core): void {
  tickTransfer(core);
  const reason = reasonToStepDown(core);
  if (reason !== null) {
    becomeFollower(core, core.term, NO_NODE, reason);
    return;
  }
  core.heartbeatElapsed += 1;
  if (core.heartbeatElapsed >= core.settings.heartbeatTicks) broadcastHeartbeats(core);
}

function reasonToStepDown(core: Core): RoleReason | null {
  if (core.settings.checkQuorum && !hasActiveQuorum(core)) return 'quorum_lost';
  // A leader whose disk is dead would keep everybody waiting, its heartbeats being fine.
  return core.isDiskStalled && !core.tracker.isAlone ? 'disk_stalled' : null;
}

function tickFollower(core: Core): void {
  core.electionElapsed += 1;
  tickForwardedReads(core);
  if (core.electionElapsed >= core.electionTimeout) campaign(core, 'timeout');
}

/** True if a quorum was heard of within the last election timeout. */
function hasActiveQuorum(core: Core): boolean {
  const self = core.tracker.progressOf(core.id);
  assert(self !== undefined, 'A leader is a member');
  self.lastActive = core.now;
  return core.now - core.tracker.quorumOf(lastActive) < core.settings.electionTicks;
}

function lastActive(progress: Progress): number {
  return progress.lastActive;
}
