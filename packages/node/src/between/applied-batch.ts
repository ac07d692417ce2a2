import type { Command, Consensus, GroupId } from './protocol.js';

/** Entries of a group, and parcels of entries, of which the consensus side may not know. */
const UNTOLD_ENTRIES_MAX = 256;
const UNTOLD_PARCELS_MAX = 64;

/**
 * Commands on their way to the consensus side, in their order, but for how far states are: that goes along with
 * the next command of another kind, or when it is asked for. A message of its own for each parcel of entries
 * would wake the other thread once more in every round of a follower, and only limits depend on it: how much is
 * handed over before it is applied, and which entries are kept in memory.
 */
export class AppliedBatch implements Pick<Consensus, 'send'> {
  private readonly line: Pick<Consensus, 'send'>;
  /** How far each group is, as it was told, and as it was not. */
  private readonly told = new Map<GroupId, number>();
  private untold = new Map<GroupId, number>();
  private parcels = 0;

  constructor(line: Pick<Consensus, 'send'>) {
    this.line = line;
  }

  send(command: Command): void {
    if (command.kind === 'applied') {
      this.note(command.group, command.index);
      return;
    }
    this.tell();
    if (command.kind === 'drop') this.told.delete(command.group);
    this.line.send(command);
  }

  /** Tells what was not told. To be called several times a second. */
  tell(): void {
    if (this.parcels === 0) return;
    const { untold } = this;
    this.untold = new Map();
    this.parcels = 0;
    for (const [group, index] of untold) {
      this.told.set(group, index);
      this.line.send({ kind: 'applied', group, index });
    }
  }

  private note(group: GroupId, index: number): void {
    this.untold.set(group, index);
    this.parcels += 1;
    const isMuch = index - (this.told.get(group) ?? 0) >= UNTOLD_ENTRIES_MAX;
    if (isMuch || this.parcels >= UNTOLD_PARCELS_MAX) this.tell();
  }
}
