/**
 * Kinds of records in the state of a group. A record has the key (kind, id, part); `part` numbers the records of one
 * object that is stored in several records. The bytes of each kind are described where they are encoded.
 * Kinds from 0x20 on belong to the node.
 */
export const RecordKind = {
  /** id: the type. Types come before things, which can't be read without them. See `parts/schema.ts`, as for `ENUM`, `INSTANCES` and `MEMBER_REFS`. */
  TYPE: 0,
  /** id 0: the counters of the group; see `group.ts`. */
  META: 1,
  /** id: the thing; part 0 the thing itself, others its pages; see `thing-record.ts`, `pages/`. */
  THING: 2,
  /** id: number of the procedure. */
  PROCEDURE: 3,
  USER: 5,
  COLLECTION: 6,
  /** id: the id of the node. */
  MEMBER: 7,
  /** id: the number that the node will get. */
  INVITATION: 8,
  /** id 0: the level that the cluster works at; see `admin/level.ts`. */
  LEVEL: 9,
  ENUM: 10,
  /** id: the type; part: a chunk of the index of its instances. */
  INSTANCES: 11,
  /** id: the enum. */
  MEMBER_REFS: 12,
  /** id: the user; part: the number of the list. See `admin/whitelist.ts`. */
  WHITELIST: 13,
  /** id: the number of a change; see `parts/commits.ts`. */
  COMMIT: 14,
  /** id: the scope; see `admin/histories.ts`. */
  HISTORY: 15,
  /** id: the task; see `parts/tasks.ts`. */
  TASK: 16,
  /** id: the module; part 0 its definition, others slices of its code. See `admin/modules.ts`. */
  MODULE: 18,
  /** id: the room; see `parts/rooms.ts`. */
  ROOM: 17,
  /** id: the user; see `admin/sessions.ts`. */
  SESSIONS: 19,
  /** id: the index; see `type-index.ts`. */
  INDEX: 20,
  /** id: the index; part: the number of the page; see `pages/key-pages.ts`. */
  INDEX_PAGE: 21,
  /** id: the user; see `admin/user-limits.ts`. */
  USER_LIMITS: 22,
  /** id: the slot of the load; see `parts/loads.ts`. */
  LOAD: 23,
  /** id: the job; see `parts/jobs.ts`. */
  JOB: 24,
  /** id: the collection; see `admin/feed-keeping.ts`. */
  FEED: 25,
} as const;

export type RecordKind = (typeof RecordKind)[keyof typeof RecordKind];

/** Kinds of records that are read when something asks for them, in rising order; all others are taken up when a group is opened. */
const READ_WHEN_NEEDED: readonly RecordKind[] = [RecordKind.THING, RecordKind.INDEX_PAGE];

/**
 * The records that a group takes up when it is opened: the first and last kinds of the fewest ranges that have none of the
 * others. To read a range takes a trip to the store, and a node with a thousand groups opens all of them when it starts.
 */
const OPENING_RANGES: readonly (readonly [first: number, last: number])[] = rangesBetween(
  READ_WHEN_NEEDED,
  Math.max(...Object.values(RecordKind)),
);

function rangesBetween(left: readonly number[], last: number): [number, number][] {
  const ends = [...left.map((kind) => kind - 1), last];
  const starts = [0, ...left.map((kind) => kind + 1)];
  return starts.map((start, i): [number, number] => [start, ends[i]!]).filter(([a, b]) => a <= b);
}

/** A record as a store gives it. */
interface StoredRecord {
  readonly kind: number;
  readonly id: number;
  readonly part: number;
  readonly value: Uint8Array;
}

/**
 * Has a group take up the records that it needs to be opened.
 *
 * @param scan gives the records of the kinds from `first` to `last`, in the order of (kind, id, part)
 */
export async function loadGroup(
  group: { loadRecord(kind: number, id: number, value: Uint8Array, part: number): void },
  scan: (first: number, last: number) => AsyncIterable<StoredRecord>,
): Promise<void> {
  for (const [first, last] of OPENING_RANGES) {
    for await (const { kind, id, part, value } of scan(first, last)) group.loadRecord(kind, id, value, part);
  }
}

/** Where a group reads what its last checkpoint wrote. Synchronous: a thing is loaded when it is touched. */
export interface RecordSource {
  read(kind: RecordKind, id: number, part: number): Uint8Array | undefined;
}

/** Where a checkpoint puts records. */
export interface RecordSink {
  put(kind: RecordKind, id: number, part: number, value: Uint8Array): void;
  delete(kind: RecordKind, id: number, part: number): void;
}

/** A source without records, for a new group. */
export const EMPTY_SOURCE: RecordSource = { read: () => undefined };
