/**
 * Asks all the time if all nodes hold the same state. The leader of a group writes what it holds in
 * one moment, and tells the other members the index that this stands for before they can have applied it all,
 * so that each writes the same moment; then all compare the hashes of what they wrote. Calls between the
 * engine sides:
 *
 *   call   := 1 group:varint index:varint version:varint      what is your state at this index?
 *           | 2 group:varint index:varint                     you differ from the majority
 *   answer := digest:32 bytes | nothing
 *
 * A node that differs from the majority twice in a row stops serving: which of its answers are right, nobody
 * knows.
 */

import { ByteReader, ByteWriter } from '@althing/engine';
import { type Clock, pause } from '../base/clock.js';
import { isDamage } from '../base/failures.js';
import type { GroupId, NodeId } from '../between/protocol.js';
import { CallKind, type Calls } from '../calls/calls.js';
import type { GroupSession } from '../groups/group-session.js';
import type { State } from '../groups/state.js';
import type { Checkpointer } from './checkpointer.js';
import { DIGEST_VERSION, stateDigest } from './state-digest.js';

/** The outcome of a comparison. */
export interface StateCheck {
  readonly group: GroupId;
  readonly index: number;
  /** `incomplete`: not all members had the same moment; those who had agree. */
  readonly outcome: 'equal' | 'different' | 'incomplete';
  /** The members that differ from the majority; empty also when there is none. */
  readonly minority: readonly NodeId[];
}

export interface StateCheckSettings {
  /** Time between two comparisons of a group that changes, in milliseconds; 0 for none at all. */
  readonly stateCheckIntervalMs: number;
}

export interface StateChecksOptions {
  readonly nodeId: NodeId;
  readonly state: Pick<State, 'isOpen' | 'store'>;
  readonly checkpointer: Pick<Checkpointer, 'capture'>;
  readonly calls: Pick<Calls, 'call' | 'serve'>;
  readonly session: (group: GroupId) => GroupSession | undefined;
  readonly settings: StateCheckSettings;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly report: (check: StateCheck) => void;
  /** This node's state of a group is another one than that of the majority. */
  readonly onDiverged: (group: GroupId, index: number) => void;
  /** Called when damage is found while a state is read. */
  readonly onDamage: (error: unknown) => void;
}

const ASK = 1;
const VERDICT = 2;
const DIGEST_BYTES = 32;

/** States that a node reads at the same time. */
const READING_MAX = 4;

/** Time that a follower waits for an index to come. */
const WAIT_MS = 5000;

/** Time for which a state may be read. */
const READ_MS = 3_600_000;

/** A comparison that was not complete, or that showed a difference, is soon made again, so often. */
const RETRY_MS = 2000;
const RETRIES_MAX = 5;

/** The share of the time in which a state is read: one in so many milliseconds. */
const SHARE = 10;
const SLICE_MS = 2;

interface Standing {
  /** When the next comparison is due. */
  due: number;
  retries: number;
  /** Where the state stood when all were equal, so that nothing is compared twice. */
  equalAt: number;
  /** Nodes that differed the last time. */
  suspects: string;
}

interface DigestAnswer {
  readonly node: NodeId;
  readonly digest: Buffer | null;
}

export class StateChecks {
  private readonly standings = new WeakMap<GroupSession, Standing>();
  private reading = 0;
  /** A comparison that this node leads is under way. */
  private isComparing = false;

  constructor(private readonly options: StateChecksOptions) {
    options.calls.serve(CallKind.StateCheck, (_from, payload) => this.answer(payload));
  }

  /** Starts a comparison of a group that this node leads when one is due. To be called now and then. */
  consider(session: GroupSession): void {
    const { settings, clock, state } = this.options;
    if (settings.stateCheckIntervalMs === 0 || this.isComparing || !session.leading || !state.isOpen) return;
    const standing = this.standingOf(session);
    if (clock.now() < standing.due || session.appliedIndex === standing.equalAt) return;
    const others = session.membership.voters.filter((id) => id !== this.options.nodeId);
    if (others.length === 0) return;
    this.isComparing = true;
    void this.compare(session, others).then((check) => {
      this.isComparing = false;
      this.conclude(session, check);
    });
  }

  /** Compares what the members of a group hold. */
  private async compare(session: GroupSession, others: readonly NodeId[]): Promise<StateCheck> {
    const { nodeId } = this.options;
    let index = 0;
    let asked: Promise<DigestAnswer>[] = [];
    const digest = await this.read(session, (placed) => {
      index = placed;
      asked = others.map((node) => this.ask(node, session.id, placed));
    });
    const answers = [{ node: nodeId, digest }, ...(await Promise.all(asked))];
    return { group: session.id, index, ...judge(answers, others.length + 1) };
  }

  private async ask(node: NodeId, group: GroupId, index: number): Promise<DigestAnswer> {
    const out = new ByteWriter(32);
    out.u8(ASK);
    out.varint(group);
    out.varint(index);
    out.varint(DIGEST_VERSION);
    try {
      const digest = await this.options.calls.call(node, CallKind.StateCheck, out.take(), READ_MS);
      return { node, digest: digest.length === DIGEST_BYTES ? Buffer.from(digest) : null };
    } catch {
      return { node, digest: null };
    }
  }

