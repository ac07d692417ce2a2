import { demand, MisuseError } from '../errors.js';
import {
  CHAIN_ROOT,
  type ChainLink,
  encodeRecord,
  encodeVote,
  FLAG_LAST_OF_BATCH,
  FLAG_RELOCATED,
  HARD_STATE_PAYLOAD_BYTES,
  KIND_COMPACTION,
  KIND_DROP,
  KIND_ENTRY,
  KIND_HARD_STATE,
  KIND_RESET,
  linkOf,
  recordBytesMax,
  SEGMENT_FORMAT_FIRST,
  sealRecord,
} from './format.js';
import type { GroupLog, LogBase } from './group-log.js';
import type { StoredEntry } from './reader.js';
import type { AppendEntry, HardState, LogOperation } from './types.js';

/** A record of the batch, with what its group learns from it once it is durable. */
export type BatchRecord = {
  readonly log: GroupLog;
  readonly kind: number;
  readonly isRelocated: boolean;
  /** Its offset in the batch. */
  readonly offset: number;
  readonly length: number;
  readonly index: number;
  readonly term: number;
  /** The link before an entry, or at the index of a compaction or reset. */
  readonly previous: ChainLink;
  /** The entry's own link; that of a copy is not needed. */
  readonly link: ChainLink | undefined;
  readonly hardState: HardState | undefined;
};

/** Finds the link of a durable entry. */
export type LinkReader = (log: GroupLog, index: number) => ChainLink | undefined;

/**
 * The records of one durable write, encoded one after the other into one buffer, which is used again for the
 * next write. Within the batch a group's chain goes on from what is durable.
 */
export class WriteBatch {
  private buffer: Buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  private usedBytes = 0;
  private encoded: BatchRecord[] = [];
  /** The ends of the chains of the groups in this batch. */
  private tips = new Map<GroupLog, { index: number; link: ChainLink }>();
  private firstSequence = 1;
  private format = SEGMENT_FORMAT_FIRST;

  constructor(private readonly linkAt: LinkReader) {}

  get bytes(): number {
    return this.usedBytes;
  }

  /** All of the records. Changes with the next write. */
  get content(): Buffer {
    return this.buffer.subarray(0, this.usedBytes);
  }

  get records(): readonly BatchRecord[] {
    return this.encoded;
  }

  /** Begins anew, in a format of segments. The buffer of the former write must not be in use any more. */
  begin(firstSequence: number, format: number): void {
    this.format = format;
    this.usedBytes = 0;
    this.encoded = [];
    // Not cleared: V8 would let the old table of the map point to the next, and so keep both for long.
    this.tips = new Map();
    this.firstSequence = firstSequence;
    if (this.buffer.length > KEPT_BYTES_MAX) this.buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  }

  add(log: GroupLog, operation: LogOperation): void {
    switch (operation.kind) {
      case 'entry':
        this.addEntry(log, operation);
        return;
      case 'hardState':
        this.addHardState(log, { term: operation.term, vote: operation.vote, commit: operation.commit });
        return;
      case 'reset':
        this.put(
          log,
          KIND_RESET,
          0,
          operation.index,
          operation.term,
          this.resetLink(operation.hash),
          NO_PAYLOAD,
        );
        return;
      case 'drop':
        this.put(log, KIND_DROP, 0, 0, 0, CHAIN_ROOT, NO_PAYLOAD);
        return;
    }
  }

  addHardState(log: GroupLog, state: HardState): void {
    this.put(log, KIND_HARD_STATE, 0, state.commit, state.term, CHAIN_ROOT, encodeVote(state.vote), {
      hardState: state,
    });
  }

  /** Lets the entries up to `upTo` go, of which the last one is durable or in this batch. */
  addCompactionUpTo(log: GroupLog, upTo: number): void {
    const inBatch = this.search(log, upTo);
    const term = inBatch === undefined ? log.term(upTo) : inBatch.term;
    const link = inBatch === undefined ? this.durableLink(log, upTo) : inBatch.link;
    if (term === undefined || link === undefined) {
      throw new MisuseError(`a compaction of group ${log.id} up to entry ${upTo}, which is not there`);
    }
    this.addCompaction(log, { index: upTo, term, link });
  }

  addCompaction(log: GroupLog, base: LogBase): void {
    // A compaction of format 1 lacks this; the entry behind it has it.
    const link = base.link.hash === undefined ? (this.linkAt(log, base.index) ?? base.link) : base.link;
    this.put(log, KIND_COMPACTION, 0, base.index, base.term, link, NO_PAYLOAD);
  }

  /** A copy of an entry that is still valid. */
  addRelocated(log: GroupLog, entry: StoredEntry): void {
    const { type, index, term, previous, hash, payload } = entry;
    this.put(log, KIND_ENTRY, type, index, term, previous, payload, { hash, isRelocated: true });
  }

  /** Adds places and checksums. Gives the bytes to write and the checksum of the last record. */
  seal(previousCrc: number, salt: number): { bytes: Buffer; lastCrc: number } {
    let crc = previousCrc;
    const last = this.encoded.length - 1;
    for (let ordinal = 0; ordinal <= last; ordinal++) {
      const { offset, isRelocated } = this.encoded[ordinal]!;
      const flags = (ordinal === last ? FLAG_LAST_OF_BATCH : 0) | (isRelocated ? FLAG_RELOCATED : 0);
      crc = sealRecord(this.buffer, offset, ordinal | flags, crc, salt);
    }
    return { bytes: this.content, lastCrc: crc };
  }

