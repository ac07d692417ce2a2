/** The instances of one type in an export, as JSON: of any number, as the collection was at one moment. */
import {
  type BackupRecord,
  CollectionGroup,
  isRestored,
  JsonWriter,
  pack,
  RecordKind,
  ShapeTree,
} from '@althing/engine';
import { backupContents } from './contents.js';
import { BackupError } from './format.js';

/** Things after which what is in memory of them is forgotten. */
const THINGS_MAX = 20_000;

/** Bytes of one row at most. */
const ROW_BYTES_MAX = 256 * 1024 * 1024;

export interface ExportedRows {
  /** The names of the properties of the type. */
  readonly fields: readonly string[];
  /** The last change of the collection that is in it. */
  readonly index: number;
  /** One JSON object for each instance, by rising ids, with the id as `#`; things in it are ids alone. */
  readonly rows: AsyncGenerator<string, void, undefined>;
}

/**
 * Reads an export twice: enums lie behind the things that hold their members.
 *
 * @param open gives the export from its beginning
 * @throws BackupError, also while the rows are read
 */
export async function rowsOfExport(
  open: () => AsyncIterable<Uint8Array>,
  type: string,
): Promise<ExportedRows> {
  const others: BackupRecord[] = [];
  let index = 0;
  for await (const part of backupContents(open())) {
    if (part.kind === 'head' && part.head.collection === undefined)
      throw new BackupError('refused', 'this is a backup, and no export of a collection');
    if (part.kind === 'group') index = part.applied.index;
    if (part.kind !== 'records') continue;
    for (const record of part.records.filter(isRestored))
      if (record.kind !== RecordKind.THING) others.push({ ...record, value: record.value.slice() });
  }
  const reader = new ThingReader(others);
  const fields = reader.fieldsOf(type);
  if (fields === null) throw new BackupError('refused', `there is no type '${type}'`);
  return { fields, index, rows: rowsIn(open, reader, type) };
}

async function* rowsIn(
  open: () => AsyncIterable<Uint8Array>,
  reader: ThingReader,
  type: string,
): AsyncGenerator<string, void, undefined> {
  for await (const part of backupContents(open())) {
    if (part.kind !== 'records') continue;
    for (const { kind, id, part: number, value } of part.records) {
      if (kind !== RecordKind.THING) continue;
      const row = reader.add(id, number, value, type);
      if (row !== null) yield row;
    }
  }
  const last = reader.end(type);
  if (last !== null) yield last;
}

/** Reads things one by one, with what they need of the collection. */
class ThingReader {
  private group: CollectionGroup;
  private readonly parts = new Map<number, Uint8Array>();
  private id = 0;
  private count = 0;

  constructor(private readonly others: readonly BackupRecord[]) {
    this.group = this.begin();
  }

  fieldsOf(type: string): readonly string[] | null {
    return this.group.store.schema.typeNamed(type)?.def?.fields.map(({ name }) => name) ?? null;
  }

  /** Takes a record; gives the row of the thing before, when that was the last record of an instance of a type. */
  add(id: number, part: number, value: Uint8Array, type: string): string | null {
    const row = id === this.id ? null : this.end(type);
    if (id !== this.id) this.parts.clear();
    this.id = id;
    this.parts.set(part, value.slice());
    return row;
  }

  end(type: string): string | null {
    const { id, parts } = this;
    if (id === 0 || !parts.has(0)) return null;
    if (this.count++ >= THINGS_MAX) {
      this.count = 0;
      this.group = this.begin();
    }
    const { store } = this.group;
    if (store.schema.typeNamed(type)?.instances.has(id) !== true) return null;
    const thing = store.thingOfId(id);
    store.load(thing);
    const out = new JsonWriter();
    pack(thing, out, { deep: 1, ids: true, store, sizeMax: ROW_BYTES_MAX, nestingMax: 1000 });
    return out.take();
  }

  private begin(): CollectionGroup {
    const group = new CollectionGroup(1, new ShapeTree(), {
      read: (kind, id, part) =>
        kind === RecordKind.THING && id === this.id ? this.parts.get(part) : undefined,
    });
    for (const { kind, id, part, value } of this.others) group.loadRecord(kind, id, value, part);
    return group;
  }
}
