import { DamagedLogError } from '../errors.js';
import {
  type ChainLink,
  type DecodedRecord,
  isSameLink,
  isWholeEntry,
  KIND_COMPACTION,
  KIND_DROP,
  KIND_ENTRY,
  KIND_HARD_STATE,
  KIND_RESET,
  linkOf,
  paddedBytes,
  previousOf,
  voteOf,
} from './format.js';
import { EMPTY_BASE, GroupLog, type LogBase, type RecordPlace } from './group-log.js';
import type { LiveLedger } from './position-index.js';
import { holdsItsHash, readWindow } from './reader.js';
import { type Segment, type Segments, segmentName } from './segments.js';
import type { ChainHash } from './types.js';

/**
 * Builds the groups from the records of the log, in their order.
 *
 * Old segments go when nothing in them is needed any more. So the first record that is met of a group may be
 * any: an entry in the middle whose predecessors were relocated, and come later, or a compaction. What can
 * not be connected yet is kept loose; at the end everything must connect, from the base of each group to its
 * last entry.
 */
export class GroupRecovery {
  private readonly groups = new Map<number, RecoveringGroup>();

  /** @param chainHash how chain hashes are computed; null: those of the entries are believed */
  constructor(private readonly chainHash: ChainHash | null) {}

  /** Takes in the next record. `content` is the segment's. */
  take(record: DecodedRecord, content: Buffer, segment: Segment): void {
    if (record.kind === KIND_DROP) {
      this.groups.delete(record.group);
      return;
    }
    let group = this.groups.get(record.group);
    if (group === undefined) {
      group = new RecoveringGroup(record.group, this.chainHash);
      this.groups.set(record.group, group);
    }
    group.take(record, content, segment);
  }

  /** All groups, whole. Throws `DamagedLogError`. */
  finish(segments: Segments): Map<number, GroupLog> {
    const logs = new Map<number, GroupLog>();
    for (const [id, group] of this.groups) logs.set(id, group.finish(segments));
    return logs;
  }
}

/** Nothing is counted before the end: see `GroupLog.report`. */
const NO_LEDGER: LiveLedger = { add: () => undefined };

/** An entry that does not connect yet. */
type LooseEntry = {
  readonly segment: number;
  readonly position: number;
  readonly length: number;
  readonly term: number;
  readonly link: ChainLink;
  readonly previous: ChainLink;
};

class RecoveringGroup {
  /** A dense range of entries. Until the base is known it starts where the first entry was met. */
  private log: GroupLog;
  private base: LogBase | undefined;
  private basePlace: RecordPlace = { segment: 0, length: 0 };
  /** The range is empty and its beginning not known: any entry may start it. */
  private isOpen = true;
  private readonly loose = new Map<number, LooseEntry>();
  /** No loose entry has a higher index. */
  private looseMax = 0;

  constructor(
    id: number,
    private readonly chainHash: ChainHash | null,
  ) {
    this.log = new GroupLog(id);
  }

  take(record: DecodedRecord, content: Buffer, segment: Segment): void {
    const at = record.position;
    const length = paddedBytes(record.length);
    const place = { segment: segment.number, length };
    const { index, term } = record;
    switch (record.kind) {
      case KIND_ENTRY: {
        const entry = this.entryOf(record, content, segment);
        if (record.isRelocated) this.relocate(index, entry);
        else this.append(index, entry);
        return;
      }
      case KIND_HARD_STATE: {
        const vote = voteOf(content, record);
        if (vote === undefined) throw damaged(segment, at, 'a hard state without a vote');
        this.log.setHardState({ term, vote, commit: index }, place, NO_LEDGER);
        return;
      }
      case KIND_COMPACTION:
        this.compact({ index, term, link: previousOf(content, record) }, place);
        return;
      case KIND_RESET:
        this.loose.clear();
        this.startAfter({ index, term, link: previousOf(content, record) });
        this.setBase({ index, term, link: previousOf(content, record) }, place);
        return;
      default:
        throw damaged(segment, at, `a record of the unknown kind ${record.kind}`);
    }
  }

  finish(segments: Segments): GroupLog {
    const base = this.base ?? EMPTY_BASE;
    const log = this.log;
    this.dropLoose((index) => index <= base.index);
    const tailFrom = log.lastIndex + 1;
    if (this.loose.size === 0 && log.firstIndex === base.index + 1) {
      if (!this.isOpen && !isSameLink(log.base.link, base.link)) throw this.gap(segments, log.firstIndex);
      log.compactTo(base, this.basePlace, NO_LEDGER);
      return log;
    }
    return this.join(segments, base, tailFrom);
  }

  private entryOf(record: DecodedRecord, content: Buffer, segment: Segment): LooseEntry {
    const { position, term } = record;
    if (!isWholeEntry(record)) throw damaged(segment, position, 'an entry without a chain hash');
    const previous = previousOf(content, record);
    const link = linkOf(content, position, record.format);
    if (!holdsItsHash(content, record, previous, link, this.chainHash)) {
      throw damaged(
        segment,
        position,
        `entry ${record.index} of group ${record.group} does not hold its chain hash`,
      );
    }
    return {
      segment: segment.number,
      position,
      length: paddedBytes(record.length),
      term,
      link,
      previous,
    };
  }

