import { ByteReader, type ByteWriter, encoded } from '../../bytes.js';
import type { Dirty } from '../dirty.js';
import { type BoundEffect, type Effect, type EffectRow, effect, effectsOn } from '../effect.js';
import type { RecordKind } from '../records.js';
import type { GroupPart } from './part.js';

/** The two directions of the format of a value. */
export interface Format<Value> {
  readonly write: (out: ByteWriter, value: Value) => void;
  readonly read: (input: ByteReader) => Value;
}

/** A part of a group with a value for each of some ids, each in a record of its own. */
export class ValuesById<Value> implements GroupPart {
  readonly effects: readonly BoundEffect[];
  readonly kinds: readonly RecordKind[];
  private readonly values = new Map<number, Value>();

  constructor(
    private readonly dirty: Dirty,
    private readonly kind: RecordKind,
    private readonly format: Format<Value>,
    rows: Readonly<Record<string, Effect<ValuesById<Value>>>>,
  ) {
    this.effects = effectsOn(this, rows);
    this.kinds = [kind];
  }

  get all(): ReadonlyMap<number, Value> {
    return this.values;
  }

  /** Sets the value of an id; undefined removes it. */
  set(id: number, value: Value | undefined): void {
    if (value !== undefined) {
      this.values.set(id, value);
      this.dirty.put(this.kind, id, 0, encoded(this.format.write, value));
    } else if (this.values.delete(id)) this.dirty.put(this.kind, id, 0, null);
  }

  load(_kind: RecordKind, id: number, _part: number, value: Uint8Array): void {
    this.values.set(id, this.format.read(new ByteReader(value)));
  }

  clear(): void {
    this.values.clear();
  }

  /** Nothing in it is in the way of an import or a restore: it is replaced, or goes with the object it belongs to. */
  contents(): string | null {
    return null;
  }
}

/** The columns of an effect on such a part that are its own. */
type Columns = Pick<EffectRow<unknown, readonly unknown[]>, 'code' | 'cost' | 'counts'>;

/** The effect, followed by an id and a value, that sets that one. */
export function setEffect<Value>({ write, read }: Format<Value>, columns: Columns) {
  return effect<ValuesById<Value>, [id: number, value: Value]>({
    ...columns,
    write: (out, id, value) => {
      out.varint(id);
      write(out, value);
    },
    read: (input) => [input.varint(), read(input)],
    apply: (part, id, value) => part.set(id, value),
    inverse: wayBack,
  });
}

/** The effect, followed by an id, that removes its value. */
export function removeEffect<Value>(columns: Columns) {
  return effect<ValuesById<Value>, [id: number]>({
    ...columns,
    write: (out, id) => out.varint(id),
    read: (input) => [input.varint()],
    apply: (part, id) => part.set(id, undefined),
    inverse: wayBack,
  });
}

/** Gives an id the value back that it has now. */
export function wayBack<Value>(part: ValuesById<Value>, id: number): () => void {
  const old = part.all.get(id);
  return () => part.set(id, old);
}
