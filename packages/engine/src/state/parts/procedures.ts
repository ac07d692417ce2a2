/**
 * Procedures as a part of the state of a group with their effects and their records.
 *
 *   effect    := 20 procedure               new or modified procedure
 *              | 21 name:text               delete procedure
 *              | 22 from:text to:text       rename procedure
 *   procedure := name:text created:varint source:text
 *              | name:text 00 created:varint duration:varint source:text       with a time limit, in milliseconds; 0 for none
 *
 * Record: PROCEDURE (number) holds `procedure`. Each node gives the numbers by itself.
 */
import { ByteReader, type ByteWriter, encoded } from '../../bytes.js';
import { Closure } from '../../value/closure.js';
import type { Dirty } from '../dirty.js';
import { effect, effectsOn } from '../effect.js';
import { RecordKind } from '../records.js';
import { one } from '../tally.js';
import type { GroupPart } from './part.js';

/** A procedure: a named closure in a scope. */
export interface Procedure {
  readonly name: string;
  readonly closure: Closure;
  /** Unix seconds. */
  readonly createdAt: number;
  /** Its time limit in milliseconds, within what the node allows; null where nothing is said. */
  readonly durationMs: number | null;
}

export class Procedures implements GroupPart {
  readonly effects = effectsOn(this, ProcedureEffect);
  readonly kinds = [RecordKind.PROCEDURE];
  private readonly named = new Map<string, Procedure>();
  /** Numbers of the records by name. */
  private readonly records = new Map<string, number>();
  private nextRecord = 1;

  constructor(private readonly dirty: Dirty) {}

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
    this.dirty.put(RecordKind.PROCEDURE, record, 0, encoded(writeProcedure, procedure));
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

  load(_kind: RecordKind, id: number, _part: number, value: Uint8Array): void {
    const procedure = readProcedure(new ByteReader(value));
    this.named.set(procedure.name, procedure);
    this.records.set(procedure.name, id);
    this.nextRecord = Math.max(this.nextRecord, id + 1);
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

/** Nanoseconds that it takes to take a change of a procedure back: its record is written again. */
const NS_PER_UNDO = 10_000;

export const ProcedureEffect = {
  /** Makes a procedure, or replaces the one of the same name. */
  PUT: effect<Procedures, [procedure: Procedure]>({
    code: 0x20,
    write: writeProcedure,
    read: (input) => [readProcedure(input)],
    apply: (procedures, procedure) => procedures.put(procedure),
    inverse: (procedures, { name }) => {
      const old = procedures.byName.get(name);
      return () => (old === undefined ? procedures.delete(name) : procedures.put(old));
    },
    cost: () => NS_PER_UNDO,
    counts: one('definitions'),
  }),
  DELETE: effect<Procedures, [procedure: Pick<Procedure, 'name'>]>({
    code: 0x21,
    write: (out, { name }) => out.text(name),
    read: (input) => [{ name: input.text() }],
    apply: (procedures, { name }) => procedures.delete(name),
    inverse: (procedures, { name }) => {
      const old = procedures.byName.get(name);
      return () => (old === undefined ? undefined : procedures.put(old));
    },
    cost: () => NS_PER_UNDO,
    counts: one('definitions'),
  }),
  /** Gives a procedure a name that is free. */
  RENAME: effect<Procedures, [from: string, to: string]>({
    code: 0x22,
    write: (out, from, to) => {
      out.text(from);
      out.text(to);
    },
    read: (input) => [input.text(), input.text()],
    apply: (procedures, from, to) => procedures.rename(from, to),
    inverse: (procedures, from, to) => () => procedures.rename(to, from),
    cost: () => NS_PER_UNDO,
    counts: one('definitions'),
  }),
};

export function writeProcedure(out: ByteWriter, { name, createdAt, closure, durationMs }: Procedure): void {
  out.text(name);
  if (durationMs !== null || createdAt === 0) out.varint(0);
  out.varint(createdAt);
  if (durationMs !== null || createdAt === 0) out.varint(durationMs ?? 0);
  out.text(closure.store());
}

export function readProcedure(input: ByteReader): Procedure {
  const name = input.text();
  const first = input.varint();
  const createdAt = first === 0 ? input.varint() : first;
  const durationMs = first === 0 ? input.varint() || null : null;
  const source = input.text();
  return { name, createdAt, durationMs, closure: new Closure(source, null, source) };
}