  private addEntry(log: GroupLog, entry: AppendEntry): void {
    const { type, index, term, hash, payload } = entry;
    this.put(log, KIND_ENTRY, type, index, term, this.linkBefore(log, entry), payload, { hash });
  }

  /** The link that an entry follows. Throws `MisuseError` when the entry was made to follow another one. */
  private linkBefore(log: GroupLog, { index, previousHash }: AppendEntry): ChainLink {
    const tip = this.tips.get(log);
    const link =
      tip !== undefined && tip.index === index - 1
        ? tip.link
        : tip === undefined
          ? this.durableLink(log, index - 1)
          : this.searchLink(log, index - 1);
    if (link === undefined) throw new MisuseError(`entry ${index} of group ${log.id} follows nothing`);
    if (link.hash === previousHash) return link;
    if (link.hash === undefined) return { hash: previousHash, digest: link.digest };
    throw new MisuseError(
      `entry ${index} of group ${log.id} follows one with chain hash ${previousHash}, and the log has ${link.hash} there`,
    );
  }

  /** In format 1 the digests begin anew behind a reset, and its hash is not kept. */
  private resetLink(hash: number): ChainLink {
    return this.format === SEGMENT_FORMAT_FIRST
      ? { hash, digest: CHAIN_ROOT.digest }
      : { hash, digest: undefined };
  }

  private durableLink(log: GroupLog, index: number): ChainLink | undefined {
    return index === log.lastIndex ? log.lastLink : this.linkAt(log, index);
  }

  /** The link before an entry, also for the rare batch that takes back what it holds itself. */
  private searchLink(log: GroupLog, index: number): ChainLink | undefined {
    const found = this.search(log, index);
    return found === undefined ? this.durableLink(log, index) : found.link;
  }

  /** The entry at an index of a group as the batch so far leaves it; undefined if it does not touch it. */
  private search(log: GroupLog, index: number): { term: number; link: ChainLink } | undefined {
    if (!this.tips.has(log)) return undefined;
    for (let at = this.encoded.length - 1; at >= 0; at--) {
      const record = this.encoded[at]!;
      if (record.log !== log || record.isRelocated) continue;
      if (record.kind === KIND_DROP && index === 0) return { term: 0, link: CHAIN_ROOT };
      if (record.index !== index) continue;
      if (record.link !== undefined) return { term: record.term, link: record.link };
      if (record.kind === KIND_RESET) return { term: record.term, link: record.previous };
    }
    return undefined;
  }

  /** Notes where the group's chain stands after a record. */
  private note(log: GroupLog, index: number, link: ChainLink): void {
    const tip = this.tips.get(log);
    if (tip === undefined) {
      this.tips.set(log, { index, link });
    } else {
      tip.index = index;
      tip.link = link;
    }
  }

  private put(
    log: GroupLog,
    kind: number,
    type: number,
    index: number,
    term: number,
    previous: ChainLink,
    payload: Uint8Array,
    more: { hash?: number; hardState?: HardState; isRelocated?: boolean } = NOTHING_MORE,
  ): void {
    const offset = this.usedBytes;
    const { format } = this;
    if (offset + recordBytesMax(payload.length) > this.buffer.length) {
      this.grow(offset + recordBytesMax(payload.length));
    }
    const { id } = log;
    const { hash = 0, isRelocated = false } = more;
    demand(
      format !== SEGMENT_FORMAT_FIRST || kind !== KIND_ENTRY || previous.digest !== undefined,
      'an entry of format 1 behind one without a digest',
    );
    const sequence = this.firstSequence + this.encoded.length;
    const { buffer } = this;
    const length = encodeRecord(
      buffer,
      offset,
      format,
      sequence,
      id,
      kind,
      type,
      index,
      term,
      previous,
      hash,
      payload,
    );
    this.usedBytes += length;
    const link = kind === KIND_ENTRY && !isRelocated ? linkOf(buffer, offset, format) : undefined;
    if (link !== undefined) this.note(log, index, link);
    else if (kind === KIND_RESET || kind === KIND_DROP) this.note(log, index, previous);
    const { hardState } = more;
    this.encoded.push({
      log,
      kind,
      isRelocated,
      offset,
      length,
      index,
      term,
      previous,
      link,
      hardState,
    });
  }

  private grow(needed: number): void {
    const larger = Buffer.allocUnsafe(Math.max(needed, this.buffer.length * 2));
    this.buffer.copy(larger, 0, 0, this.usedBytes);
    this.buffer = larger;
  }
}

/** Bytes that an operation takes in a segment, at most. */
export function operationBytes(operation: LogOperation): number {
  if (operation.kind === 'entry') return recordBytesMax(operation.payload.length);
  return recordBytesMax(operation.kind === 'hardState' ? HARD_STATE_PAYLOAD_BYTES : 0);
}

const INITIAL_BYTES = 64 * 1024;
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
const NO_PAYLOAD = new Uint8Array(0);
const NOTHING_MORE = {};
