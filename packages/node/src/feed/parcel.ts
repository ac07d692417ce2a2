import {
  ChangeJsonWriter,
  type FeedChange,
  MsgpackWriter,
  packChange,
  QueryError,
  type SchemaView,
  type Sink,
  type ThingChange,
} from '@althing/engine';
import { type FeedPosition, positionText } from '../between/feed-position.js';

/** The changes that a follower asks for. */
export interface FeedFilter {
  /** Names of types; null for things of any, and for plain ones. */
  readonly types: ReadonlySet<string> | null;
  /** Ids of things; null for any. */
  readonly ids: ReadonlySet<number> | null;
  /** True if things are told whole, as they are now, in place of what was done to them. */
  readonly isOfThings: boolean;
  /** True if lines are MessagePack in place of JSON. */
  readonly isPacked: boolean;
  /** The same for filters that let the same through. */
  readonly key: string;
}

/** A step of a change with the name of the type that its thing has: null for none, undefined where nobody knows any more. */
export interface LabelledChange {
  readonly change: FeedChange;
  readonly type: string | null | undefined;
}

/** The present state of a collection. */
export interface Present {
  /** A thing as it is now with the name of its type; null where there is none. */
  readonly thing: (id: number) => { readonly change: ThingChange; readonly type: string | null } | null;
  /** Resolves when all that the state holds now is committed, and rejects when it was taken back. */
  readonly confirmed: () => Promise<void>;
}

/** A line in one of its two forms. */
export interface LineBody {
  /** Empty where it is packed. */
  readonly json: string;
  /** MessagePack; null where it is JSON. */
  readonly packed: Uint8Array | null;
}

/** A line that says nothing but a position. */
export function aliveLine(at: FeedPosition, isPacked: boolean): LineBody {
  return bodyOf(isPacked, (sink) => {
    sink.beginMap(2);
    sink.key('at');
    sink.str(positionText(at));
    sink.key('alive');
    sink.bool(true);
    sink.endMap();
  });
}

function bodyOf(isPacked: boolean, write: (sink: Sink) => void): LineBody {
  const writer = isPacked ? new MsgpackWriter() : new ChangeJsonWriter();
  write(writer);
  return writer instanceof MsgpackWriter
    ? { json: '', packed: writer.out.take() }
    : { json: writer.take(), packed: null };
}

/** The parcel of one change of a collection for its followers. */
export class FeedParcel {
  private readonly lines = new Map<string, LineBody | null>();
  private confirmation: Promise<void> | null = null;

  /**
   * Lines are asked for before the next change is read, and before the state changes.
   *
   * @param view the definitions
   */
  constructor(
    readonly at: FeedPosition,
    private readonly head: { readonly time: number; readonly user: string | null },
    private readonly changes: readonly LabelledChange[],
    private readonly view: SchemaView,
    private readonly present: Present,
  ) {}

  /** The promise for which a line of this filter has to wait; null for none. */
  confirmed({ isOfThings }: FeedFilter): Promise<void> | null {
    return isOfThings ? this.confirmation : null;
  }

  /** The line for those who have this filter; null where it leaves nothing. Made once for each filter. */
  line(filter: FeedFilter): LineBody | null {
    let line = this.lines.get(filter.key);
    if (line === undefined) {
      line = this.made(filter);
      this.lines.set(filter.key, line);
    }
    return line;
  }

  private made(filter: FeedFilter): LineBody | null {
    const wanted = this.changes.filter((one) => isWanted(one, filter));
    if (wanted.length === 0) return null;
    try {
      return this.lineOf(filter.isOfThings ? this.things(wanted) : wanted, filter);
    } catch (error) {
      // Things that are too large are told by what was done to them.
      if (filter.isOfThings && error instanceof QueryError) return this.lineOf(wanted, filter);
      throw error;
    }
  }

  private lineOf(changes: readonly LabelledChange[], { isPacked }: FeedFilter): LineBody | null {
    if (changes.length === 0) return null;
    const { time, user } = this.head;
    return bodyOf(isPacked, (sink) => {
      sink.beginMap(user === null ? 3 : 4);
      sink.key('at');
      sink.str(positionText(this.at));
      sink.key('time');
      sink.int(time);
      if (user !== null) {
        sink.key('user');
        sink.str(user);
      }
      sink.key('changes');
      sink.beginArray(changes.length);
      for (const { change, type } of changes)
        packChange(sink, change, type ?? null, this.view, THINGS_BYTES_MAX);
      sink.endArray();
      sink.endMap();
    });
  }

  /** Each thing once, whole, in place of the steps of it; those that are gone are told when their going is. */
  private things(changes: readonly LabelledChange[]): LabelledChange[] {
    if (this.confirmation === null) {
      this.confirmation = this.present.confirmed();
      // There may be nobody who waits for it.
      this.confirmation.catch(() => {});
    }
    const told = new Set<number>();
    return changes.flatMap((one) => {
      const { change } = one;
      if (change.op === 'type_def' || !('id' in change)) return [one];
      if (told.has(change.id)) return [];
      told.add(change.id);
      const thing = this.present.thing(change.id);
      return thing === null ? [] : [thing];
    });
  }
}

/** Bytes of a line up to which things are told whole. */
const THINGS_BYTES_MAX = 4 * 1024 * 1024;

/** Lets everything through. */
export const ALL_CHANGES: FeedFilter = filterOf(null, null, false);

/** Types, and ids, of one filter. */
export const FILTER_MAX = 1000;

/** A filter of types and ids; null for any. */
export function filterOf(
  types: readonly string[] | null,
  ids: readonly number[] | null,
  isOfThings: boolean,
  isPacked = false,
): FeedFilter {
  return {
    types: types === null ? null : new Set(types),
    ids: ids === null ? null : new Set(ids),
    isOfThings,
    isPacked,
    key: JSON.stringify([
      types?.toSorted() ?? null,
      ids?.toSorted((a, b) => a - b) ?? null,
      isOfThings,
      isPacked,
    ]),
  };
}

function isWanted({ change, type }: LabelledChange, { types, ids }: FeedFilter): boolean {
  switch (change.op) {
    case 'gone':
    case 'enum_def':
      return true;
    case 'type_def':
      return types === null || [change.before, change.now].some((def) => def !== null && types.has(def.name));
    case 'type':
      // A follower of its former type has to hear that the thing left it.
      return ids === null || ids.has(change.id);
    default:
      if (ids !== null && !ids.has(change.id)) return false;
      // An unknown type counts as wanted: a thing that is gone meanwhile is told to be gone soon.
      return types === null || type === undefined || (type !== null && types.has(type));
  }
}
