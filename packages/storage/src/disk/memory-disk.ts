import { DiskError } from '../errors.js';
import type { Disk, DiskEntry, DiskFile, WriteDone } from './disk.js';

/** One operation, as told to the fault and scheduling hooks. */
export type DiskOperation = {
  readonly kind:
    | 'list'
    | 'open'
    | 'create'
    | 'remove'
    | 'rename'
    | 'sync'
    | 'read'
    | 'write'
    | 'resize'
    | 'close';
  readonly name: string;
  readonly position: number;
  readonly length: number;
};

/**
 * The effect of a hook on an operation: let it fail (after `writtenBytes` of a write were done), or let a
 * write or sync claim to be durable when it is not (a lying disk).
 */
export type DiskFault =
  | { readonly kind: 'error'; readonly errno: 'EIO' | 'ENOSPC'; readonly writtenBytes?: number }
  | { readonly kind: 'lie' };

export type MemoryDiskOptions = {
  /** Bytes that fit; more fails with ENOSPC. Without it there is no bound. */
  readonly capacityBytes?: number;
  /** Called before each operation. */
  readonly fault?: (operation: DiskOperation) => DiskFault | undefined;
  /**
   * When an asynchronous operation completes: a simulator puts `complete` on its event heap. Default: a
   * microtask.
   */
  readonly defer?: (operation: DiskOperation, complete: () => void) => void;
};

/**
 * A folder in memory that knows what is synced. Data that were written and not acknowledged, and names that
 * were not synced, may or may not survive {@link crash}; a write is then torn at any byte.
 *
 * After `crash` or `kill` the handles and operations of the former process are dead: nothing of theirs
 * completes.
 */
export class MemoryDisk implements Disk {
  capacityBytes: number;
  fault: (operation: DiskOperation) => DiskFault | undefined;
  private readonly defer: (operation: DiskOperation, complete: () => void) => void;
  private inodes = new Map<string, Inode>();
  private syncedNames = new Map<string, Inode>();
  /** Changes of names since the last sync, in order: file systems journal them, so a crash keeps a prefix. */
  private nameChanges: NameChange[] = [];
  /** The number of process lives so far; completions of earlier lives are dropped. */
  private life = 0;

  constructor(options: MemoryDiskOptions = {}) {
    this.capacityBytes = options.capacityBytes ?? Number.POSITIVE_INFINITY;
    this.fault = options.fault ?? (() => undefined);
    this.defer = options.defer ?? ((_operation, complete) => queueMicrotask(complete));
  }

  /**
   * The disk as one process sees it. After the next `crash` or `kill` this handle is dead, and whatever code
   * of the former process still runs can do no harm through it.
   */
  attach(): Disk {
    const life = this.life;
    return {
      list: () => this.listIn(life),
      open: (name) => this.openIn(life, name),
      create: (name, bytes) => this.createIn(life, name, bytes),
      remove: (name) => this.removeIn(life, name),
      rename: (from, to) => this.renameIn(life, from, to),
      sync: () => this.syncIn(life),
      freeBytes: () => this.later(life, operationOf('list', '.'), () => this.free()),
    };
  }

  list(): Promise<DiskEntry[]> {
    return this.attach().list();
  }

  open(name: string): Promise<DiskFile> {
    return this.attach().open(name);
  }

  create(name: string, bytes: number): Promise<DiskFile> {
    return this.attach().create(name, bytes);
  }

  remove(name: string): Promise<void> {
    return this.attach().remove(name);
  }

  rename(from: string, to: string): Promise<void> {
    return this.attach().rename(from, to);
  }

  sync(): Promise<void> {
    return this.attach().sync();
  }

  freeBytes(): Promise<number> {
    return this.attach().freeBytes();
  }

  /**
   * Power loss: of everything not synced a random part remains, in random order, each write torn at any byte.
   *
   * @param random a number in [0, 1), as from a seeded generator
   */
  crash(random: () => number): void {
    this.life++;
    const kept = Math.floor(random() * (this.nameChanges.length + 1));
    for (const change of this.nameChanges.slice(0, kept)) applyChange(this.syncedNames, change);
    this.nameChanges = [];
    this.inodes = new Map(this.syncedNames);
    for (const inode of new Set(this.inodes.values())) crashInode(inode, random);
  }

  /** The process ends, the power stays: what it had handed to the system is readable, and not yet durable. */
  kill(): void {
    this.life++;
  }

  /** True if nothing of the file could be lost by a power cut. A simulator asks this before each promise. */
  isSynced(name: string): boolean {
    const inode = this.inodes.get(name);
    return inode !== undefined && this.syncedNames.get(name) === inode && inode.writes.length === 0;
  }

  /** Flips one bit of a file, on the medium and in the cache. */
  flip(name: string, bit: number): void {
    const inode = this.inode(name, 'flip');
    const at = bit >> 3;
    for (const bytes of new Set([inode.current, inode.synced])) {
      const old = bytes[at];
      if (old !== undefined) bytes[at] = old ^ (1 << (bit & 7));
    }
  }