  private conclude(session: GroupSession, check: StateCheck): void {
    const { clock, settings, report } = this.options;
    const intervalMs = settings.stateCheckIntervalMs;
    const standing = this.standingOf(session);
    const { outcome, minority, index } = check;
    const isRetried = outcome !== 'equal' && standing.retries < RETRIES_MAX;
    standing.due = clock.now() + (isRetried ? Math.min(RETRY_MS, intervalMs) : intervalMs);
    standing.retries = isRetried ? standing.retries + 1 : 0;
    if (outcome === 'equal') standing.equalAt = index;
    // Only the last attempt counts as one that was not complete.
    if (outcome !== 'incomplete' || !isRetried) report(check);
    if (outcome === 'incomplete') return;
    const suspects = minority.join(' ');
    const isConfirmed = suspects !== '' && suspects === standing.suspects;
    standing.suspects = suspects;
    if (isConfirmed) for (const node of minority) this.tell(node, check);
  }

  private tell(node: NodeId, { group, index }: StateCheck): void {
    if (node === this.options.nodeId) {
      this.options.onDiverged(group, index);
      return;
    }
    const out = new ByteWriter(32);
    out.u8(VERDICT);
    out.varint(group);
    out.varint(index);
    // A node that does not hear it now hears it after the next comparison.
    this.options.calls.call(node, CallKind.StateCheck, out.take(), WAIT_MS).catch(() => {});
  }

  private async answer(payload: Uint8Array): Promise<Uint8Array> {
    const input = new ByteReader(payload);
    const what = input.u8();
    const group = input.varint();
    const index = input.varint();
    if (what === VERDICT) {
      this.options.onDiverged(group, index);
      return new Uint8Array(0);
    }
    const session = this.options.session(group);
    if (what !== ASK || session === undefined || input.varint() !== DIGEST_VERSION)
      throw new Error('there is nothing to be compared');
    const digest = await this.readAt(session, index);
    if (digest === null) throw new Error('the state of this index can not be had');
    return digest;
  }

  /**
   * The digest of the state of a group that this node follows at an index; null when it is past, or does not
   * come.
   */
  private readAt(session: GroupSession, index: number): Promise<Buffer | null> {
    return new Promise((resolve) => {
      let cancel = (): void => {};
      const giveUp = session.whenAt(index, (there) => {
        cancel();
        if (there) void this.read(session, () => {}).then(resolve);
        else resolve(null);
      });
      // When that is over already, this comes to nothing.
      cancel = this.options.clock.after(WAIT_MS, giveUp);
    });
  }

  /** The digest of the state of a group as it is now; null when it can't be had. */
  private async read(session: GroupSession, placed: (index: number) => void): Promise<Buffer | null> {
    const { checkpointer, state } = this.options;
    if (this.reading >= READING_MAX || !state.isOpen) return null;
    this.reading += 1;
    try {
      const view = await checkpointer.capture(session, placed, () => state.store.openSnapshot(session.id, 2));
      if (view === null || view === undefined) return null;
      try {
        const digest = await stateDigest(session.id, view, this.resting());
        // The records of a group that was deleted meanwhile may not all have been there.
        return this.options.session(session.id) === session ? digest : null;
      } finally {
        await view.close();
      }
    } catch (error) {
      // It may also have been closed meanwhile.
      if (isDamage(error)) this.options.onDamage(error);
      return null;
    } finally {
      this.reading -= 1;
    }
  }

  /** Lets other work have most of the time. */
  private resting(): () => Promise<void> {
    const { clock } = this.options;
    let begun = clock.now();
    return async () => {
      const spent = clock.now() - begun;
      if (spent < SLICE_MS) return;
      await pause(clock, spent * (SHARE - 1));
      begun = clock.now();
    };
  }

  private standingOf(session: GroupSession): Standing {
    const known = this.standings.get(session);
    if (known !== undefined) return known;
    const due = this.options.clock.now() + this.options.settings.stateCheckIntervalMs;
    const standing: Standing = { due, retries: 0, equalAt: 0, suspects: '' };
    this.standings.set(session, standing);
    return standing;
  }
}

/**
 * The meaning of the answers.
 *
 * @param members how many there are, those included that gave none
 */
export function judge(
  answers: readonly DigestAnswer[],
  members: number,
): Pick<StateCheck, 'outcome' | 'minority'> {
  const holders = new Map<string, NodeId[]>();
  let count = 0;
  for (const { node, digest } of answers) {
    if (digest === null) continue;
    count += 1;
    const name = digest.toString('hex');
    holders.set(name, [...(holders.get(name) ?? []), node]);
  }
  if (holders.size <= 1) return { outcome: count === members ? 'equal' : 'incomplete', minority: [] };
  const majority = [...holders.values()].find((nodes) => 2 * nodes.length > members);
  const minority = majority === undefined ? [] : [...holders.values()].filter((nodes) => nodes !== majority);
  return { outcome: 'different', minority: minority.flat().sort((a, b) => a - b) };
}
