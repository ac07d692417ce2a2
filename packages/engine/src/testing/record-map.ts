import type { CollectionGroup } from '../state/collection-group.js';
import { RecordKind, type RecordSink, type RecordSource } from '../state/records.js';

/** Records in memory, for tests of what is written and read back: a group reads them, and checkpoints put them. */
export class RecordMap implements RecordSource, RecordSink {
  /** @param values by the names of the records; see `nameOf` */
  constructor(readonly values: Map<string, Uint8Array> = new Map()) {}

  read(kind: number, id: number, part: number): Uint8Array | undefined {
    return this.values.get(nameOf(kind, id, part));
  }

  put(kind: number, id: number, part: number, value: Uint8Array): void {
    this.values.set(nameOf(kind, id, part), value);
  }

  delete(kind: number, id: number, part: number): void {
    this.values.delete(nameOf(kind, id, part));
  }

  /** Has a group take up what is no thing, as a start does. */
  load(group: CollectionGroup): void {
    const names = [...this.values.keys()].filter((name) => name.includes('/'));
    const places = names.map((name) => name.split(/[/:]/).map(Number) as [number, number, number]);
    places.sort(([a], [b]) => a - b);
    for (const [kind, id, part] of places)
      group.loadRecord(kind, id, this.read(kind, id, part) as Uint8Array, part);
  }
}

/** Records of a checkpoint that is encoded in steps: all of them become what is stored, or none. */
export class StagedRecords implements RecordSink {
  private readonly staged: [kind: number, id: number, part: number, value: Uint8Array | null][] = [];

  put(kind: number, id: number, part: number, value: Uint8Array): void {
    this.staged.push([kind, id, part, value]);
  }

  delete(kind: number, id: number, part: number): void {
    this.staged.push([kind, id, part, null]);
  }

  moveTo(records: RecordMap): void {
    for (const [kind, id, part, value] of this.staged) {
      if (value === null) records.delete(kind, id, part);
      else records.put(kind, id, part, value);
    }
  }
}

/** The name of a record: `id:part` for one of a thing, `kind/id:part` for another. */
export function nameOf(kind: number, id: number, part: number): string {
  return kind === RecordKind.THING ? `${id}:${part}` : `${kind}/${id}:${part}`;
}
