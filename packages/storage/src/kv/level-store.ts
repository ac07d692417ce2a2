import { Level } from 'level';
import { asBuffer } from '../bytes.js';
import {
  DamagedStateError,
  DiskError,
  DiskFullError,
  FolderInUseError,
  MisuseError,
  messageOf,
  StorageError,
} from '../errors.js';
import { HeldFiles } from './held-files.js';
import type {
  IterateOptions,
  KeyRange,
  KeyValueBatch,
  KeyValueCursor,
  KeyValuePair,
  KeyValueSnapshot,
  KeyValueStore,
} from './key-value-store.js';
import { LevelReadAhead } from './level-read-ahead.js';
import { hasLevelDb, removeObsoleteFiles, verifyLevelDb } from './leveldb-files.js';

export type LevelStoreOptions = {
  /** Make an empty store if there is none; without it a missing store is damage. */
  readonly createIfMissing: boolean;
  /**
   * `full` (the default) reads all tables before they are trusted, at about a second for each gigabyte;
   * `quick` checks the manifest and the sizes only. Damage inside a table is then found by the checksums of
   * values when they are read, but a damaged key is just not found; `verifyLevelDb` finds that later.
   */
  readonly verify?: 'full' | 'quick';
  /** Block cache. Default 32 MiB. */
  readonly cacheBytes?: number;
  /** Memory table; up to two are in use. Default 8 MiB. */
  readonly writeBufferBytes?: number;
  /**
   * Tables that LevelDB has open at a time, the first 1000 of them mapped and the others with a descriptor each. Half as many files are
   * held open besides. Default 2000; LevelDB takes at least 74.
   */
  readonly openFilesMax?: number;
};

/** LevelDB in a folder of its own. Not compressed, so that hot reads copy once and tables can be verified. */
export class LevelStore implements KeyValueStore {
  readonly readAhead: LevelReadAhead;

  /** Throws `FolderInUseError` (without a pid), `DamagedStateError`, `DiskFullError`, `DiskError`. */
  static async open(folder: string, options: LevelStoreOptions): Promise<LevelStore> {
    const exists = await hasLevelDb(folder);
    if (!exists && !options.createIfMissing) throw new DamagedStateError(`there is no LevelDB in ${folder}`);
    if (exists) {
      await probeLock(folder);
      await verifyLevelDb(folder, options.verify !== 'quick');
      await removeObsoleteFiles(folder);
    }
    const openFilesMax = options.openFilesMax ?? 2000;
    const db: Db = new Level<Uint8Array, Uint8Array>(folder, {
      keyEncoding: 'view',
      valueEncoding: 'view',
      compression: false,
      createIfMissing: !exists,
      cacheSize: options.cacheBytes ?? 32 * MEBIBYTE,
      writeBufferSize: options.writeBufferBytes ?? 8 * MEBIBYTE,
      maxFileSize: 4 * MEBIBYTE,
      maxOpenFiles: openFilesMax,
      // Other threads read, too. That no other store has the folder is made sure of above.
      multithreading: true,
    });
    await guarded(folder, () => db.open());
    return new LevelStore(db, new HeldFiles(folder, Math.floor(openFilesMax / 2)));
  }

  /**
   * Opens a store once more, for another thread of the process, to be read there. It has to be open in the thread that writes to it,
   * from where it was opened by exactly this path, and stay so until this one is closed: else the folder stays locked.
   */
  static async share(folder: string): Promise<LevelStore> {
    const db: Db = new Level<Uint8Array, Uint8Array>(folder, {
      keyEncoding: 'view',
      valueEncoding: 'view',
      createIfMissing: false,
      multithreading: true,
    });
    await guarded(folder, () => db.open());
    return new LevelStore(db, null);
  }

  /** @param held null where another thread writes, which holds them */
  private constructor(
    private readonly db: Db,
    private readonly held: HeldFiles | null,
  ) {
    this.readAhead = new LevelReadAhead(db.location);
  }

  getSync(key: Uint8Array, snapshot?: KeyValueSnapshot): Buffer | undefined {
    try {
      const value =
        snapshot instanceof LevelSnapshot ? this.db.getSync(key, snapshot.reading) : this.db.getSync(key);
      return value === undefined ? undefined : asBuffer(value);
    } catch (error) {
      throw toStorageError(error, this.db.location);
    }
  }

