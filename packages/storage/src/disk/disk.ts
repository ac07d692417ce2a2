/**
 * The lowest layer: one flat folder of files. Everything above reaches the disk only through this, so that a
 * simulator can replace it. All failures are `DiskError`s with the system's name of the error.
 */
export interface Disk {
  /** The regular files of the folder, sorted by name. Folders inside it are not told. */
  list(): Promise<DiskEntry[]>;

  /** Opens a file that exists. */
  open(name: string): Promise<DiskFile>;

  /**
   * Creates a file of `bytes` zeros, really allocated and durable, so that later writes inside it need no
   * metadata. The *name* is durable only after {@link sync}. An existing file of the name is replaced. With
   * too little space it fails with `ENOSPC` and leaves no file.
   */
  create(name: string, bytes: number): Promise<DiskFile>;

  /** Removes a file; durable after {@link sync}. A file that is open stays readable through its handle. */
  remove(name: string): Promise<void>;

  /** Renames, atomically replacing `to`; durable after {@link sync}. Open handles follow. */
  rename(from: string, to: string): Promise<void>;

  /** Makes the names of the folder durable: creations, removals, and renames. */
  sync(): Promise<void>;

  /** Bytes that this process may still allocate. */
  freeBytes(): Promise<number>;
}

export type DiskEntry = { readonly name: string; readonly bytes: number };

/** Called once when a write ended; without an error the bytes are durable. */
export type WriteDone = (error: Error | undefined) => void;

export interface DiskFile {
  /** Bytes of the file. */
  readonly bytes: number;

  /** Reads synchronously. Shorter than asked only at the end of the file. The result is the caller's own. */
  read(position: number, length: number): Buffer;

  /**
   * Writes the buffers one after the other from `position`, durably: when `done` is called without an error
   * the bytes survive a power cut. The buffers must not change before. May extend the file. `done` is never
   * called before `write` returned. A `DiskError` tells in `writtenBytes` how much of it reached the file.
   *
   * @param urgent the caller has nothing better to do until then: the thread may be held while a fast disk
   *   writes
   */
  write(buffers: readonly Uint8Array[], position: number, done: WriteDone, urgent?: boolean): void;

  /** Cuts or extends with zeros; durable. */
  resize(bytes: number): Promise<void>;

  close(): Promise<void>;
}

/** {@link DiskFile.write} as a promise, where latency does not matter. */
export function writeDurably(file: DiskFile, bytes: Uint8Array, position: number): Promise<void> {
  return new Promise((resolve, reject) => {
    file.write([bytes], position, (error) => (error === undefined ? resolve() : reject(error)));
  });
}
