import { GroupBusyError } from '../errors.js';
import type { GroupMeta } from './group-meta.js';
import { recordKeyBuffer } from './keys.js';

/** A group that is open: what is stored of it, and what is going on with it. */
export class GroupHandle {
  private current: GroupMeta;
  /** A key of the group's present generation, to be named and used at once. */
  key: Buffer;
  /** The end of bringing a decided checkpoint into the records, while that is going on. */
  applying: Promise<void> | undefined;

  constructor(
    readonly id: number,
    meta: GroupMeta,
  ) {
    this.current = meta;
    this.key = recordKeyBuffer(id, meta.generation);
  }

  get meta(): GroupMeta {
    return this.current;
  }

  set meta(meta: GroupMeta) {
    if (meta.generation !== this.current.generation) this.key = recordKeyBuffer(this.id, meta.generation);
    this.current = meta;
  }
}

/** At most one checkpoint, installation or removal of a group at a time. */
export class BusyGroups {
  private readonly busy = new Map<number, string>();

  /** Throws `GroupBusyError`. */
  enter(group: number, what: string): void {
    const before = this.busy.get(group);
    if (before !== undefined) throw new GroupBusyError(group, `${before} is under way`);
    this.busy.set(group, what);
  }

  leave(group: number): void {
    this.busy.delete(group);
  }
}
