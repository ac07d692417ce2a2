import { MisuseError } from '../errors.js';
import {
  chainHash,
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
  recordBytes,
  sealRecord,
  ZERO_HASH,
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
  readonly previousHash: string;
  /** The entry's own chain hash; empty for other kinds. */
  readonly hash: string;
  readonly entry: AppendEntry | undefined;
  readonly hardState: HardState | undefined;
};

/** Finds the chain hash of a durable entry. */
export type HashReader = (log: GroupLog, index: number) => string | undefined;

/**
 * The records of one durable write, encoded one after the other into one buffer, which is used again for the
 * next write. Within the batch a group's chain goes on from what is durable.
 */
export class WriteBatch {
  private readonly hashAt: HashReader;
  private buffer: Buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  private usedBytes = 0;
  private encoded: BatchRecord[] = [];
  /** The ends of the chains of the groups in this batch. */
  private tips = new Map<GroupLog, { index: number; hash: string }>();
  private firstSequence = 1;

  constructor(hashAt: HashReader) {
    this.hashAt = hashAt;
  }

  get bytes(): number {
    return this.usedBytes;
  }

  get records(): readonly BatchRecord[] {
    return this.encoded;
  }

  /** Begins anew. The buffer of the former write must not be in use any more. */
  begin(firstSequence: number): void {
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
        // The chain begins anew: what a snapshot holds is told by Raft's own hash.
        this.put(log, KIND_RESET, 0, operation.index, operation.term, ZERO_HASH, NO_PAYLOAD);
        return;
      case 'drop':
        this.put(log, KIND_DROP, 0, 0, 0, ZERO_HASH, NO_PAYLOAD);
        return;
    }
  }

  addHardState(log: GroupLog, state: HardState): void {
    this.put(log, KIND_HARD_STATE, 0, state.commit, state.term, ZERO_HASH, encodeVote(state.vote), {
      hardState: state,
    });
  }

  /** Lets the entries up to `upTo` go, of which the last one is durable or in this batch. */
  addCompactionUpTo(log: GroupLog, upTo: number): void {
    const inBatch = this.search(log, upTo);
    const term = inBatch === undefined ? log.term(upTo) : inBatch.term;
    const hash = inBatch === undefined ? this.durableHash(log, upTo) : inBatch.hash;
    if (term === undefined || hash === undefined) {
      throw new MisuseError(`a compaction of group ${log.id} up to entry ${upTo}, which is not there`);
    }
    this.addCompaction(log, { index: upTo, term, hash });
  }

  addCompaction(log: GroupLog, base: LogBase): void {
    this.put(log, KIND_COMPACTION, 0, base.index, base.term, base.hash, NO_PAYLOAD);
  }

  /** A copy of an entry that is still valid. */
  addRelocated(log: GroupLog, entry: StoredEntry): void {
    const { type, index, term, previousHash, payload } = entry;
    this.put(log, KIND_ENTRY, type, index, term, previousHash, payload, { isRelocated: true });
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
    return { bytes: this.buffer.subarray(0, this.usedBytes), lastCrc: crc };
  }

  private addEntry(log: GroupLog, entry: AppendEntry): void {
    const { type, index, term, payload } = entry;
    this.put(log, KIND_ENTRY, type, index, term, this.hashBefore(log, index), payload, { entry });
  }

  /**
   * The chain hash at `index - 1`: from this batch if it touches the group there, else from what is durable.
   */
  private hashBefore(log: GroupLog, index: number): string {
    const tip = this.tips.get(log);
    if (tip !== undefined && tip.index === index - 1) return tip.hash;
    const hash = tip === undefined ? this.durableHash(log, index - 1) : this.searchHash(log, index - 1);
    if (hash === undefined) throw new MisuseError(`entry ${index} of group ${log.id} follows nothing`);
    return hash;
  }

  private durableHash(log: GroupLog, index: number): string | undefined {
    return index === log.lastIndex ? log.lastHash : this.hashAt(log, index);
  }

  /** For the rare batch that takes back what it holds itself. */
  private searchHash(log: GroupLog, index: number): string | undefined {
    const found = this.search(log, index);
    return found === undefined ? this.durableHash(log, index) : found.hash;
  }

  /** The entry at an index of a group as the batch so far leaves it; undefined if it does not touch it. */
  private search(log: GroupLog, index: number): { term: number; hash: string } | undefined {
    if (!this.tips.has(log)) return undefined;
    for (let at = this.encoded.length - 1; at >= 0; at--) {
      const record = this.encoded[at]!;
      if (record.log !== log || record.isRelocated) continue;
      if (record.kind === KIND_DROP && index === 0) return { term: 0, hash: ZERO_HASH };
      if (record.index !== index) continue;
      if (record.kind === KIND_ENTRY) return { term: record.term, hash: record.hash };
      if (record.kind === KIND_RESET) return { term: record.term, hash: record.previousHash };
    }
    return undefined;
  }

  /** Notes where the group's chain stands after a record. */
  private note(log: GroupLog, index: number, hash: string): void {
    const tip = this.tips.get(log);
    if (tip === undefined) {
      this.tips.set(log, { index, hash });
    } else {
      tip.index = index;
      tip.hash = hash;
    }
  }

  private put(
    log: GroupLog,
    kind: number,
    type: number,
    index: number,
    term: number,
    previousHash: string,
    payload: Uint8Array,
    more: { entry?: AppendEntry; hardState?: HardState; isRelocated?: boolean } = NOTHING_MORE,
  ): void {
    const offset = this.usedBytes;
    const size = recordBytes(payload.length);
    if (offset + size > this.buffer.length) this.grow(offset + size);
    const sequence = this.firstSequence + this.encoded.length;
    encodeRecord(this.buffer, offset, sequence, log.id, kind, type, index, term, previousHash, payload);
    this.usedBytes += size;
    const isRelocated = more.isRelocated === true;
    const hash = kind === KIND_ENTRY && !isRelocated ? chainHash(this.buffer, offset) : '';
    if (hash !== '') this.note(log, index, hash);
    else if (kind === KIND_RESET || kind === KIND_DROP) this.note(log, index, previousHash);
    this.encoded.push({
      log,
      kind,
      isRelocated,
      offset,
      length: size,
      index,
      term,
      previousHash,
      hash,
      entry: more.entry,
      hardState: more.hardState,
    });
  }

  private grow(needed: number): void {
    const larger = Buffer.allocUnsafe(Math.max(needed, this.buffer.length * 2));
    this.buffer.copy(larger, 0, 0, this.usedBytes);
    this.buffer = larger;
  }
}

/** Bytes that an operation takes in a segment. */
export function operationBytes(operation: LogOperation): number {
  if (operation.kind === 'entry') return recordBytes(operation.payload.length);
  return recordBytes(operation.kind === 'hardState' ? HARD_STATE_PAYLOAD_BYTES : 0);
}

const INITIAL_BYTES = 64 * 1024;
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
const NO_PAYLOAD = new Uint8Array(0);
const NOTHING_MORE = {};