  iterate(range: KeyRange, options: IterateOptions = {}): KeyValueCursor {
    const bounds = { gte: range.from, lt: range.to, highWaterMarkBytes: FETCH_BYTES };
    const view =
      options.snapshot instanceof LevelSnapshot ? { ...bounds, snapshot: options.snapshot.handle } : bounds;
    const { location } = this.db;
    if (options.keysOnly === true) {
      const keys = this.db.keys(view);
      const next = async (count: number): Promise<KeyValuePair[]> =>
        (await keys.nextv(count)).map((key) => [asBuffer(key), NO_VALUE]);
      return { next: (count) => guarded(location, () => next(count)), close: () => keys.close() };
    }
    const pairs = this.db.iterator(view);
    const next = async (count: number): Promise<KeyValuePair[]> =>
      (await pairs.nextv(count)).map(([key, value]) => [asBuffer(key), asBuffer(value)]);
    return { next: (count) => guarded(location, () => next(count)), close: () => pairs.close() };
  }

  batch(): KeyValueBatch {
    const batch = this.db.batch();
    return {
      put: (key, value) => {
        batch.put(key, value);
      },
      delete: (key) => {
        batch.del(key);
      },
      write: (options) => {
        this.held?.notice();
        return guarded(this.db.location, () => batch.write({ sync: options.sync }));
      },
    };
  }

  /**
   * A compaction of a range that is always empty: LevelDB then turns its memory table into a file, and no
   * more.
   */
  flush(): Promise<void> {
    return this.compact({ from: NO_KEY, to: NO_KEY });
  }

  approximateBytes({ from, to }: KeyRange): Promise<number> {
    return guarded(this.db.location, async () =>
      Number(await Reflect.apply(this.own('approximateSize'), this.db, [from, to])),
    );
  }

  compact({ from, to }: KeyRange): Promise<void> {
    return guarded(this.db.location, async () => {
      await Reflect.apply(this.own('compactRange'), this.db, [from, to]);
    });
  }

  /** The universal type of `Level` does not tell of the methods that only LevelDB has. */
  private own(name: 'approximateSize' | 'compactRange'): (from: Uint8Array, to: Uint8Array) => unknown {
    const method: unknown = Reflect.get(this.db, name);
    if (!isMethod(method)) throw new MisuseError(`this is no LevelDB: it has no ${name}`);
    return method;
  }

  snapshot(): KeyValueSnapshot {
    return new LevelSnapshot(this.db.snapshot());
  }

  async close(): Promise<void> {
    // The database stays open as long as another thread has it.
    await this.readAhead.close();
    await guarded(this.db.location, () => this.db.close());
    await this.held?.close();
  }
}

type Db = Level<Uint8Array, Uint8Array>;

/** One trip to LevelDB's thread fetches so much. */
const FETCH_BYTES = 256 * 1024;
const MEBIBYTE = 1 << 20;
/** No key of ours is as high. */
const NO_KEY = Buffer.alloc(32, 0xff);
const NO_VALUE = Buffer.alloc(0);

class LevelSnapshot implements KeyValueSnapshot {
  /** Options to read of it. With encodings in them they are not copied for each record. */
  readonly reading: { snapshot: ReturnType<Db['snapshot']>; keyEncoding: 'view'; valueEncoding: 'view' };

  constructor(readonly handle: ReturnType<Db['snapshot']>) {
    this.reading = { snapshot: handle, keyEncoding: 'view', valueEncoding: 'view' };
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

/**
 * Finds out whether another process holds the folder, without touching what is in it: LevelDB takes its lock
 * first, and then refuses to open a database that it was told must not exist.
 */
async function probeLock(folder: string): Promise<void> {
  const probe = new Level(folder, { createIfMissing: false, errorIfExists: true });
  const error = await probe.open().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  await probe.close();
  if (causes(error).some((cause) => codeOf(cause) === 'LEVEL_LOCKED')) throw toStorageError(error, folder);
}

function isMethod(value: unknown): value is (from: Uint8Array, to: Uint8Array) => unknown {
  return typeof value === 'function';
}

async function guarded<T>(folder: string, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    throw toStorageError(error, folder);
  }
}

/** LevelDB tells a code, and the system's error only in words. */
function toStorageError(error: unknown, folder: string): StorageError {
  if (error instanceof StorageError) return error;
  const chain = causes(error);
  const codes = chain.map(codeOf);
  const words = chain.map(messageOf).join(': ');
  if (codes.includes('LEVEL_LOCKED')) return new FolderInUseError(folder, undefined, error);
  if (/no space left|quota exceeded/i.test(words)) return new DiskFullError(`LevelDB in ${folder}`, error);
  if (codes.includes('LEVEL_CORRUPTION')) return new DamagedStateError(words, undefined, error);
  return new DiskError('EIO', `LevelDB (${words})`, folder, 0, error);
}

function causes(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let cause = error; typeof cause === 'object' && cause !== null && chain.length < 8; ) {
    chain.push(cause);
    cause = 'cause' in cause ? cause.cause : undefined;
  }
  return chain;
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