  /** An ordinary entry: what had its index or a higher one is gone. */
  private append(index: number, entry: LooseEntry): void {
    if (index <= this.looseMax) this.dropLoose((loose) => loose >= index);
    if (index <= this.log.lastIndex) this.cutAfter(index - 1, entry.previous);
    this.attach(index, entry);
  }

  /** A copy of an entry: the original may still be known, or be in a segment that is gone. */
  private relocate(index: number, entry: LooseEntry): void {
    if (this.base !== undefined && index <= this.base.index) return;
    if (!this.isOpen && index >= this.log.firstIndex && index <= this.log.lastIndex) {
      this.log.positions.move(index, entry.segment, entry.position, entry.length, NO_LEDGER);
    } else {
      this.attach(index, entry);
    }
  }

  /** Puts an entry at the end of the dense range if it connects there, with what was loose behind it. */
  private attach(index: number, entry: LooseEntry): void {
    if (this.isOpen) this.startAfter({ index: index - 1, term: 0, link: entry.previous });
    if (index !== this.log.lastIndex + 1) {
      this.loose.set(index, entry);
      this.looseMax = Math.max(this.looseMax, index);
      return;
    }
    this.push(index, entry);
    if (this.loose.size > 0) this.attachLoose();
  }

  private attachLoose(): void {
    for (let next = this.log.lastIndex + 1; ; next++) {
      const entry = this.loose.get(next);
      if (entry === undefined) return;
      this.loose.delete(next);
      this.push(next, entry);
    }
  }

  private push(index: number, entry: LooseEntry): void {
    if (!isSameLink(entry.previous, this.log.lastLink)) {
      const missing = `entry ${index} of group ${this.log.id} does not follow the entry before it`;
      throw new DamagedLogError({ segment: segmentName(entry.segment), offset: entry.position, missing });
    }
    this.log.push(entry.term, entry.link, entry.segment, entry.position, entry.length, NO_LEDGER);
  }

  private dropLoose(isGone: (index: number) => boolean): void {
    this.looseMax = 0;
    for (const index of this.loose.keys()) {
      if (isGone(index)) this.loose.delete(index);
      else this.looseMax = Math.max(this.looseMax, index);
    }
  }

  private cutAfter(last: number, link: ChainLink): void {
    if (last < this.log.firstIndex - 1) this.isOpen = true;
    else this.log.truncateAfter(last, link, NO_LEDGER);
  }

  private compact(base: LogBase, place: RecordPlace): void {
    if (this.base !== undefined && base.index < this.base.index) return;
    this.setBase(base, place);
    this.dropLoose((index) => index <= base.index);
    if (this.isOpen || base.index > this.log.lastIndex) {
      this.startAfter(base);
      this.attachLoose();
    } else if (base.index >= this.log.firstIndex) {
      this.log.compactTo(base, place, NO_LEDGER);
    }
  }

  /** An empty range that goes on after `base`. */
  private startAfter(base: LogBase): void {
    this.log.reset(base, { segment: 0, length: 0 }, NO_LEDGER);
    this.isOpen = false;
  }

  private setBase(base: LogBase, place: RecordPlace): void {
    this.base = base;
    this.basePlace = place;
  }

  /** Connects the loose entries before and behind the dense range. */
  private join(segments: Segments, base: LogBase, tailFrom: number): GroupLog {
    const dense = this.log;
    const joined = new GroupLog(dense.id);
    joined.reset(base, this.basePlace, NO_LEDGER);
    const last = Math.max(dense.lastIndex, this.looseMax);
    this.log = joined;
    for (let index = base.index + 1; index <= last; index++) {
      const inDense = !this.isOpen && index >= dense.firstIndex && index < tailFrom;
      const entry = this.loose.get(index) ?? (inDense ? readLoose(segments, dense, index) : undefined);
      if (entry === undefined) throw this.gap(segments, index);
      this.push(index, entry);
    }
    if (dense.hardState !== undefined) {
      const place = { segment: dense.hardStateSegment, length: dense.hardStateLength };
      joined.setHardState(dense.hardState, place, NO_LEDGER);
    }
    return joined;
  }

  private gap(segments: Segments, index: number): DamagedLogError {
    const missing = `entry ${index} of group ${this.log.id}, and perhaps more before it, is gone`;
    const { oldest } = segments;
    return new DamagedLogError({ segment: segmentName(oldest.number), offset: 0, missing });
  }
}

/** An entry of the dense range in the form of a loose one. */
function readLoose(segments: Segments, log: GroupLog, index: number): LooseEntry | undefined {
  const [entry] = readWindow(segments, log, index, index + 1);
  if (entry === undefined) return undefined;
  const { positions } = log;
  return {
    segment: positions.segmentOf(index),
    position: positions.positionOf(index),
    length: positions.lengthOf(index),
    term: entry.term,
    link: entry.link,
    previous: entry.previous,
  };
}

function damaged(segment: Segment, offset: number, missing: string): DamagedLogError {
  return new DamagedLogError({ segment: segmentName(segment.number), offset, missing });
}
