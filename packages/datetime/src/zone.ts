import { SECONDS_PER_DAY, SECONDS_PER_ERA } from './calendar.js';
import { addInts, type Int } from './int64.js';
import { abbreviationIn, type Era, erasOfZone } from './zone-abbreviations.js';
import { ZONE_NAMES } from './zone-names.js';
import { type OffsetChanges, type OffsetReader, offsetReader, SCAN_STEP, scanOffsets } from './zone-scan.js';

/** 1800-01-01. No zone has a change before 1844; what was in force then holds for all the time before. */
const FIRST = -5_364_662_400;

/** 2100-01-01. From here on there are rules only, and those repeat with the calendar every 400 years. */
const RULES_FROM = 4_102_444_800;

/** The moment from which on moments are mapped back by whole eras. It is some days late, so that looking a day ahead needs no mapping. */
const LAST = RULES_FROM + SECONDS_PER_ERA + 10 * SECONDS_PER_DAY;

/** The unit in which a table is filled: 384 days. */
const BLOCK = 128 * SCAN_STEP;

/** About 130 years of a zone with summer time; a table that grows beyond is dropped and filled anew. */
const BLOCKS_MAX = 128;

/**
 * A time zone of the IANA database. Its table of offsets is filled from Intl where it is asked (0.1 ms for a year), and
 * kept: a later question costs some nanoseconds. The table repeats constant data, so a zone is a constant to its users.
 */
export class Zone {
  /** A block without changes is its offset alone. */
  #blocks: (number | OffsetChanges | undefined)[] = [];
  /** Blocks with changes in the table, at most BLOCKS_MAX. */
  #blockCount = 0;
  #reader: OffsetReader | undefined;
  #eras: readonly Era[] | undefined;

  constructor(readonly name: string) {}

  /** Seconds east of UTC. */
  offsetAt(moment: Int): number {
    const at = toTableRange(moment);
    const index = Math.floor((at - FIRST) / BLOCK);
    const block = this.#blocks[index] ?? this.#fill(index);
    if (typeof block === 'number') return block;
    let i = block.starts.length;
    while (i > 0 && at < block.starts[i - 1]!) i--;
    return block.offsets[i]!;
  }

  /** `CET`, `EDT`, or `-03` where the IANA data has no letters. */
  abbreviationAt(moment: Int): string {
    this.#eras ??= erasOfZone(this.name);
    return abbreviationIn(this.#eras, moment, this.offsetAt(moment));
  }

  /**
   * The moment at which clocks show `local` (seconds since 1970 as if it were UTC). In a gap, that of the time moved
   * forward by the gap. Of a time that exists twice, the one with the preferred offset, else the first.
   */
  momentOfLocal(local: Int, preferredOffset?: number): Int {
    // Offsets are below a day and changes more than two days apart: there is at most one between these two.
    const before = this.offsetAt(addInts(local, -SECONDS_PER_DAY));
    const after = this.offsetAt(addInts(local, SECONDS_PER_DAY));
    const early = addInts(local, -before);
    if (before === after) return early;
    const late = addInts(local, -after);
    const isLateValid = this.offsetAt(late) === after;
    if (this.offsetAt(early) === before) return isLateValid && preferredOffset === after ? late : early;
    return isLateValid ? late : early;
  }

  #fill(index: number): number | OffsetChanges {
    const from = FIRST + index * BLOCK;
    this.#reader ??= offsetReader(this.name);
    const changes = scanOffsets(this.#reader, from, from + BLOCK);
    const block = changes.starts.length === 0 ? changes.offsets[0]! : changes;
    if (typeof block !== 'number' && ++this.#blockCount > BLOCKS_MAX) {
      this.#blocks = [];
      this.#blockCount = 1;
    }
    this.#blocks[index] = block;
    return block;
  }
}

const ZONE_BY_NAME: ReadonlyMap<string, Zone> = new Map(ZONE_NAMES.map((name) => [name, new Zone(name)]));

export const UTC: Zone = ZONE_BY_NAME.get('UTC')!;

/** The zone with exactly this name, one of ZONE_NAMES. */
export function zoneByName(name: string): Zone | undefined {
  return ZONE_BY_NAME.get(name);
}

function toTableRange(moment: Int): number {
  if (moment < FIRST) return FIRST;
  if (moment < LAST) return Number(moment);
  if (typeof moment === 'number') return RULES_FROM + ((moment - RULES_FROM) % SECONDS_PER_ERA);
  return RULES_FROM + Number((moment - BigInt(RULES_FROM)) % BigInt(SECONDS_PER_ERA));
}
