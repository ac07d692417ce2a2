/** A query that is checked in the engine thread and runs elsewhere, over a snapshot of what the disk has. */
import type { Format, QueryError, RootPart } from '@althing/engine';
import type { GroupId } from '../between/protocol.js';
import type { LineAnswer, LogTexts, ProgramBody, Reply } from '../groups/request.js';

/** Nothing in it belongs to a thread. */
export interface SnapshotQuery {
  readonly collection: GroupId;
  /** The state of the root scope on the disk may lack it. */
  readonly root: RootPart;
  readonly body: ProgramBody;
  readonly format: Format;
  readonly isReadOnly: boolean;
  /** The name by which the log knows the request. */
  readonly requestId: string;
  readonly place: StoredPlace;
  /** True if the answer may have lines. */
  readonly hasLines: boolean;
  /** True if the last line says that these are all. */
  readonly hasEnd: boolean;
}

/** Where the state of a group on the disk stands. */
export interface StoredPlace {
  /** The last entry of the log in it. */
  readonly storedIndex: number;
  /** Up to here nothing was changed behind that. */
  readonly index: number;
  /** Its age at most, in milliseconds. */
  readonly ageMs: number;
}

/** The user that asks. */
export interface SnapshotAsker {
  readonly userId: number;
  /** True if nobody waits for the answer any more. */
  readonly gone: () => boolean;
  /** Why the user may not have the answer any more; null as long as he may. */
  readonly refusal: () => QueryError | null;
  /** Takes what the code says by `log`; null for nobody. */
  readonly logs: LogTexts | null;
  /** Takes an answer of lines; null where one value is wanted. */
  readonly lines: LineAnswer | null;
}

export interface SnapshotAnswer {
  readonly reply: Reply;
  /** Milliseconds from when it was asked until the snapshot was taken. */
  readonly takenMs: number;
}

/** Runs queries over snapshots. */
export interface SnapshotReaders {
  /** Calls back once. */
  ask(query: SnapshotQuery, asker: SnapshotAsker, done: (answer: SnapshotAnswer) => void): void;
  /** Checkpoints wrote so many bytes to the disk. */
  noteWritten(bytes: number): void;
  /** The state of a group was replaced, or is gone: what runs over what it was ends. */
  endGroup(group: GroupId): void;
  /** The disk has no room: what is overwritten must not be kept. */
  noteDiskFull(): void;
}