  /** The names of all files, for tests. */
  get names(): string[] {
    return [...this.inodes.keys()].sort();
  }

  /** The content of a file, for tests. */
  content(name: string): Buffer {
    return Buffer.from(this.inode(name, 'read').current);
  }

  /** Replaces or (with undefined) removes a file behind the store's back, durably: for tests of damage. */
  overwrite(name: string, content: Uint8Array | undefined): void {
    if (content === undefined) {
      this.inodes.delete(name);
      this.syncedNames.delete(name);
      return;
    }
    const inode: Inode = { current: Buffer.from(content), synced: Buffer.from(content), writes: [] };
    this.inodes.set(name, inode);
    this.syncedNames.set(name, inode);
  }

  /** Room for `extra` bytes more in an inode; used by the files. */
  hasRoom(extra: number): boolean {
    return extra <= 0 || extra <= this.free();
  }

  isAlive(life: number): boolean {
    return life === this.life;
  }

  /** Runs `task` when the scheduler says so, unless the process died meanwhile. */
  complete(operation: DiskOperation, life: number, task: () => void): void {
    this.defer(operation, () => {
      if (life === this.life) task();
    });
  }

  private listIn(life: number): Promise<DiskEntry[]> {
    return this.later(life, operationOf('list', '.'), () =>
      [...this.inodes]
        .map(([name, inode]) => ({ name, bytes: inode.current.length }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    );
  }

  private openIn(life: number, name: string): Promise<DiskFile> {
    return this.later(life, operationOf('open', name), () => {
      return new MemoryFile(this, this.inode(name, 'open'), name, life);
    });
  }

  private createIn(life: number, name: string, bytes: number): Promise<DiskFile> {
    return this.later(life, operationOf('create', name, 0, bytes), () => {
      const free = this.free() + (this.inodes.get(name)?.current.length ?? 0);
      if (bytes > free) throw new DiskError('ENOSPC', 'create', name);
      const inode: Inode = { current: Buffer.alloc(bytes), synced: Buffer.alloc(bytes), writes: [] };
      this.change({ kind: 'link', name, inode });
      return new MemoryFile(this, inode, name, life);
    });
  }

  private removeIn(life: number, name: string): Promise<void> {
    return this.later(life, operationOf('remove', name), () => {
      this.inode(name, 'remove');
      this.change({ kind: 'unlink', name });
    });
  }

  private renameIn(life: number, from: string, to: string): Promise<void> {
    return this.later(life, operationOf('rename', from), () => {
      this.change({ kind: 'rename', from, to, inode: this.inode(from, 'rename') });
    });
  }

  private syncIn(life: number): Promise<void> {
    const count = this.nameChanges.length;
    return this.later(life, operationOf('sync', '.'), (lies) => {
      if (lies) return;
      for (const change of this.nameChanges.splice(0, count)) applyChange(this.syncedNames, change);
    });
  }

  private later<T>(life: number, operation: DiskOperation, task: (lies: boolean) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!this.isAlive(life)) return;
      const fault = this.fault(operation);
      this.complete(operation, life, () => {
        try {
          if (fault?.kind === 'error') throw new DiskError(fault.errno, operation.kind, operation.name);
          resolve(task(fault?.kind === 'lie'));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  private inode(name: string, operation: string): Inode {
    const inode = this.inodes.get(name);
    if (inode === undefined) throw new DiskError('ENOENT', operation, name);
    return inode;
  }

  private change(change: NameChange): void {
    applyChange(this.inodes, change);
    this.nameChanges.push(change);
  }

  private free(): number {
    let used = 0;
    for (const inode of new Set(this.inodes.values())) used += inode.current.length;
    return this.capacityBytes - used;
  }
}

/** A write that the medium need not have. */
type UnsyncedWrite = { readonly position: number; readonly bytes: Buffer };

type Inode = {
  /** The content that a read sees. */
  current: Buffer;
  /** The content that surely survives. */
  synced: Buffer;
  writes: UnsyncedWrite[];
};

type NameChange =
  | { readonly kind: 'link'; readonly name: string; readonly inode: Inode }
  | { readonly kind: 'unlink'; readonly name: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string; readonly inode: Inode };

class MemoryFile implements DiskFile {
  private closed = false;

  constructor(
    private readonly disk: MemoryDisk,
    private readonly inode: Inode,
    private readonly name: string,
    private readonly life: number,
  ) {}

  get bytes(): number {
    return this.inode.current.length;
  }

  read(position: number, length: number): Buffer {
    this.assertOpen('read');
    const fault = this.disk.fault(operationOf('read', this.name, position, length));
    if (fault?.kind === 'error') throw new DiskError(fault.errno, 'read', this.name);
    return Buffer.from(this.inode.current.subarray(position, position + length));
  }

  write(buffers: readonly Uint8Array[], position: number, done: WriteDone): void {
    if (!this.disk.isAlive(this.life)) return;
    this.assertOpen('write');
    const bytes = Buffer.concat(buffers);
    const operation = operationOf('write', this.name, position, bytes.length);
    const fault = this.disk.fault(operation);
    const extra = Math.max(0, position + bytes.length - this.bytes);
    let error: DiskError | undefined;
    if (fault?.kind === 'error')
      error = new DiskError(fault.errno, 'write', this.name, fault.writtenBytes ?? 0);
    else if (!this.disk.hasRoom(extra)) error = new DiskError('ENOSPC', 'write', this.name);
    const reached = error === undefined ? bytes : bytes.subarray(0, error.writtenBytes);
    const write: UnsyncedWrite = { position, bytes: Buffer.from(reached) };
    this.inode.current = patched(this.inode.current, write);
    if (reached.length > 0) this.inode.writes.push(write);
    this.disk.complete(operation, this.life, () => {
      if (error === undefined && fault?.kind !== 'lie') this.settle(write);
      done(error);
    });
  }

  async resize(bytes: number): Promise<void> {
    if (!this.disk.isAlive(this.life)) return new Promise(() => undefined);
    this.assertOpen('resize');
    const operation = operationOf('resize', this.name, bytes, 0);
    const fault = this.disk.fault(operation);
    await new Promise<void>((resolve) => this.disk.complete(operation, this.life, resolve));
    if (fault?.kind === 'error') throw new DiskError(fault.errno, 'resize', this.name);
    if (!this.disk.hasRoom(bytes - this.bytes)) throw new DiskError('ENOSPC', 'resize', this.name);
    this.inode.current = resized(this.inode.current, bytes);
    this.inode.synced = resized(this.inode.synced, bytes);
    this.inode.writes = this.inode.writes.filter((write) => write.position < bytes);
  }

  async close(): Promise<void> {
    this.closed = true;
    await new Promise<void>((resolve) => {
      this.disk.complete(operationOf('close', this.name), this.life, resolve);
    });
  }

  /** An acknowledged write becomes part of what survives; what older writes had left under it is gone. */
  private settle(write: UnsyncedWrite): void {
    const { writes } = this.inode;
    const order = writes.indexOf(write);
    this.inode.synced = patched(this.inode.synced, write);
    this.inode.writes = writes
      .filter((other) => other !== write)
      .flatMap((other, at) => (at < order ? without(other, write) : [other]));
  }

  private assertOpen(operation: string): void {
    if (this.closed || !this.disk.isAlive(this.life)) throw new DiskError('EBADF', operation, this.name);
  }
}

function operationOf(kind: DiskOperation['kind'], name: string, position = 0, length = 0): DiskOperation {
  return { kind, name, position, length };
}

function applyChange(names: Map<string, Inode>, change: NameChange): void {
  if (change.kind === 'link') {
    names.set(change.name, change.inode);
  } else if (change.kind === 'unlink') {
    names.delete(change.name);
  } else {
    names.delete(change.from);
    names.set(change.to, change.inode);
  }
}

/**
 * A random range of bytes of each un-synced write survives (often none, often all), applied in random order.
 */
function crashInode(inode: Inode, random: () => number): void {
  const writes = [...inode.writes];
  let content: Buffer = Buffer.from(inode.synced);
  while (writes.length > 0) {
    const [write] = writes.splice(Math.floor(random() * writes.length), 1);
    if (write === undefined) continue;
    const fate = random();
    if (fate < 0.3) continue;
    const from = fate < 0.5 ? 0 : Math.floor(random() * write.bytes.length);
    const to =
      fate < 0.4 ? write.bytes.length : from + Math.floor(random() * (write.bytes.length - from + 1));
    if (to === from) continue;
    content = patched(content, { position: write.position + from, bytes: write.bytes.subarray(from, to) });
  }
  inode.current = content;
  inode.synced = Buffer.from(content);
  inode.writes = [];
}

/** The remains of an older write beside a newer one. */
function without(older: UnsyncedWrite, newer: UnsyncedWrite): UnsyncedWrite[] {
  const before = older.bytes.subarray(0, Math.max(0, newer.position - older.position));
  const newerEnd = newer.position + newer.bytes.length;
  const after = older.bytes.subarray(Math.max(0, newerEnd - older.position));
  return [
    { position: older.position, bytes: before },
    { position: Math.max(older.position, newerEnd), bytes: after },
  ].filter((part) => part.bytes.length > 0);
}

function patched(content: Buffer, write: UnsyncedWrite): Buffer {
  const end = write.position + write.bytes.length;
  const target = end > content.length ? resized(content, end) : content;
  write.bytes.copy(target, write.position);
  return target;
}

function resized(content: Buffer, bytes: number): Buffer {
  const target = Buffer.alloc(bytes);
  content.copy(target, 0, 0, Math.min(bytes, content.length));
  return target;
}
