/**
 * Procedures as a part of the state of a group: their effects, their records, and the hand that changes them on a leader.
 *
 *   effect    := 20 procedure               new or modified procedure
 *              | 21 name:text               delete procedure
 *              | 22 from:text to:text       rename procedure
 *   procedure := name:text created:varint source:text
 *
 * Record: PROCEDURE (number) holds `procedure`. Each node gives the numbers by itself.
 */
import { ByteReader, ByteWriter } from '../../bytes.js';
import { Closure } from '../../value/closure.js';
import type { Dirty } from '../dirty.js';
import { RecordKind } from '../records.js';
import type { Transaction } from '../transaction.js';
import { type GroupPart, unknownEffect } from './part.js';

/** A procedure: a named closure in a scope. */
export interface Procedure {
  readonly name: string;
  readonly closure: Closure;
  /** Unix seconds. */
  readonly createdAt: number;
}

const Effect = { PUT: 0x20, DELETE: 0x21, RENAME: 0x22 } as const;

export class Procedures implements GroupPart {
  readonly effects = Object.values(Effect);
  readonly kinds = [RecordKind.PROCEDURE];
  private readonly named = new Map<string, Procedure>();
  private readonly dirty: Dirty;
  /** Numbers of the records by name. */
  private readonly records = new Map<string, number>();
  private nextRecord = 1;

  constructor(dirty: Dirty) {
    this.dirty = dirty;
  }

  get byName(): ReadonlyMap<string, Procedure> {
    return this.named;
  }

  put(procedure: Procedure): void {
    const { name } = procedure;
    this.named.set(name, procedure);
    let record = this.records.get(name);
    if (record === undefined) {
      record = this.nextRecord++;
      this.records.set(name, record);
    }
    const out = new ByteWriter();
    writeProcedure(out, procedure);
    this.dirty.put(RecordKind.PROCEDURE, record, 0, out.take());
  }

  delete(name: string): void {
    this.named.delete(name);
    const record = this.records.get(name);
    if (record === undefined) return;
    this.records.delete(name);
    this.dirty.put(RecordKind.PROCEDURE, record, 0, null);
  }

  rename(from: string, to: string): void {
    const procedure = this.named.get(from);
    if (procedure === undefined) return;
    this.delete(from);
    this.put({ ...procedure, name: to });
  }

  apply(operation: number, input: ByteReader): void {
    switch (operation) {
      case Effect.PUT:
        this.put(readProcedure(input));
        break;
      case Effect.DELETE:
        this.delete(input.text());
        break;
      case Effect.RENAME:
        this.rename(input.text(), input.text());
        break;
      default:
        throw unknownEffect(operation);
    }
  }

  load(_kind: RecordKind, id: number, _part: number, value: Uint8Array): void {
    const procedure = readProcedure(new ByteReader(value));
    this.named.set(procedure.name, procedure);
    this.records.set(procedure.name, id);
    this.nextRecord = Math.max(this.nextRecord, id + 1);
  }

  flush(): void {
    // Records are put when a procedure changes.
  }

  clear(): void {
    this.named.clear();
    this.records.clear();
    this.nextRecord = 1;
  }

  contents(): string | null {
    const [name] = this.named.keys();
    return name === undefined ? null : `the procedure '${name}'`;
  }
}

/** How long it takes to take a change of a procedure back, in nanoseconds: its record is written again. */
const NS_PER_UNDO = 10_000;

/** Changes procedures in a query: applies, records the effect, and records the way back. */
export class ProcedureEditor {
  private readonly procedures: Procedures;
  private readonly transaction: Transaction;

  constructor(procedures: Procedures, transaction: Transaction) {
    this.procedures = procedures;
    this.transaction = transaction;
  }

  /** Makes a procedure, or replaces the one of the same name. */
  put(procedure: Procedure): void {
    const { procedures, transaction } = this;
    const { name } = procedure;
    const old = procedures.byName.get(name);
    transaction.effects.u8(Effect.PUT);
    writeProcedure(transaction.effects, procedure);
    procedures.put(procedure);
    transaction.onUndo(() => {
      if (old === undefined) procedures.delete(name);
      else procedures.put(old);
    }, NS_PER_UNDO);
  }

  /** Deletes a procedure that there is. */
  delete(procedure: Procedure): void {
    const { procedures, transaction } = this;
    transaction.effects.u8(Effect.DELETE);
    transaction.effects.text(procedure.name);
    procedures.delete(procedure.name);
    transaction.onUndo(() => procedures.put(procedure), NS_PER_UNDO);
  }

  /** Renames a procedure that there is to a name that is free. */
  rename(from: string, to: string): void {
    const { procedures, transaction } = this;
    transaction.effects.u8(Effect.RENAME);
    transaction.effects.text(from);
    transaction.effects.text(to);
    procedures.rename(from, to);
    transaction.onUndo(() => procedures.rename(to, from), NS_PER_UNDO);
  }
}

export function writeProcedure(out: ByteWriter, { name, createdAt, closure }: Procedure): void {
  out.text(name);
  out.varint(createdAt);
  out.text(closure.store());
}

export function readProcedure(input: ByteReader): Procedure {
  const name = input.text();
  const createdAt = input.varint();
  const source = input.text();
  return { name, createdAt, closure: new Closure(source, null, source) };
}
