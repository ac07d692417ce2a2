/**
 * Learners catch up in rounds (Raft dissertation, section 4.2.1): a round is over when the learner has
 * everything that the leader had when it began. A learner whose last round took less than an election timeout
 * is ready to vote: making it a voter will not hold up commits for longer than an election would.
 */
import type { Core } from './core.js';
import type { Progress } from './progress.js';

/** Looks at a learner's progress after an answer of it, and when it is to be promoted from now on. */
export function noteCatchUp(core: Core, peer: Progress): void {
  if (!core.tracker.membership.promote.includes(peer.id) || peer.match < peer.roundTarget) return;
  const isFirst = peer.roundTarget === 0;
  const hasAll = peer.match === core.log.last;
  peer.caughtUp = hasAll || (!isFirst && core.now - peer.roundStart < core.settings.electionTicks);
  peer.roundTarget = core.log.last;
  peer.roundStart = core.now;
}

/**
 * A membership is in force from now on. A learner that waits to be promoted by it may have answered before, to
 * all that there is: then no other answer comes.
 */
export function beginCatchUp(core: Core): void {
  for (const id of core.tracker.membership.promote) {
    const peer = core.tracker.progressOf(id);
    if (peer !== undefined) noteCatchUp(core, peer);
  }
}

/** The first learner that waits to be promoted and is ready for it. */
export function readyToPromote(core: Core): number | undefined {
  return core.tracker.membership.promote.find((id) => {
    const peer = core.tracker.progressOf(id);
    if (peer === undefined || peer.state !== 'replicate' || peer.recovering) return false;
    return peer.caughtUp && core.now - peer.lastActive < core.settings.electionTicks;
  });
}
