import { ByteReader, ByteWriter, FormatError } from '../bytes.js';
import { Closure } from '../value/closure.js';
import type { Thing } from '../value/thing.js';
import type { Dirty } from './dirty.js';
import { Effect } from './effects.js';
import { RecordKind, type RecordSink } from './records.js';
import type { Procedure } from './scope.js';

/**
 * The state of one Raft group: of the root scope, or of one collection. It changes by effects alone. `Transaction` and
 * the functions that use it make and record them on the leader; `apply` repeats them everywhere else.
 */
export abstract class Group {
  /** Number of the last change; rises by one with each. */
  changeCount = 0;
  readonly procedures = new Map<string, Procedure>();
  abstract readonly dirty: Dirty;
  /** Numbers of the records that procedures lie in; local to this node. */
  private readonly procedureRecords = new Map<string, number>();
  private nextProcedureRecord = 1;

  /** Applies the effects of one committed change. */
  apply(effects: Uint8Array): void {
    const input = new ByteReader(effects);
    while (input.remaining > 0) {
      const operation = input.u8();
      if (!this.applyEffect(operation, input)) throw new FormatError(`unknown effect ${operation}`);
    }
    this.changeCount += 1;
  }

  /** Applies one effect; returns false when the operation is unknown. */
  protected applyEffect(operation: number, input: ByteReader): boolean {
    switch (operation) {
      case Effect.PUT_PROCEDURE: {
        const name = input.text();
        const createdAt = input.varint();
        this.putProcedure({ name, closure: storedClosure(input.text()), createdAt });
        return true;
      }
      case Effect.DELETE_PROCEDURE:
        this.deleteProcedure(input.text());
        return true;
      case Effect.RENAME_PROCEDURE:
        this.renameProcedure(input.text(), input.text());
        return true;
      case Effect.RESTORE: {
        const kind = input.u8();
        const id = input.varint();
        const part = input.varint();
        this.restoreRecord(kind, id, part, input.bytes(input.varint()).slice());
        return true;
      }
      default:
        return false;
    }
  }

  /** Empties the state, for that of a snapshot to be loaded. */
  clear(): void {
    this.changeCount = 0;
    this.procedures.clear();
    this.procedureRecords.clear();
    this.nextProcedureRecord = 1;
    this.dirty.clear();
  }

  putProcedure(procedure: Procedure): void {
    this.procedures.set(procedure.name, procedure);
    this.saveProcedure(procedure);
  }

  deleteProcedure(name: string): void {
    this.procedures.delete(name);
    const record = this.procedureRecords.get(name);
    if (record === undefined) return;
    this.procedureRecords.delete(name);
    this.dirty.put(RecordKind.PROCEDURE, record, 0, null);
  }

  renameProcedure(from: string, to: string): void {
    const procedure = this.procedures.get(from);
    if (procedure === undefined) return;
    this.deleteProcedure(from);
    this.putProcedure({ ...procedure, name: to });
  }

  private saveProcedure({ name, createdAt, closure }: Procedure): void {
    let record = this.procedureRecords.get(name);
    if (record === undefined) {
      record = this.nextProcedureRecord++;
      this.procedureRecords.set(name, record);
    }
    const out = new ByteWriter();
    out.text(name);
    out.varint(createdAt);
    out.text(closure.store());
    this.dirty.put(RecordKind.PROCEDURE, record, 0, out.take());
  }

  /**
   * Takes up a record of the last checkpoint, in any order. Things are not among them: they are read when touched.
   *
   *   procedure := name:text created:varint source:text
   */
  loadRecord(kind: number, id: number, value: Uint8Array): void {
    if (kind === RecordKind.META) {
      this.loadMeta(value);
      return;
    }
    if (kind !== RecordKind.PROCEDURE) throw new FormatError(`unexpected record of kind ${kind}`);
    const input = new ByteReader(value);
    const name = input.text();
    const createdAt = input.varint();
    this.procedures.set(name, { name, createdAt, closure: storedClosure(input.text()) });
    this.procedureRecords.set(name, id);
    this.nextProcedureRecord = Math.max(this.nextProcedureRecord, id + 1);
  }

  /** Takes a record of a backup over. The counters come last. */
  protected restoreRecord(kind: number, id: number, part: number, value: Uint8Array): void {
    this.loadRecord(kind, id, value);
    if (kind === RecordKind.PROCEDURE) this.dirty.put(kind, id, part, value);
  }

  /** Counters that only some kinds of groups have. */
  protected abstract writeMeta(out: ByteWriter): void;
  protected abstract readMeta(input: ByteReader): void;

  /**
   * The counters of the group as they are now, for the record META.
   *
   *   meta := format:u8 changes:varint ...
   *
   * The rest is described by the kinds of groups.
   */
  encodeMeta(): Uint8Array {
    const out = new ByteWriter();
    out.u8(META_FORMAT);
    out.varint(this.changeCount);
    this.writeMeta(out);
    return out.take();
  }

  /** What of the record META is the same on all nodes: they may have written it in different formats. */
  static sharedMeta(meta: Uint8Array): Uint8Array {
    return meta.subarray(1);
  }

  private loadMeta(value: Uint8Array): void {
    const input = new ByteReader(value);
    const format = input.u8();
    if (format < META_FORMAT_FIRST || format > META_FORMAT) {
      throw new FormatError(
        `state of format ${format}; this version reads ${META_FORMAT_FIRST} to ${META_FORMAT}`,
      );
    }
    this.changeCount = input.varint();
    this.readMeta(input);
  }

  /** Writes one thing to a checkpoint. Only collections have things. */
  saveThing(_thing: Thing, _sink: RecordSink): void {
    throw new Error('this group has no things');
  }

  /** Notes that a thing that was saved did not become durable. */
  saveThingAgain(_thing: Thing): void {
    throw new Error('this group has no things');
  }

  /** Ends a checkpoint that failed: everything that it should have written is dirty again. */
  abandonCheckpoint(): void {
    this.dirty.refreeze((thing) => this.saveThingAgain(thing));
  }
}

/** 2: large values of things lie apart, see `apart.ts`. */
const META_FORMAT = 2;
const META_FORMAT_FIRST = 1;

function storedClosure(source: string): Closure {
  return new Closure(source, null, source);
}
