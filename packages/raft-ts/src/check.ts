/**
 * Checks that a message can come from a sound node. Peers are authenticated, but they may be damaged, or of
 * another build: what they say is checked before any of it is believed.
 */
import { isCount, isNodeId } from './assert.js';
import { CodecError } from './bytes.js';
import { decodeChange } from './change.js';
import type { Core } from './core.js';
import { chainHash } from './hash.js';
import { isValidMembership } from './membership.js';
import type { Append, InstallSnapshot, Message } from './messages.js';
import type { RefusalReason } from './trace.js';
import { ENTRY_KIND_CODES, type Entry, type Index, MAX_COUNT, type Term } from './types.js';

/** The flaw of a message, or null. */
export function flawOf(core: Core, message: Message): RefusalReason | null {
  if (message.to !== core.id) return 'wrong_recipient';
  if (!isNodeId(message.from) || message.from === core.id) return 'bad_sender';
  if (!isPosition(message.term)) return 'bad_number';
  // A fresh node has no notion of the group's term and believes any.
  if (core.term > 0 && message.term > core.term + core.settings.maxTermJump) return 'term_jump';
  if (!hasSoundNumbers(message)) return 'bad_number';
  if (message.kind === 'append') return appendFlaw(core, message);
  return message.kind === 'snapshot' ? snapshotFlaw(message) : null;
}

function hasSoundNumbers(message: Message): boolean {
  switch (message.kind) {
    case 'heartbeat':
      return isPosition(message.commit) && isCount(message.round);
    case 'heartbeatResponse':
      return isCount(message.round);
    case 'append':
      return isPosition(message.prevIndex) && isPosition(message.prevTerm) && isPosition(message.commit);
    case 'appendResponse':
      return isPosition(message.index) && isPosition(message.hintIndex) && isPosition(message.hintTerm);
    case 'preVote':
    case 'vote':
      if (!isPosition(message.lastIndex) || !isPosition(message.lastTerm) || message.term === 0) return false;
      return message.lastTerm <= message.term && hasSoundClaim(message);
    case 'preVoteResponse':
    case 'voteResponse':
      return hasSoundClaim(message);
    case 'quiesce':
      return isPosition(message.index);
    case 'readIndex':
      return isCount(message.id);
    case 'readIndexResponse':
      return isCount(message.id) && isPosition(message.index) && message.index > 0;
    case 'snapshot':
    case 'timeoutNow':
    case 'wake':
    case 'propose':
      return true;
  }
}

function hasSoundClaim({
  commit,
  commitTerm,
}: {
  readonly commit: Index;
  readonly commitTerm: Term;
}): boolean {
  return isPosition(commit) && isPosition(commitTerm);
}

function appendFlaw(core: Core, message: Append): RefusalReason | null {
  const { entries, prevIndex, term } = message;
  // A stale message is not looked at: the chain costs time.
  if (term < core.term) return null;
  if (message.prevTerm > term) return 'bad_entries';
  let index = prevIndex;
  let lastTerm = message.prevTerm;
  let hash = message.prevHash;
  for (const entry of entries) {
    index += 1;
    if (!isSoundEntry(entry, index, lastTerm, term)) return 'bad_entries';
    hash = chainHash(hash, index, entry.term, entry.kind, entry.payload, core.settings.hashPayload);
    if (hash !== entry.hash) return 'hash_mismatch';
    lastTerm = entry.term;
    if (entry.kind === 'change' && !isChange(entry.payload)) return 'bad_change';
  }
  return null;
}

function isSoundEntry(entry: Entry, index: Index, lastTerm: Term, term: Term): boolean {
  if (entry.index !== index || index > MAX_COUNT) return false;
  if (!isCount(entry.term) || entry.term < lastTerm || entry.term > term || entry.term === 0) return false;
  return entry.payload instanceof Uint8Array && ENTRY_KIND_CODES[entry.kind] !== undefined;
}

function isChange(payload: Uint8Array): boolean {
  try {
    decodeChange(payload);
    return true;
  } catch (error) {
    if (error instanceof CodecError) return false;
    throw error;
  }
}

function snapshotFlaw({ snapshot, term }: InstallSnapshot): RefusalReason | null {
  const isPlaced = isPosition(snapshot.index) && snapshot.index > 0 && isPosition(snapshot.term);
  if (!isPlaced || snapshot.term === 0 || snapshot.term > term || !isCount(snapshot.hash))
    return 'bad_snapshot';
  const { membership } = snapshot;
  return isValidMembership(membership) && membership.voters.length > 0 ? null : 'bad_snapshot';
}

function isPosition(value: number): boolean {
  return isCount(value) && value <= MAX_COUNT;
}
