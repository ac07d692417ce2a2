/** The kind of a {@link StorageError}; stable, so that callers compare this and never the message. */
export type StorageErrorCode =
  | 'damaged_log'
  | 'damaged_state'
  | 'disk_full'
  | 'disk_error'
  | 'store_poisoned'
  | 'store_closed'
  | 'newer_format'
  | 'folder_in_use'
  | 'folder_content'
  | 'snapshot_refused'
  | 'group_busy'
  | 'limit_exceeded'
  | 'misuse';

/** The root of all errors that this package throws on purpose. */
export class StorageError extends Error {
  constructor(
    readonly code: StorageErrorCode,
    message: string,
    cause?: unknown,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
  }
}

/** An operation of the lowest layer failed. `errno` is the system's name (`EIO`, `ENOSPC`, ...). */
export class DiskError extends StorageError {
  constructor(
    readonly errno: string,
    operation: string,
    readonly file: string,
    /** Bytes known to have reached the file before a write failed. */
    readonly writtenBytes = 0,
    cause?: unknown,
  ) {
    super('disk_error', `${operation} of ${file} failed: ${errno}`, cause);
  }
}

/** There is no room, and nothing was written: reads go on, and writes work again once room is made. */
export class DiskFullError extends StorageError {
  constructor(what: string, cause?: unknown) {
    super(
      'disk_full',
      `The disk is full: ${what}. Free some space, or release the reserve file, then compact and write again.`,
      cause,
    );
  }
}

/**
 * A durable write failed. What is on the disk is unknown; the process must end and recover from what is
 * there.
 */
export class StorePoisonedError extends StorageError {
  constructor(store: string, cause: unknown) {
    super(
      'store_poisoned',
      `The ${store} failed for good: ${messageOf(cause)}. End the process; a restart recovers.`,
      cause,
    );
  }
}

/** A call on a store after `close()`. */
export class StoreClosedError extends StorageError {
  constructor(store: string) {
    super('store_closed', `The ${store} is closed.`);
  }
}

/** The place at which a log is damaged, and what is lost by it. */
export type LogDamage = {
  readonly segment: string;
  readonly offset: number;
  readonly missing: string;
};

/**
 * The log lacks something that it once promised. It is not opened: nothing is guessed, nothing is deleted.
 */
export class DamagedLogError extends StorageError {
  readonly segment: string;
  readonly offset: number;
  readonly missing: string;

  constructor(damage: LogDamage) {
    super(
      'damaged_log',
      `The log is damaged in ${damage.segment} at byte ${damage.offset}: ${damage.missing}. ` +
        'This node must not vote with it. Move the whole data folder away and let the node join anew, ' +
        'or restore the folder from a backup.',
    );
    this.segment = damage.segment;
    this.offset = damage.offset;
    this.missing = damage.missing;
  }
}

/** A stored value or file of the state is not what was written, or is missing. */
export class DamagedStateError extends StorageError {
  /** The group concerned, if the damage could be told apart. */
  readonly group: number | undefined;

  constructor(what: string, group?: number, cause?: unknown) {
    super(
      'damaged_state',
      `The stored state is damaged: ${what}. Move the whole data folder away and let the node join anew, ` +
        'or restore the folder from a backup.',
      cause,
    );
    this.group = group;
  }
}

/** The data were written by a newer version of the program. */
export class NewerFormatError extends StorageError {
  constructor(
    what: string,
    readonly found: number,
    readonly known: number,
  ) {
    super(
      'newer_format',
      `${what} has format ${found}, this program knows formats up to ${known}. Start a newer version of the program.`,
    );
  }
}

/** Another process works with the folder. `pid` is undefined if the owner file does not tell. */
export class FolderInUseError extends StorageError {
  readonly pid: number | undefined;

  constructor(path: string, pid: number | undefined, cause?: unknown) {
    const who = pid === undefined ? 'another process' : `process ${pid}`;
    super(
      'folder_in_use',
      `The folder ${path} is in use by ${who}. End it first, or choose another folder.`,
      cause,
    );
    this.pid = pid;
  }
}

/** The folder holds something that is not ours; nothing in it was touched. */
export class FolderContentError extends StorageError {
  constructor(path: string, what: string) {
    super(
      'folder_content',
      `The folder ${path} does not look like a data folder: ${what}. Choose an empty folder, or move that away.`,
    );
  }
}

/** Why a snapshot was not installed. */
export type SnapshotRefusal = 'damaged' | 'older' | 'wrong_group' | 'out_of_order';

/** A snapshot was not installed; the group's state is as it was. */
export class SnapshotRefusedError extends StorageError {
  constructor(
    readonly reason: SnapshotRefusal,
    what: string,
  ) {
    super('snapshot_refused', `The snapshot was refused: ${what}. The state of the group is unchanged.`);
  }
}

/** Another checkpoint, snapshot installation or removal of the same group is under way. */
export class GroupBusyError extends StorageError {
  constructor(
    readonly group: number,
    what: string,
  ) {
    super('group_busy', `Group ${group} is busy: ${what}. Wait for it to end, or abort it first.`);
  }
}

/** Something is larger than this package takes. */
export class LimitError extends StorageError {
  constructor(what: string, found: number, limit: number) {
    super('limit_exceeded', `${what} is ${found}; the limit is ${limit}.`);
  }
}

/** A programming error of the caller: a broken invariant that must stop the process. */
export class MisuseError extends StorageError {
  constructor(what: string) {
    super('misuse', `Storage was used against its contract: ${what}.`);
  }
}

/** Throws {@link MisuseError} unless the condition holds. */
export function demand(condition: boolean, what: string): asserts condition {
  if (!condition) throw new MisuseError(what);
}

/** True for the system's "no space left" in whatever layer it was met. */
export function isDiskFull(error: unknown): boolean {
  return (
    error instanceof DiskFullError ||
    (error instanceof DiskError && (error.errno === 'ENOSPC' || error.errno === 'EDQUOT'))
  );
}

/** The words of an error, also of one of another realm, as those of `fs` are in tests. */
export function messageOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error
    ? String(error.message)
    : String(error);
}
