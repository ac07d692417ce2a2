/**
 * One index of a type: the entries of its instances, each a key and an id. It is state: an index has exactly the instances with ids up to
 * its cursor, and all of them when it is ready. What it has of an instance changes with it, on leaders and followers alike.
 *
 *   record := format:u8 state:u8 cursor:varint why:text root:varint next:varint entries:varint index     `index` as in `schema/index-def.ts`
 */
import { ByteReader, type ByteWriter, FormatError } from '../bytes.js';
import {
  type IndexDef,
  ignoresCase,
  isUnique,
  readIndexDef,
  type SortKind,
  sortKindOf,
  writeIndexDef,
} from '../schema/index-def.js';
import { foldCase } from '../value/case-folding.js';
import type { Shape } from '../value/shape.js';
import { type IdOf, isCutKey, keyedPart, NIL_KEY, sortKey } from '../value/sort-key.js';
import type { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { EMPTY_TREE, KeyPages, type KeyTreeHead } from './pages/key-pages.js';
import type { WholeTexts } from './whole-texts.js';

/** One property of an index. */
export interface KeyField {
  readonly name: string;
  readonly kind: SortKind;
}

/** The state of an index: the instances that it has, and why it could not be completed. */
export interface IndexProgress {
  /** It has the instances with ids up to here: all of them with `READY`. */
  readonly cursor: number;
  /** Why it failed; null for one that did not. A failed one is empty, and stays so. */
  readonly why: string | null;
}

/** The cursor of an index that has all instances. */
export const READY = Number.POSITIVE_INFINITY;

const RECORD_FORMAT = 1;

const BUILDING = 0;
const DONE = 1;
const FAILED = 2;

/** Values of some slots of a thing that it is going to have, in place of those that it has. */
export type Overlay = ReadonlyMap<number, Value>;

const NO_OVERLAY: Overlay = new Map();

export class TypeIndex {
  tree: KeyPages;
  /** Where it is built here and is unique: the texts that its keys have the beginning of. */
  wholeTexts: WholeTexts | null = null;
  /** The number of look-ups in it, on this node, since it is in its memory. */
  lookUps = 0;
  /** The slots of the fields in the shape that was asked for last. */
  private shape: Shape | null = null;
  private slots: readonly number[] = [];
  /** The fields in the shape that `fieldsIn` was asked for last: a change of the type makes another one. */
  private fieldsShape: Shape | null = null;
  private fields: readonly KeyField[] = [];

  /** @param read gives the record of a page */
  constructor(
    public def: IndexDef,
    public progress: IndexProgress,
    private readonly read: (id: number, number: number) => Uint8Array,
    head: KeyTreeHead = EMPTY_TREE,
  ) {
    this.tree = this.treeOf(head);
  }

  get isUnique(): boolean {
    return isUnique(this.def);
  }

  get isReady(): boolean {
    return this.progress.cursor === READY;
  }

  /** True if texts that differ in case alone are the same to it. */
  get ignoresCase(): boolean {
    return ignoresCase(this.def);
  }

  /** The form in which it keeps a text. */
  textOf(text: string): string {
    return this.ignoresCase ? foldCase(text) : text;
  }

  /** The form in which it keeps all texts among the values of its fields, as one text: keys have the beginning of long ones only. */
  textsIn(values: readonly Value[]): string {
    const texts = values.filter((value) => typeof value === 'string');
    return JSON.stringify(texts.map((text) => this.textOf(text)));
  }

  /** Notes the texts of a loaded instance that it has or takes up, and whose key is this. */
  noteTexts(key: string, thing: Thing, overlay: Overlay = NO_OVERLAY): void {
    if (this.wholeTexts === null || !isCutKey(key)) return;
    this.wholeTexts.add(key, this.textsIn(this.slotsOf(thing).map((slot) => valueAt(thing, slot, overlay))));
  }

  /** True if two instances with one key have the same texts, too: as `textsIn`, of which nothing is made. */
  haveSameTexts(left: readonly Value[], right: readonly Value[]): boolean {
    return left.every((value, i) => {
      const other = right[i];
      return (
        typeof value !== 'string' || (typeof other === 'string' && this.textOf(value) === this.textOf(other))
      );
    });
  }

  /** The component of a value in its keys. */
  componentOf(value: Value, idOf?: IdOf): string {
    return sortKey(typeof value === 'string' ? this.textOf(keyedPart(value)) : value, idOf);
  }

  /** True if it has an instance with an id. */
  covers(id: number): boolean {
    return id <= this.progress.cursor;
  }

  /** The places of the values in an instance, which must be loaded. */
  slotsOf({ shape }: Thing): readonly number[] {
    if (this.shape !== shape) {
      this.slots = this.def.fields.map((id) => {
        const slot = shape.fields.findIndex((field) => field.id === id);
        if (slot < 0)
          throw new Error(`an instance has no field ${id}, which is in the index ${this.def.name}`);
        return slot;
      });
      this.shape = shape;
    }
    return this.slots;
  }

  /** The properties in the shape of its type. */
  fieldsIn(shape: Shape | null): readonly KeyField[] {
    if (this.fieldsShape !== shape) {
      this.fields = this.def.fields.map((id) => {
        const field = shape?.fields.find((other) => other.id === id);
        const kind = field === undefined ? null : sortKindOf(field.definition);
        if (field === undefined || kind === null)
          throw new Error(`the index ${this.def.name} has a property that can not be`);
        return { name: field.name, kind };
      });
      this.fieldsShape = shape;
    }
    return this.fields;
  }

  /** The key of a loaded instance. */
  keyOf(thing: Thing): string {
    let key = '';
    for (const slot of this.slotsOf(thing)) key += this.componentOf(thing.slots[slot] ?? null);
    return key;
  }

  /** The same; null where one of the values is nil, so that it collides with nothing. */
  uniqueKeyOf(thing: Thing, overlay: Overlay = NO_OVERLAY, idOf?: IdOf): string | null {
    let key = '';
    for (const slot of this.slotsOf(thing)) {
      const component = this.componentOf(valueAt(thing, slot, overlay), idOf);
      if (component === NIL_KEY) return null;
      key += component;
    }
    return key;
  }

  /** The key of the values of the fields; null where one is nil. */
  uniqueKeyOfValues(values: readonly Value[]): string | null {
    const components = values.map((value) => this.componentOf(value));
    return components.includes(NIL_KEY) ? null : components.join('');
  }

  /** The key that an instance has if one of its slots has another value. */
  keyWith(thing: Thing, slot: number, value: Value): string {
    let key = '';
    for (const other of this.slotsOf(thing))
      key += this.componentOf(other === slot ? value : (thing.slots[other] ?? null));
    return key;
  }

  /** Begins anew, without entries. */
  empty(): void {
    this.tree = this.treeOf({ ...EMPTY_TREE, nextNumber: this.tree.head.nextNumber });
  }

  private treeOf(head: KeyTreeHead): KeyPages {
    return new KeyPages((number) => this.read(this.def.id, number), head);
  }

  write(out: ByteWriter): void {
    const { cursor, why } = this.progress;
    const { root, nextNumber, count } = this.tree.head;
    out.u8(RECORD_FORMAT);
    out.u8(why !== null ? FAILED : cursor === READY ? DONE : BUILDING);
    out.varint(cursor === READY ? 0 : cursor);
    out.text(why ?? '');
    out.varint(root);
    out.varint(nextNumber);
    out.varint(count);
    writeIndexDef(out, this.def);
  }

  static load(input: ByteReader, read: (id: number, number: number) => Uint8Array): TypeIndex {
    const { def, progress, head } = readRecord(input);
    return new TypeIndex(def, progress, read, head);
  }
}

/** The part of the record of an index that is the same on all nodes: all but its pages. */
export function sharedIndexRecord(value: Uint8Array): string {
  const { def, progress, head } = readRecord(new ByteReader(value));
  return JSON.stringify([
    def,
    progress.cursor === READY ? 'ready' : progress.cursor,
    progress.why,
    head.count,
  ]);
}

function readRecord(input: ByteReader): {
  readonly def: IndexDef;
  readonly progress: IndexProgress;
  readonly head: KeyTreeHead;
} {
  const format = input.u8();
  if (format !== RECORD_FORMAT) throw new FormatError(`unknown form ${format} of an index`);
  const state = input.u8();
  const cursor = input.varint();
  const why = input.text();
  const head = { root: input.varint(), nextNumber: input.varint(), count: input.varint() };
  const progress = { cursor: state === DONE ? READY : cursor, why: state === FAILED ? why : null };
  return { def: readIndexDef(input), progress, head };
}

function valueAt(thing: Thing, slot: number, overlay: Overlay): Value {
  return overlay.get(slot) ?? (overlay.has(slot) ? null : (thing.slots[slot] ?? null));
}
