import type { SnapshotMeta, Write } from 'raft-ts';
import { assert } from '../base/assert.js';
import { elementAt } from '../base/element.js';
import type { GroupId } from '../between/protocol.js';
import { type GroupLog, operationsOf } from './group-log.js';
import type { LogWriter } from './log-writer.js';

/**
 * The writes of the log that the core of a group asks for, in their order. Those that come with a snapshot, and behind it,
 * wait until the engine side has made it the state of the group.
 */
export class GroupWrites {
  /** Writes that are under way, the oldest first. */
  private readonly underWay: Write[] = [];
  private installing: { readonly snapshot: SnapshotMeta; readonly writes: Write[] } | null = null;

  /** @param done called when a write is durable */
  constructor(
    private readonly group: GroupId,
    private readonly log: GroupLog,
    private readonly writer: LogWriter,
    private readonly done: (write: Write) => void,
  ) {}

  /** True if a snapshot is being installed; there is no log meanwhile. */
  get isInstalling(): boolean {
    return this.installing !== null;
  }

  /** @returns the snapshot that is to be installed before anything else; null for none */
  add(write: Write): SnapshotMeta | null {
    if (this.installing !== null) {
      this.installing.writes.push(write);
      return null;
    }
    const { snapshot } = write;
    if (snapshot === null) this.append(write);
    else this.installing = { snapshot, writes: [write] };
    return snapshot;
  }

  /** The state is that of the snapshot now, which ends at this index; what waited behind it is written. */
  installed(index: number): SnapshotMeta {
    const { installing } = this;
    assert(installing?.snapshot.index === index, 'only a snapshot that was asked for is installed');
    const { snapshot, writes } = installing;
    this.installing = null;
    this.log.checkpointed(snapshot);
    for (const write of writes) this.append(write);
    return snapshot;
  }

  /** A write is durable. To be called from `done`. */
  ended(write: Write): void {
    assert(this.underWay.shift() === write, 'the writes of a group end in their order');
  }

  private append(write: Write): void {
    const [first] = write.entries;
    const previous = first === undefined ? 0 : this.hashBefore(first.index);
    this.underWay.push(write);
    this.writer.append(operationsOf(this.group, write, previous), () => this.done(write));
  }

  private hashBefore(index: number): number {
    for (let i = this.underWay.length - 1; i >= 0; i--) {
      // A later write says what stands at an index of which an earlier one spoke, too.
      const { entries } = elementAt(this.underWay, i);
      const entry = entries[index - 1 - (entries[0]?.index ?? index)];
      if (entry !== undefined) return entry.hash;
    }
    return this.log.hash(index - 1);
  }
}
