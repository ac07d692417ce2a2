import { isU53 } from '../bytes.js';
import { demand, MisuseError } from '../errors.js';
import type { GroupLog } from './group-log.js';
import type { LogOperation } from './types.js';

/**
 * The state of a group once everything that was accepted is durable. Each operation is held against it when
 * it comes, so that a broken promise of Raft (a vote taken back, a committed entry replaced, an index that
 * goes back) stops the caller before it reaches the disk.
 */
export class Accepted {
  lastIndex = 0;
  lastTerm = 0;
  baseIndex = 0;
  term = 0;
  vote = 0;
  commit = 0;

  /** Back to what is durable, when what was waiting had to be given up. */
  restore(log: GroupLog): void {
    this.lastIndex = log.lastIndex;
    this.lastTerm = log.lastTerm;
    this.baseIndex = log.base.index;
    this.term = log.hardState?.term ?? 0;
    this.vote = log.hardState?.vote ?? 0;
    this.commit = log.hardState?.commit ?? 0;
  }

  /** Checks an operation and takes it in. Throws `MisuseError`. */
  accept(operation: LogOperation): void {
    switch (operation.kind) {
      case 'entry': {
        const { index, term, type, hash } = operation;
        if (index !== this.lastIndex + 1) this.checkTruncation(index);
        if (!(isU53(term) && (term >= this.lastTerm || index <= this.lastIndex)))
          throw termError(term, this.lastTerm);
        if (!(type >= 0 && type <= 255 && Number.isInteger(type)))
          throw new MisuseError(`an entry of type ${type}`);
        demandHash(hash);
        this.lastIndex = index;
        this.lastTerm = term;
        return;
      }
      case 'hardState': {
        const { term, vote, commit } = operation;
        demand(isU53(term) && isU53(vote) && isU53(commit), 'a hard state that is not of safe integers');
        if (term < this.term) throw new MisuseError(`the term went back from ${this.term} to ${term}`);
        if (commit < this.commit)
          throw new MisuseError(`the commit index went back from ${this.commit} to ${commit}`);
        const votesAnew = term === this.term && this.vote !== 0 && vote !== this.vote;
        if (votesAnew) throw new MisuseError(`a second vote in term ${term}: for ${vote} after ${this.vote}`);
        this.term = term;
        this.vote = vote;
        this.commit = commit;
        return;
      }
      case 'reset': {
        const { index, term, hash } = operation;
        demandHash(hash);
        demand(isU53(index) && isU53(term) && index > 0, 'a reset to what is not a positive safe integer');
        demand(
          index >= this.baseIndex && index >= this.commit,
          `a reset to ${index}, behind what is committed`,
        );
        this.lastIndex = index;
        this.lastTerm = term;
        this.baseIndex = index;
        return;
      }
      case 'drop': {
        this.lastIndex = 0;
        this.lastTerm = 0;
        this.baseIndex = 0;
        this.term = 0;
        this.vote = 0;
        this.commit = 0;
        return;
      }
    }
  }

  /** Holds at the end of each append call, when its operations took effect together. */
  checkTogether(group: number): void {
    if (this.commit <= this.lastIndex) return;
    throw new MisuseError(`group ${group} commits ${this.commit}, beyond its last entry ${this.lastIndex}`);
  }

  /** Takes in a compaction, which is of the caller's making at any time. */
  compactTo(index: number): void {
    this.baseIndex = Math.max(this.baseIndex, index);
  }

  private checkTruncation(index: number): void {
    demand(isU53(index), 'an index that is not a safe integer');
    demand(index <= this.lastIndex, `entry ${index} after entry ${this.lastIndex}: a gap`);
    demand(index > this.baseIndex, `entry ${index}, which is compacted`);
    demand(index > this.commit, `entry ${index} would replace a committed one (commit index ${this.commit})`);
  }
}

function demandHash(hash: number): void {
  demand(hash >>> 0 === hash, 'a chain hash that is no unsigned 32-bit number');
}

function termError(term: number, lastTerm: number): MisuseError {
  return new MisuseError(`an entry of term ${term} after one of term ${lastTerm}`);
}
