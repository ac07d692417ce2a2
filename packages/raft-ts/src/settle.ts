/** Consequences of any event: run after each of them, until nothing follows any more. */
import { applyCommittedChange, proposeFollowUps } from './configuration.js';
import type { Core } from './core.js';
import { confirmReads } from './heartbeats.js';
import { advanceCommit } from './replication.js';
import { continueTransfer } from './transfer.js';

export function settle(core: Core): void {
  const { log } = core;
  for (;;) {
    if (core.commitDue) {
      core.commitDue = false;
      if (core.role === 'leader') advanceCommit(core);
    }
    if (!log.hasCommittedChange) break;
    // Each turn takes one entry off a finite list.
    applyCommittedChange(core);
    if (core.role === 'leader' && core.reads.count > 0) confirmReads(core);
  }
  if (core.role !== 'leader') return;
  const { reads } = core;
  if (reads.count > 0 && !reads.hasConfirmable && log.commit >= core.termStart) reads.setIndex(log.commit);
  continueTransfer(core);
  proposeFollowUps(core);
}
