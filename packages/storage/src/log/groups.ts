/** The groups of a log: what is durable of each, and what is accepted for it. */
import { isU53 } from '../bytes.js';
import { demand } from '../errors.js';
import { Accepted } from './accepted.js';
import { KIND_COMPACTION, KIND_DROP, KIND_ENTRY, KIND_HARD_STATE, KIND_RESET } from './format.js';
import { GroupLog } from './group-log.js';
import type { Segments } from './segments.js';
import type { BatchRecord } from './write-batch.js';

/** A group: what is durable of it, and how it will stand. */
export class Group {
  readonly accepted = new Accepted();
  /** Operations that are accepted and not durable. */
  pending = 0;

  constructor(readonly log: GroupLog) {
    this.accepted.restore(log);
  }

  /** A compaction up to here has nothing to do: it is done, or a reset, truncation or drop is under way. */
  isPast(upTo: number): boolean {
    return upTo <= this.accepted.baseIndex || (this.pending > 0 && upTo > this.accepted.lastIndex);
  }
}

/** All groups of which something is stored, or under way. */
export class Groups {
  private readonly byId: Map<number, Group>;

  constructor(logs: Iterable<GroupLog>) {
    this.byId = new Map(Array.from(logs, (log) => [log.id, new Group(log)]));
  }

  get all(): Iterable<Group> {
    return this.byId.values();
  }

  /** The numbers of those of which something is stored, ascending. */
  get stored(): number[] {
    const stored = [...this.byId.values()].filter(({ log }) => log.exists);
    return stored.map(({ log }) => log.id).sort((a, b) => a - b);
  }

  find(id: number): Group | undefined {
    return this.byId.get(id);
  }

  /** A group, which begins if there is none. */
  get(id: number): Group {
    let group = this.byId.get(id);
    if (group === undefined) {
      demand(isU53(id), 'a group is a safe non-negative integer');
      group = new Group(new GroupLog(id));
      this.byId.set(id, group);
    }
    return group;
  }

  /** One operation of a group less is under way; a group of which nothing is left is forgotten. */
  release(group: Group): void {
    demand(group.pending > 0, 'what is released was accepted');
    group.pending--;
    if (group.pending === 0 && !group.log.exists) this.byId.delete(group.log.id);
  }

  *logs(): Iterable<GroupLog> {
    for (const { log } of this.byId.values()) yield log;
  }
}

/** A record is durable at a place: it becomes part of the log of its group. */
export function applyRecord(record: BatchRecord, segment: number, position: number, ledger: Segments): void {
  const { log, kind, index, term, previous, link, length } = record;
  if (kind === KIND_ENTRY && record.isRelocated) {
    log.positions.move(index, segment, position, length, ledger);
  } else if (link !== undefined) {
    if (index <= log.lastIndex) log.truncateAfter(index - 1, previous, ledger);
    log.push(term, link, segment, position, length, ledger);
  } else if (kind === KIND_HARD_STATE && record.hardState !== undefined) {
    log.setHardState(record.hardState, { segment, length }, ledger);
  } else if (kind === KIND_COMPACTION && index >= log.base.index) {
    log.compactTo({ index, term, link: previous }, { segment, length }, ledger);
  } else if (kind === KIND_RESET) {
    log.reset({ index, term, link: previous }, { segment, length }, ledger);
  } else if (kind === KIND_DROP) {
    log.drop(ledger);
  }
}
