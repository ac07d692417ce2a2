import type { LogStore } from '@althing/storage';
import { decodeMembership } from '../between/membership.js';
import type { Applied, GroupId, NodeId } from '../between/protocol.js';
import { beginningOf, hashFits, MisfitError, misfitOf } from './log-fit.js';
import type { LogWriter } from './log-writer.js';

/** Brings the log of a group to where its state stands, before the group begins. */
export class GroupOpening {
  /** Groups that begin when a write is done. */
  private readonly opening = new Set<GroupId>();

  /** @param guarded runs what must not fail */
  constructor(
    private readonly nodeId: NodeId,
    private readonly log: LogStore,
    private readonly writer: LogWriter,
    private readonly guarded: (work: () => void) => void,
  ) {}

  get isIdle(): boolean {
    return this.opening.size === 0;
  }

  /**
   * Calls `begin` once log and state fit together, unless the group is dropped before.
   *
   * @throws MisfitError when they do not, and can't be made to
   */
  open(id: GroupId, applied: Applied, isNew: boolean, begin: () => void): void {
    if (this.opening.has(id)) return;
    const view = this.log.view(id);
    const { voters, outgoing } = decodeMembership(applied.membership);
    const isAlone = voters.length === 1 && voters[0] === this.nodeId && outgoing.length === 0;
    const misfit = misfitOf(view, applied, { isNew, isAlone });
    if (misfit !== null) throw new MisfitError(`group ${id}: ${misfit}`);
    // A log that went another way is one that a snapshot had just been installed over.
    const fits = view.lastIndex >= applied.index && (isAlone || hashFits(view, applied));
    if (view.hardState !== undefined && fits) {
      begin();
      return;
    }
    this.opening.add(id);
    this.writer.append(beginningOf(id, this.nodeId, view, applied), () => this.opened(id, begin));
  }

  /** Calls `begin` behind everything that is being written now, so that no promise of a former core is forgotten. */
  behindWrites(id: GroupId, begin: () => void): void {
    this.opening.add(id);
    this.writer.append([], () => this.opened(id, begin));
  }

  /** The group is gone, with its log. */
  drop(id: GroupId): void {
    this.opening.delete(id);
    this.writer.forget(id);
    this.writer.append([{ kind: 'drop', group: id }], () => {});
  }

  private opened(id: GroupId, begin: () => void): void {
    if (this.opening.delete(id)) this.guarded(begin);
  }
}
