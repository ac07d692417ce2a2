/**
 * The steps of a change as clients get them, see `docs/feed.md`. Values are as in answers of queries, with things by their ids alone; JSON
 * has bytes as base64, and floats that are no numbers as texts.
 */
import { definitionText, type Labels } from '../schema/definition.js';
import type { FeedChange, SchemaChange, ThingChange } from '../state/feed/change.js';
import type { Value } from '../value/value.js';
import { JsonWriter } from './json-writer.js';
import { type PackOptions, pack, type Sink } from './walk.js';

/** JSON of changes: nothing of the state may keep them from being written. */
export class ChangeJsonWriter extends JsonWriter {
  override bin(value?: Uint8Array): void {
    this.str(Buffer.from(value ?? []).toString('base64'));
  }

  override float(value: number): void {
    if (Number.isFinite(value)) super.float(value);
    else this.str(Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf');
  }
}

/**
 * Writes one step.
 *
 * @param type the name of the type that the thing has; null for none or where it is not known
 * @param labels the names of types and enums
 * @param sizeMax bytes that the sink may have when the values of a thing that is told whole are in it
 * @throws QueryError past that
 */
export function packChange(
  sink: Sink,
  change: FeedChange,
  type: string | null,
  labels: Labels,
  sizeMax = Number.POSITIVE_INFINITY,
): void {
  if (change.op === 'type_def' || change.op === 'enum_def') packSchema(sink, change, labels);
  else packStep(sink, change, type, labels, sizeMax);
}

function packStep(
  sink: Sink,
  change: ThingChange,
  type: string | null,
  labels: Labels,
  sizeMax: number,
): void {
  const map = new MapOf(sink, change.op);
  if (change.op === 'gone') {
    map.add('ids', () => ids(sink, change.ids));
    map.end();
    return;
  }
  if (type !== null && change.op !== 'type') map.add('type', () => sink.str(type));
  map.add('id', () => sink.int(change.id));
  if ('key' in change) map.add('key', () => value(sink, change.key));
  switch (change.op) {
    case 'new':
    case 'thing':
      map.add('values', () => {
        sink.beginMap(change.values.length);
        for (const [key, one] of change.values) {
          sink.longKey(key, () => {});
          pack(one, sink, change.op === 'thing' ? { ...OPTIONS, sizeMax } : OPTIONS);
        }
        sink.endMap();
      });
      break;
    case 'set':
    case 'fill':
      map.add('value', () => value(sink, change.value));
      break;
    case 'rename':
    case 'restrict':
      map.add('to', () => value(sink, change.to));
      break;
    case 'type':
      map.add('to', () => value(sink, change.type === null ? null : labels.typeLabel(change.type)));
      break;
    case 'splice':
      map.add('start', () => sink.int(change.start));
      map.add('removed', () => sink.int(change.removed));
      map.add('items', () => array(sink, change.items, (item) => value(sink, item)));
      break;
    case 'cut':
      map.add('runs', () => array(sink, change.runs, (run) => ids(sink, run)));
      break;
    case 'add':
    case 'remove':
      map.add('ids', () => ids(sink, change.ids));
      break;
    default:
  }
  map.end();
}

function packSchema(sink: Sink, change: SchemaChange, labels: Labels): void {
  const map = new MapOf(sink, 'schema');
  const [kind, before] =
    change.op === 'enum_def' ? ['enum', change.before] : ['type', change.before?.name ?? null];
  const name = change.now?.name ?? before ?? '';
  map.add(kind, () => sink.str(name));
  if (change.now === null) map.add('gone', () => sink.bool(true));
  else if (before !== null && before !== name) map.add('was', () => sink.str(before));
  if (change.op === 'enum_def' && change.now !== null) {
    const { members } = change.now;
    map.add('members', () =>
      array(sink, members, (member) => {
        const entry = new MapOf(sink, null);
        entry.add('name', () => sink.str(member.name));
        entry.add('value', () => value(sink, member.value));
        entry.end();
      }),
    );
  } else if (change.op === 'type_def' && change.now !== null) {
    const { fields } = change.now;
    map.add('fields', () =>
      array(sink, fields, ({ id, name: key, definition, initial }) => {
        const was = change.before?.fields.find((field) => field.id === id)?.name;
        const entry = new MapOf(sink, null);
        entry.add('name', () => sink.str(key));
        entry.add('definition', () => sink.str(definitionText(definition, labels)));
        if (was === undefined) entry.add('initial', () => value(sink, initial));
        else if (was !== key) entry.add('was', () => sink.str(was));
        entry.end();
      }),
    );
  }
  map.end();
}

/** A map whose entries are counted before they are written, as MessagePack needs it. */
class MapOf {
  private readonly entries: (readonly [key: string, write: () => void])[] = [];

  constructor(
    private readonly sink: Sink,
    op: string | null,
  ) {
    if (op !== null) this.add('op', () => sink.str(op));
  }

  add(key: string, write: () => void): void {
    this.entries.push([key, write]);
  }

  end(): void {
    this.sink.beginMap(this.entries.length);
    for (const [key, write] of this.entries) {
      this.sink.key(key);
      write();
    }
    this.sink.endMap();
  }
}

const OPTIONS: PackOptions = {
  deep: 0,
  ids: true,
  store: null,
  sizeMax: Number.POSITIVE_INFINITY,
  nestingMax: Number.POSITIVE_INFINITY,
};

function value(sink: Sink, one: Value): void {
  pack(one, sink, OPTIONS);
}

function ids(sink: Sink, numbers: readonly number[]): void {
  array(sink, numbers, (id) => sink.int(id));
}

function array<T>(sink: Sink, items: readonly T[], write: (item: T) => void): void {
  sink.beginArray(items.length);
  for (const item of items) write(item);
  sink.endArray();
}
