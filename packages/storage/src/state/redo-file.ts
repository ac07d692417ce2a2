import { crc32c } from '../crc32c.js';
import type { Disk, DiskFile } from '../disk/disk.js';
import { DamagedStateError, DiskError } from '../errors.js';
import type { Redo } from './group-meta.js';
import { checkSlab, SLAB_HEADER_LENGTH, type Slab, slabHeader } from './slabs.js';

const NAME = /^redo-(\d{12})$/;

export function redoName(file: number): string {
  return `redo-${String(file).padStart(12, '0')}`;
}

/** The number in the name of a redo file; undefined for other names. */
export function redoNumber(name: string): number | undefined {
  const match = NAME.exec(name);
  return match === null ? undefined : Number(match[1]);
}

/** Writes slabs one after the other, durably. What waits is bounded by whoever looks at `waitingBytes`. */
export class RedoWriter {
  private file: Promise<DiskFile> | undefined;
  private position = 0;
  private slabs = 0;
  private crc = 0;
  private bytesWaiting = 0;
  private lastWrite: Promise<void> = Promise.resolve();

  constructor(
    private readonly disk: Disk,
    readonly number: number,
  ) {}

  get waitingBytes(): number {
    return this.bytesWaiting;
  }

  /** The group's record of the file once all is written. */
  get summary(): Omit<Redo, 'applied'> {
    return { file: this.number, slabs: this.slabs, bytes: this.position, crc: this.crc };
  }

  /** Takes a slab over; errors are told by {@link written}. */
  add(slab: Slab): void {
    const { bytes, crc } = slab.seal();
    const position = this.position;
    this.position += bytes.length;
    this.slabs++;
    this.crc = chained(this.crc, crc);
    this.bytesWaiting += bytes.length;
    this.file ??= this.create();
    const file = this.file;
    this.lastWrite = this.lastWrite.then(async () => {
      const target = await file;
      await new Promise<void>((resolve, reject) => {
        target.write([bytes], position, (error) => (error === undefined ? resolve() : reject(error)));
      });
      this.bytesWaiting -= bytes.length;
    });
    this.lastWrite.catch(() => undefined);
  }

  /** Resolves when all slabs so far are durable. */
  written(): Promise<void> {
    return this.lastWrite;
  }

  /** Closes the file, which stays. */
  async close(): Promise<void> {
    await this.lastWrite.catch(() => undefined);
    const file = await this.file?.catch(() => undefined);
    await file?.close();
  }

  private async create(): Promise<DiskFile> {
    const file = await this.disk.create(redoName(this.number), 0);
    await this.disk.sync();
    return file;
  }
}

/** Reads the slabs of a decided checkpoint. */
export class RedoReader {
  private position = 0;
  private number = 0;
  private crc = 0;

  private constructor(
    private readonly file: DiskFile,
    private readonly redo: Redo,
    private readonly group: number,
  ) {}

  /** Throws `DamagedStateError` if the file is not there. */
  static async open(disk: Disk, redo: Redo, group: number): Promise<RedoReader> {
    try {
      return new RedoReader(await disk.open(redoName(redo.file)), redo, group);
    } catch (error) {
      if (!(error instanceof DiskError && error.errno === 'ENOENT')) throw error;
      throw new DamagedStateError(
        `${redoName(redo.file)}, a checkpoint of group ${group}, is missing`,
        group,
        error,
      );
    }
  }

  /** The next slab, verified; undefined after the last. */
  next(): Buffer | undefined {
    if (this.number === this.redo.slabs) {
      if (this.position === this.redo.bytes && this.crc === this.redo.crc) return undefined;
      throw this.damaged('is not the one that was decided');
    }
    const header = slabHeader(this.file.read(this.position, SLAB_HEADER_LENGTH));
    if (header === undefined || header.length > this.redo.bytes - this.position)
      throw this.damaged('ends early');
    const bytes = this.file.read(this.position, header.length);
    checkSlab(bytes, this.number, this.group);
    this.position += header.length;
    this.number++;
    this.crc = chained(this.crc, header.crc);
    return bytes;
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private damaged(what: string): DamagedStateError {
    return new DamagedStateError(
      `${redoName(this.redo.file)}, a checkpoint of group ${this.group}, ${what}`,
      this.group,
    );
  }
}

function chained(before: number, crc: number): number {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(crc);
  return crc32c(bytes, 0, 4, before);
}
