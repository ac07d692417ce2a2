/**
 * Loads of a collection: how far each file is that `althing load` brings in, changed together with the rows that it makes. So each row is
 * made once, whoever sends it again, and whenever.
 *
 *   effect := 1a slot:varint load            how far a load is
 *           | 1b slot:varint                 it is forgotten
 *   load   := name:text source:text rows:varint refused:varint count:varint row:varint* begun:varint moved:varint     times in Unix seconds
 *
 * Record: LOAD (slot) holds `load`.
 */
import { ByteReader, ByteWriter } from '../../bytes.js';
import type { Dirty } from '../dirty.js';
import { effect, effectsOn } from '../effect.js';
import { RecordKind } from '../records.js';
import { one } from '../tally.js';
import type { GroupPart } from './part.js';

/** Loads that a collection knows of at most. */
export const LOADS_MAX = 100;

export interface Load {
  readonly name: string;
  /** The digest that tells its source and plan from others. */
  readonly source: string;
  /** Rows that are done, those that were refused included. */
  readonly rows: number;
  readonly refused: number;
  /** The rows that were refused by the last step, counted from the beginning. */
  readonly lastRefused: readonly number[];
  readonly begunAt: number;
  readonly movedAt: number;
}

export class Loads implements GroupPart {
  readonly effects = effectsOn(this, LoadEffect);
  readonly kinds = [RecordKind.LOAD];
  private readonly bySlot = new Map<number, Load>();

  constructor(private readonly dirty: Dirty) {}

  /** All of them, by their slots. */
  get all(): ReadonlyMap<number, Load> {
    return this.bySlot;
  }

  /** The slot of a name; undefined for one that is not known. */
  slotOf(name: string): number | undefined {
    for (const [slot, load] of this.bySlot) if (load.name === name) return slot;
    return undefined;
  }

  /** A slot that nobody has; undefined when all are taken. */
  freeSlot(): number | undefined {
    for (let slot = 0; slot < LOADS_MAX; slot++) if (!this.bySlot.has(slot)) return slot;
    return undefined;
  }

  put(slot: number, load: Load): void {
    this.bySlot.set(slot, load);
    const out = new ByteWriter();
    writeLoad(out, load);
    this.dirty.put(RecordKind.LOAD, slot, 0, out.take());
  }

  delete(slot: number): void {
    if (this.bySlot.delete(slot)) this.dirty.put(RecordKind.LOAD, slot, 0, null);
  }

  load(_kind: RecordKind, slot: number, _part: number, value: Uint8Array): void {
    this.bySlot.set(slot, readLoad(new ByteReader(value)));
  }

  clear(): void {
    this.bySlot.clear();
  }

  /** Positions of loads are no data that would be in the way of an import. */
  contents(): string | null {
    return null;
  }
}

export const LoadEffect = {
  /** How far a load is from now on. */
  PUT: effect<Loads, [slot: number, load: Load]>({
    code: 0x1a,
    write: (out, slot, load) => {
      out.varint(slot);
      writeLoad(out, load);
    },
    read: (input) => [input.varint(), readLoad(input)],
    apply: (loads, slot, load) => loads.put(slot, load),
    inverse: slotBack,
    cost: () => NS_PER_UNDO,
    counts: one('loads'),
  }),
  DELETE: effect<Loads, [slot: number]>({
    code: 0x1b,
    write: (out, slot) => out.varint(slot),
    read: (input) => [input.varint()],
    apply: (loads, slot) => loads.delete(slot),
    inverse: slotBack,
    cost: () => NS_PER_UNDO,
    counts: one('loads'),
  }),
};

/** How long it takes to take a change of a load back, in nanoseconds: its record is written again. */
const NS_PER_UNDO = 10_000;

function slotBack(loads: Loads, slot: number): () => void {
  const before = loads.all.get(slot);
  return () => (before === undefined ? loads.delete(slot) : loads.put(slot, before));
}

function writeLoad(out: ByteWriter, load: Load): void {
  out.text(load.name);
  out.text(load.source);
  out.varint(load.rows);
  out.varint(load.refused);
  out.varints(load.lastRefused);
  out.varint(load.begunAt);
  out.varint(load.movedAt);
}

function readLoad(input: ByteReader): Load {
  return {
    name: input.text(),
    source: input.text(),
    rows: input.varint(),
    refused: input.varint(),
    lastRefused: input.varints(),
    begunAt: input.varint(),
    movedAt: input.varint(),
  };
}
