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
import type { ByteReader, ByteWriter } from '../../bytes.js';
import type { Dirty } from '../dirty.js';
import { RecordKind } from '../records.js';
import { one } from '../tally.js';
import { type Format, removeEffect, setEffect, ValuesById } from './values-by-id.js';

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

/** All of them, by their slots. */
export class Loads extends ValuesById<Load> {
  constructor(dirty: Dirty) {
    super(dirty, RecordKind.LOAD, LOAD, LoadEffect);
  }

  /** The slot of a name; undefined for one that is not known. */
  slotOf(name: string): number | undefined {
    for (const [slot, load] of this.all) if (load.name === name) return slot;
    return undefined;
  }

  /** A slot that nobody has; undefined when all are taken. */
  freeSlot(): number | undefined {
    for (let slot = 0; slot < LOADS_MAX; slot++) if (!this.all.has(slot)) return slot;
    return undefined;
  }
}

const LOAD: Format<Load> = { write: writeLoad, read: readLoad };

export const LoadEffect = {
  /** The progress of a load from now on. */
  PUT: setEffect(LOAD, { code: 0x1a, cost: () => NS_PER_UNDO, counts: one('loads') }),
  DELETE: removeEffect<Load>({ code: 0x1b, cost: () => NS_PER_UNDO, counts: one('loads') }),
};

/** Nanoseconds that it takes to take a change of a load back: its record is written again. */
const NS_PER_UNDO = 10_000;

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
