import { ChangeJsonWriter, type FeedChange, packChange, quote, type SchemaView } from '@althing/engine';
import { type FeedPosition, positionText } from './position.js';

/** The changes that a follower asks for. */
export interface FeedFilter {
  /** Names of types; null for things of any, and for plain ones. */
  readonly types: ReadonlySet<string> | null;
  /** Ids of things; null for any. */
  readonly ids: ReadonlySet<number> | null;
  /** The same for filters that let the same through. */
  readonly key: string;
}

/** A step of a change with the name of the type that its thing has: null for none, undefined where nobody knows any more. */
export interface LabelledChange {
  readonly change: FeedChange;
  readonly type: string | null | undefined;
}

/** The parcel of one change of a collection for its followers. */
export class FeedParcel {
  private readonly texts = new Map<string, string | null>();

  /** @param view the definitions; what is told of names is asked for before the next change is read */
  constructor(
    readonly at: FeedPosition,
    private readonly head: { readonly time: number; readonly user: string | null },
    private readonly changes: readonly LabelledChange[],
    private readonly view: SchemaView,
  ) {}

  /** The line in JSON for those who have this filter; null where it leaves nothing. Made once for each filter. */
  text(filter: FeedFilter): string | null {
    let text = this.texts.get(filter.key);
    if (text === undefined) {
      text = this.made(filter);
      this.texts.set(filter.key, text);
    }
    return text;
  }

  private made(filter: FeedFilter): string | null {
    const wanted = this.changes.filter((one) => isWanted(one, filter));
    if (wanted.length === 0) return null;
    const writer = new ChangeJsonWriter();
    writer.beginArray();
    for (const { change, type } of wanted) packChange(writer, change, type ?? null, this.view);
    writer.endArray();
    const { time, user } = this.head;
    const by = user === null ? '' : `,"user":${quote(user)}`;
    return `{"at":"${positionText(this.at)}","time":${time}${by},"changes":${writer.take()}}`;
  }
}

/** Lets everything through. */
export const ALL_CHANGES: FeedFilter = { types: null, ids: null, key: '' };

/** A filter of types and ids; null for any. */
export function filterOf(types: readonly string[] | null, ids: readonly number[] | null): FeedFilter {
  if (types === null && ids === null) return ALL_CHANGES;
  return {
    types: types === null ? null : new Set(types),
    ids: ids === null ? null : new Set(ids),
    key: JSON.stringify([types === null ? null : types.toSorted(), ids?.toSorted((a, b) => a - b) ?? null]),
  };
}

function isWanted({ change, type }: LabelledChange, { types, ids }: FeedFilter): boolean {
  switch (change.op) {
    case 'gone':
    case 'enum_def':
      return true;
    case 'type_def':
      return types === null || [change.before, change.now].some((def) => def !== null && types.has(def.name));
    default:
      if (ids !== null && !ids.has(change.id)) return false;
      // Who can't tell says it: what is gone meanwhile is told to be gone soon.
      return types === null || type === undefined || (type !== null && types.has(type));
  }
}
