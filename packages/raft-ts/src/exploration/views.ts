/**
 * Views: the part of a node's state that invariants and the choice of actions need, as integers in one array.
 */
import { murmur3 } from '../hash.js';
import { RaftNode } from '../node.js';
import type { Membership } from '../types.js';
import type { Model } from './bounds.js';
import { Ints } from './fingerprints.js';
import type { LocalNode } from './localnode.js';

/** Places in a view. */
export const ROLE = 0;
export const TERM = 1;
/** The last index of the log, in memory and on the disk. */
export const LAST = 2;
export const DISK_LAST = 3;
/** Terms that the node ever led, one bit each. */
export const LED = 4;
/** The last index that it ever knew as committed. */
export const COMMIT = 5;
export const WRITES = 6;
export const HAS_READY = 7;
/** The term that the node can not fall behind any more. */
export const DISK_TERM = 8;
/** The index of the change that brought the membership in force, and a hash of that membership. */
export const MEMBERSHIP_INDEX = 9;
export const MEMBERSHIP = 10;
const LISTS = 11;

const FOLLOWER = 0;
const CANDIDATE = 1;
export const LEADER = 2;

export class Views {
  private readonly ints = new Ints();
  /** The length of a view. */
  readonly size: number;
  /**
   * Offsets of lists in a view, by index: terms and hashes in the log, hashes on the disk, hashes of
   * committed entries.
   */
  readonly terms: number;
  readonly hashes: number;
  readonly diskHashes: number;
  readonly committed: number;
  /** The last index that the node knew as committed when it led each term. */
  readonly committedIn: number;

  constructor(private readonly model: Model) {
    const { indexEnd, termMax } = model;
    this.terms = LISTS;
    this.hashes = this.terms + indexEnd;
    this.diskHashes = this.hashes + indexEnd;
    this.committed = this.diskHashes + indexEnd;
    this.committedIn = this.committed + indexEnd;
    this.size = this.committedIn + termMax + 1;
  }

  /** All views, one behind the other. */
  get values(): Int32Array {
    return this.ints.values;
  }

  /** Adds the view of the next state. */
  add({ host, witness }: LocalNode): void {
    const core = RaftNode.coreOf(host.node);
    const { log } = core;
    const disk = host.disk.log;
    const at = this.ints.extend(this.size);
    const view = this.ints.values.subarray(at, at + this.size);
    view[ROLE] = core.role === 'leader' ? LEADER : core.role === 'follower' ? FOLLOWER : CANDIDATE;
    view[TERM] = core.term;
    view[LAST] = log.last;
    view[DISK_LAST] = disk.lastIndex();
    view[DISK_TERM] = host.disk.hardState.term;
    view[MEMBERSHIP_INDEX] = core.membershipIndex;
    view[MEMBERSHIP] = hashOf(core.tracker.membership);
    view[LED] = witness.led;
    view[COMMIT] = witness.commit;
    view[WRITES] = host.writes.length;
    view[HAS_READY] = this.model.bounds.lazy && host.node.hasReady() ? 1 : 0;
    for (let index = log.first - 1; index <= log.last; index += 1) {
      view[this.terms + index] = log.termAt(index);
      view[this.hashes + index] = log.hashAt(index);
    }
    for (let index = disk.firstIndex() - 1; index <= disk.lastIndex(); index += 1) {
      view[this.diskHashes + index] = disk.hash(index);
    }
    for (const [index, hash] of witness.committed.entries()) view[this.committed + index] = hash;
    for (const [term, index] of witness.committedIn.entries()) view[this.committedIn + term] = index;
  }
}

function hashOf(membership: Membership): number {
  return murmur3(Uint8Array.from(JSON.stringify(membership), (char) => char.charCodeAt(0)));
}
