/** Proposals: what becomes of them, and the limits that keep a leader from drowning. */
import { type Core, OK, type StepResult } from './core.js';
import type { Propose } from './messages.js';
import { wake } from './quiescence.js';
import { appendOwn } from './roles.js';
import { ENTRY_OVERHEAD_BYTES, type Index, NO_NODE, type NodeId, type Term } from './types.js';

/** The outcome of a proposal. */
export type ProposeResult =
  /**
   * In the leader's log. Committed when an entry with this index *and* this term is handed out for applying.
   */
  | {
      readonly status: 'accepted';
      readonly firstIndex: Index;
      readonly lastIndex: Index;
      readonly term: Term;
    }
  /** Sent on to the leader; what becomes of it is unknown. */
  | { readonly status: 'forwarded'; readonly to: NodeId }
  /** Definitely not proposed. `leader` is whom to ask instead, or 0. */
  | { readonly status: 'dropped'; readonly reason: ProposeRefusal; readonly leader: NodeId };

/** Why a proposal was dropped. */
export type ProposeRefusal =
  | 'no_leader'
  | 'not_leader'
  | 'transferring'
  | 'overloaded'
  | 'too_large'
  | 'empty';

/** Proposes payloads, all or none. They must not be changed afterwards. */
export function propose(core: Core, payloads: readonly Uint8Array[]): ProposeResult {
  const sizes = refusalBySize(core, payloads);
  if (sizes !== null) return dropped(core, sizes);
  if (core.role === 'leader') return proposeAsLeader(core, payloads);
  if (core.leader === NO_NODE) return dropped(core, 'no_leader');
  if (!core.settings.forwardProposals) return dropped(core, 'not_leader');
  return forward(core, payloads);
}

/**
 * A forwarded proposal. Whoever is not the leader drops it: it is forwarded once, and never goes in circles.
 */
export function onProposeMessage(core: Core, message: Propose): StepResult {
  if (core.role !== 'leader') return core.ignored(message, 'not_leader');
  const result = propose(core, message.payloads);
  return result.status === 'accepted' ? OK : core.ignored(message, 'proposal_dropped');
}

/** True if this node leads and would take one more small proposal. */
export function takesProposals(core: Core): boolean {
  return core.role === 'leader' && refusalOfLeader(core, 1, ENTRY_OVERHEAD_BYTES) === null;
}

function proposeAsLeader(core: Core, payloads: readonly Uint8Array[]): ProposeResult {
  let bytes = 0;
  for (const payload of payloads) bytes += payload.byteLength + ENTRY_OVERHEAD_BYTES;
  const refusal = refusalOfLeader(core, payloads.length, bytes);
  if (refusal !== null) return dropped(core, refusal);
  wake(core);
  const { index } = appendOwn(core, 'normal', payloads);
  return { status: 'accepted', firstIndex: index, lastIndex: core.log.last, term: core.term };
}

function refusalOfLeader(core: Core, entries: number, bytes: number): ProposeRefusal | null {
  const { log, settings } = core;
  if (core.transfer !== null) return 'transferring';
  const pending = log.unappliedBytes;
  // One proposal is always admitted when nothing is pending, or a large one could never pass.
  const tooMany = log.last - log.applied + entries > settings.maxPendingEntries;
  const tooMuch = pending > 0 && pending + bytes > settings.maxPendingBytes;
  return tooMany || tooMuch ? 'overloaded' : null;
}

function forward(core: Core, payloads: readonly Uint8Array[]): ProposeResult {
  core.send({ kind: 'propose', from: core.id, to: core.leader, term: core.term, payloads });
  return { status: 'forwarded', to: core.leader };
}

function refusalBySize({ settings }: Core, payloads: readonly Uint8Array[]): ProposeRefusal | null {
  if (payloads.length === 0) return 'empty';
  if (payloads.length > settings.maxPendingEntries) return 'too_large';
  for (const { byteLength } of payloads) {
    if (byteLength > settings.maxProposalBytes) return 'too_large';
  }
  return null;
}

function dropped(core: Core, reason: ProposeRefusal): ProposeResult {
  return { status: 'dropped', reason, leader: core.leader };
}
