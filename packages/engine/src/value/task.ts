import { fromMoment, parsePlace, toClientText } from '@althing/datetime';
import type { Closure } from './closure.js';
import type { List } from './containers.js';
import type { ErrorValue } from './scalars.js';
import { Tag } from './tag.js';
import type { Value } from './value.js';

/** The state of a task. It is replaced as a whole when something changes. */
export interface TaskState {
  readonly id: number;
  /** The id of the user that it runs as. */
  readonly owner: number;
  /** Unix seconds; 0 when it is not scheduled. */
  readonly startAt: number;
  /** The end of the last run: none yet, well, or with `error`. */
  readonly status: TaskStatus;
  readonly error: ErrorValue | null;
  /** One of its own, in its stored form. */
  readonly closure: Closure;
  /** Arguments of the closure behind the task itself: a tuple with a value for each further parameter. */
  readonly args: List;
}

export type TaskStatus = 'nil' | 'ok' | 'err';

/** The tasks of a scope, as far as values have to know them. */
export interface TaskBook {
  /** The task with this id; undefined when it is gone, also with its owner. */
  find(id: number): TaskState | undefined;
  /** The present name of an owner. */
  nameOf(owner: number): string;
  /** Ids of the tasks whose arguments of a modification are being evaluated. */
  readonly locked: Set<number>;
  /** The arguments of all tasks, which keep alive what they refer to. */
  arguments(): Iterable<Value>;
}

/** A reference to a task. All references to a task that is gone are empty, and so is one that was made without a task. */
export class Task {
  constructor(
    /** 0 for one that never was. */
    readonly id: number,
    private readonly book: TaskBook | null,
  ) {}

  get tag(): typeof Tag.TASK {
    return Tag.TASK;
  }

  /** Its state; undefined when it is empty. */
  get state(): TaskState | undefined {
    return this.id === 0 ? undefined : this.book?.find(this.id);
  }

  /** True if it is there, so that changing it changes what is stored. */
  get stored(): boolean {
    return this.state !== undefined;
  }

  get scheduled(): boolean {
    return (this.state?.startAt ?? 0) !== 0;
  }

  get locked(): boolean {
    return this.book?.locked.has(this.id) === true;
  }

  /** Keeps its changing methods from being called, or lets them again. */
  lock(isLocked: boolean): void {
    if (isLocked) this.book?.locked.add(this.id);
    else this.book?.locked.delete(this.id);
  }

  equals(other: Value): boolean {
    return this === other || (other instanceof Task && this.id !== 0 && this.id === other.id);
  }

  /** The text: `task:ID` or `task:nil`. */
  get text(): string {
    return this.stored ? `task:${this.id}` : EMPTY;
  }

  /** The text for clients: `<task:ID owner:NAME run_at:TIME status:S>`, or `task:nil`; `task:ID` where no more is known of it. */
  get clientText(): string {
    const { state, book } = this;
    if (book === null) return this.id === 0 ? EMPTY : `task:${this.id}`;
    if (state === undefined) return EMPTY;
    const { id, owner, startAt, status } = state;
    const time = startAt === 0 ? 'nil' : toClientText(fromMoment('datetime', startAt, UTC));
    return `<task:${id} owner:${book.nameOf(owner)} run_at:${time} status:${status}>`;
  }
}

const EMPTY = 'task:nil';

const UTC = parsePlace('UTC');
