import {
  ErrorCode,
  nodeError,
  operationError,
  type QueryError,
  type QueryLimits,
  type Quotas,
  quotaError,
  timeoutError,
  type WireValues,
} from '@althing/engine';
import { DamagedStateError } from '@althing/storage';
import { type Clock, pause } from '../base/clock.js';
import type { GroupId } from '../between/protocol.js';
import type { LineAnswer, ProgramBody, Reply } from '../groups/request.js';
import { decodeAnswer } from '../requests/forward-format.js';
import { failed } from '../requests/replies.js';
import type {
  SnapshotAnswer,
  SnapshotAsker,
  SnapshotQuery,
  SnapshotReaders,
} from '../requests/snapshot-query.js';
import { LineRing, newLineMemory } from './line-ring.js';
import type { FromReader } from './messages.js';
import { isOutOfMemory, type Reader, type StartReader } from './reader.js';

export interface PoolSettings {
  /** Queries that run at a time; 0: none ever does. */
  readonly threads: number;
  readonly durationMs: number;
  readonly memoryMb: number;
  /** Bytes that may be written to the disk while one runs: all that they overwrite is kept as long. */
  readonly keptBytes: number;
  readonly limits: QueryLimits;
  readonly quotas: Quotas;
}

export interface PoolOptions {
  readonly settings: PoolSettings;
  /** The folder of LevelDB, spelled as it was opened. */
  readonly location: string;
  readonly start: StartReader;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** Takes lines for the log. */
  readonly log: (fields: object, message: string) => void;
  /** Something is wrong with the node, or with its data. */
  readonly onDefect: (error: Error) => void;
}

/** Queries that were ended by a limit: their time, their memory, or what they kept on the disk. */
export interface PoolEnds {
  time: number;
  memory: number;
  kept: number;
}

/** Queries that wait at most, and how long. */
const WAITING_MAX = 16;
const WAIT_MAX_MS = 60_000;

/** A reader that has had nothing to do for so long ends. */
const QUIET_MS = 60_000;

/** Time between two looks for lines of an answer, and bytes of them that are handed on in one turn at most. */
const LINES_MS = 3;
const LINES_BYTES = 256 * 1024;

/** Time between two looks at clients that left, and at limits. */
const LOOK_MS = 250;

/** A thread that has not taken a snapshot for so long, or for the longest time of a query, is ended: on a busy machine it takes seconds to start. */
const START_MAX_MS = 60_000;

/** A query looks at its time by itself; one that does not is ended so many milliseconds later. */
const GRACE_MS = 5000;

/**
 * The part of a reader's memory that things may take. What garbage there is besides must not look like too much: V8 collects it before
 * it comes half way from here to all.
 */
const THINGS_PART = 0.4;

type AnswerMessage = Extract<FromReader, { readonly kind: 'answer' }>;

interface Job {
  readonly query: SnapshotQuery;
  readonly asker: SnapshotAsker;
  readonly done: (answer: SnapshotAnswer) => void;
  readonly askedAt: number;
  takenMs: number;
  /** True if lines of its answer are on their way: an error behind them can't be told to the client. */
  hasBegun: boolean;
  /** True if the thread has made its answer, and no more lines come. */
  hasAnswer: boolean;
}

/** A thread, and what it does. */
interface Place {
  reader: Reader;
  /** Null while it is idle. */
  job: Job | null;
  /** The collection of its last job; null before it had one. */
  collection: GroupId | null;
  /** When its job began, or had the snapshot; or its last one ended. */
  since: number;
  /** Since when a client takes lines; null while none does. */
  writingSince: number | null;
  /** True from when the snapshot of its job is taken: the time of the query counts from then on. */
  hasSnapshot: boolean;
  /** Bytes that were written since its job began. */
  written: number;
  /** Lines of its answer, on their way to the client. */
  readonly lines: LineRing;
  /** Settles when the client has taken all lines of its answer. */
  writing: Promise<void>;
  /** Settles when it is gone; null as long as nobody ended it. */
  ending: Promise<void> | null;
}

/**
 * The threads that read snapshots, and the queries that wait for them. Threads are started when they are needed, and end when they are
 * quiet. One query of a user runs at a time.
 */
export class Pool implements SnapshotReaders {
  readonly ends: PoolEnds = { time: 0, memory: 0, kept: 0 };
  private readonly places = new Set<Place>();
  private waiting: Job[] = [];
  private isLooking = false;
  /** Set while the store is closed or about to be. */
  private isClosed = false;

  constructor(private readonly options: PoolOptions) {}

  /** Queries that wait, and that run. */
  get queue(): { readonly waiting: number; readonly running: number } {
    const running = [...this.places].filter(({ job }) => job !== null).length;
    return { waiting: this.waiting.length, running };
  }

  ask(query: SnapshotQuery, asker: SnapshotAsker, done: (answer: SnapshotAnswer) => void): void {
    const job = {
      query,
      asker,
      done,
      askedAt: this.options.clock.now(),
      takenMs: 0,
      hasBegun: false,
      hasAnswer: false,
    };
    if (this.options.settings.threads === 0) refuse(job, OFF);
    else if (this.isClosed) refuse(job, CLOSED);
    else if (this.waiting.length >= WAITING_MAX) refuse(job, TOO_MANY);
    else {
      this.waiting.push(job);
      this.next();
      this.look();
    }
  }

  /** Checkpoints wrote so many bytes to the disk. */
  noteWritten(bytes: number): void {
    for (const place of this.places) {
      place.written += bytes;
      if (place.job !== null && place.written > this.options.settings.keptBytes) {
        this.ends.kept += 1;
        void this.end(place, tooMuchKept(this.options.settings.keptBytes));
      }
    }
  }

  /** The state of a group was replaced, or is gone: what runs over what it was ends. */
  endGroup(group: GroupId): void {
    for (const place of this.places)
      if (place.job?.query.collection === group) void this.end(place, REPLACED);
  }

  noteDiskFull(): void {
    for (const place of this.places) if (place.job !== null) void this.end(place, DISK_FULL);
  }

  /** Ends all that runs and waits; resolves when no thread has the store open any more. No others begin until `reopen`. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const job of this.waiting.splice(0)) refuse(job, CLOSED);
    await Promise.all([...this.places].map((place) => this.end(place, CLOSED)));
  }

  /** The store is open again. */
  reopen(): void {
    this.isClosed = false;
  }

  /** Begins what may begin. */
  private next(): void {
    const { clock, settings } = this.options;
    for (;;) {
      const busy = [...this.places].flatMap(({ job }) => (job === null ? [] : [job.asker.userId]));
      const at = this.waiting.findIndex(({ asker }) => !busy.includes(asker.userId));
      const job = this.waiting[at];
      if (job === undefined) return;
      const refusal = job.asker.refusal();
      if (refusal !== null) {
        this.waiting.splice(at, 1);
        refuse(job, refusal);
        continue;
      }
      const place = this.placeFor(job, settings.threads);
      if (place === null) return;
      this.waiting.splice(at, 1);
      place.job = job;
      place.collection = job.query.collection;
      place.since = clock.now();
      place.hasSnapshot = false;
      place.written = 0;
      const query = { ...job.query, body: portable(job.query.body) };
      place.reader.send({ query, limits: settings.limits });
    }
  }

  /** A thread for a query: one that has read the same collection, any other one, or a new one; null while all are busy. */
  private placeFor({ query: { collection } }: Job, threads: number): Place | null {
    const idle = [...this.places].filter(({ job, ending }) => job === null && ending === null);
    const known = idle.find((place) => place.collection === collection) ?? idle[0];
    if (known !== undefined) return known;
    return this.places.size < threads ? this.startPlace() : null;
  }

  private startPlace(): Place {
    const { start, settings, location, clock } = this.options;
    const { limits, quotas, memoryMb } = settings;
    const lines = newLineMemory();
    const data = { location, limits, quotas, thingBytes: memoryMb * MiB * THINGS_PART, lines };
    const place: Place = {
      reader: start(data, memoryMb, {
        said: (message) => this.take(place, message),
        ended: (cause) => this.ended(place, cause),
      }),
      job: null,
      collection: null,
      since: clock.now(),
      writingSince: null,
      hasSnapshot: false,
      written: 0,
      lines: new LineRing(lines),
      writing: Promise.resolve(),
      ending: null,
    };
    this.places.add(place);
    return place;
  }

  private take(place: Place, message: FromReader): void {
    const { job, ending } = place;
    const { clock, log, onDefect } = this.options;
    if (message.kind === 'log') log(message.fields, message.message);
    else if (message.kind === 'defect')
      onDefect(message.isDamage ? new DamagedStateError(message.message) : new Error(message.message));
    else if (job === null || ending !== null) return;
    else if (message.kind === 'taken') {
      job.takenMs = clock.now() - job.askedAt;
      place.since = clock.now();
      place.hasSnapshot = true;
      const { lines } = job.asker;
      if (lines === null) return;
      lines.begin(message.index, Math.round(job.query.place.ageMs + job.takenMs));
      place.writing = this.passLines(place, job, lines);
    } else if (job.asker.lines === null) this.answered(place, job, message);
    else {
      job.hasAnswer = true;
      void place.writing.then(() => this.answered(place, job, message));
    }
  }

  private answered(place: Place, job: Job, { answer, cost }: AnswerMessage): void {
    if (place.job !== job) return;
    place.job = null;
    place.since = this.options.clock.now();
    const reply = replyIn(answer, job);
    if (!reply.ok) {
      this.countEnd(reply.error);
      this.noteCut(job, reply.error);
    }
    finish(job, reply.ok ? { ...reply, cost } : reply);
    this.next();
  }

  /** Hands lines on to the client as they come, until there are no more. */
  private async passLines(place: Place, job: Job, answer: LineAnswer): Promise<void> {
    while (place.job === job && place.ending === null) {
      const { hasAnswer } = job;
      const bytes = place.lines.next(LINES_BYTES);
      if (bytes.length > 0) await this.writeLines(place, job, answer, bytes);
      else if (hasAnswer) return;
      if (!hasAnswer) await pause(this.options.clock, LINES_MS);
    }
  }

  /** Writes some lines, and tells the thread when the client has taken them. */
  private async writeLines(place: Place, job: Job, answer: LineAnswer, bytes: Uint8Array): Promise<void> {
    const { clock } = this.options;
    const refusal = job.asker.refusal();
    if (refusal !== null) {
      void this.end(place, refusal);
      return;
    }
    job.hasBegun = true;
    const begun = clock.now();
    place.writingSince = begun;
    // An asker who is gone is noticed by the next look.
    await answer.write(bytes).catch(() => {});
    // The time that a client takes does not count.
    place.since += clock.now() - begun;
    place.writingSince = null;
    place.lines.take(bytes.length);
  }

  /** Tells the log of an error that comes behind lines: the client sees only that they end. The text may hold data. */
  private noteCut({ query, asker, hasBegun }: Job, { code }: QueryError): void {
    if (!hasBegun || asker.gone()) return;
    this.options.log(
      { event: 'lines_cut', request: query.requestId, code },
      'the lines of a snapshot read were cut off by an error',
    );
  }

  private countEnd({ code }: QueryError): void {
    if (code === ErrorCode.TIMEOUT) this.ends.time += 1;
    else if (code === ErrorCode.MAX_QUOTA) this.ends.memory += 1;
  }

  /** A thread is gone, whoever ended it. */
  private ended(place: Place, cause: Error | null): void {
    this.places.delete(place);
    const { job } = place;
    place.job = null;
    if (job !== null) {
      const isFull = isOutOfMemory(cause);
      if (isFull) this.ends.memory += 1;
      else if (cause !== null) this.options.onDefect(cause);
      const error = isFull ? tooMuchMemory(this.options.settings.memoryMb) : CLOSED;
      this.noteCut(job, error);
      refuse(job, error);
    }
    if (!this.isClosed) this.next();
  }

  /** Ends a thread with what it does; settles when it is gone. */
  private end(place: Place, error: QueryError): Promise<void> {
    const { job } = place;
    place.job = null;
    if (job !== null) {
      this.noteCut(job, error);
      refuse(job, error);
    }
    place.ending ??= place.reader.terminate();
    return place.ending;
  }

  /** Looks again and again at clients that left and at limits, as long as there is a thread. */
  private look(): void {
    if (this.isLooking) return;
    this.isLooking = true;
    this.options.clock.after(LOOK_MS, () => {
      this.isLooking = false;
      this.considerWaiting();
      for (const place of this.places) this.consider(place);
      this.next();
      if (this.places.size > 0 || this.waiting.length > 0) this.look();
    });
  }

  private considerWaiting(): void {
    const now = this.options.clock.now();
    const left = this.waiting.filter(({ asker, askedAt }) => asker.gone() || now - askedAt >= WAIT_MAX_MS);
    if (left.length === 0) return;
    this.waiting = this.waiting.filter((job) => !left.includes(job));
    for (const job of left) refuse(job, TOO_LATE);
  }

  private consider(place: Place): void {
    const { settings, clock } = this.options;
    const ms = (place.writingSince ?? clock.now()) - place.since;
    if (place.ending !== null) return;
    const refusal = place.job?.asker.refusal() ?? null;
    if (place.job === null) {
      if (ms >= QUIET_MS) void this.end(place, CLOSED);
    } else if (place.job.asker.gone()) void this.end(place, GONE);
    else if (refusal !== null) void this.end(place, refusal);
    else if (!place.hasSnapshot) {
      if (ms >= Math.max(START_MAX_MS, settings.durationMs)) void this.end(place, TOO_SLOW);
    } else if (ms >= settings.durationMs + GRACE_MS) {
      this.ends.time += 1;
      void this.end(place, tooLong(settings.durationMs));
    }
  }
}

function finish({ done, takenMs }: Job, reply: Reply): void {
  done({ reply, takenMs });
}

function refuse(job: Job, error: QueryError): void {
  finish(job, failed(error));
}

/** The reply in the answer of a thread. */
function replyIn(answer: Uint8Array, { asker }: Job): Reply {
  const decoded = decodeAnswer(answer, (text) => asker.logs?.log(text));
  if (decoded.kind !== 'reply') throw new Error('a reader gives replies');
  return decoded.reply;
}

/** The same program without views of larger buffers: another thread would get a copy of the whole buffer. */
function portable(body: ProgramBody): ProgramBody {
  if (body.type === 'query') return { ...body, vars: portableValues(body.vars) };
  return { ...body, args: portableValues(body.args) };
}

function portableValues(values: WireValues | null): WireValues | null {
  if (values === null) return null;
  const { format, data, start = 0 } = values;
  return typeof data === 'string' ? { format, data: data.slice(start) } : { format, data: Buffer.from(data) };
}

const MiB = 1024 * 1024;

const OFF = operationError('this node reads no snapshots (snapshot_threads = 0)');
const CLOSED = nodeError('the node reads no snapshots at the moment: try again');
const REPLACED = nodeError('the state of the collection was replaced while the snapshot was read: try again');
const DISK_FULL = nodeError('the disk is full, and a snapshot keeps what is overwritten: try again later');
const TOO_MANY = nodeError(`${WAITING_MAX} snapshot reads wait, the most that may: try again later`);
const TOO_LATE = nodeError('other snapshot reads took too long to leave room for this one: try again later');
const TOO_SLOW = nodeError('no snapshot could be taken for a long time: try again later');
const GONE = nodeError('nobody waits for the answer any more');

function tooLong(ms: number): QueryError {
  return timeoutError(`the query ran longer than ${ms} ms (snapshot_duration_limit_ms) and was ended`);
}

function tooMuchMemory(mb: number): QueryError {
  return quotaError(`the query used more than ${mb} MB (snapshot_memory_limit_mb) and was ended`);
}

function tooMuchKept(bytes: number): QueryError {
  return quotaError(
    `more than ${bytes / MiB} MB were written while the snapshot was read, all of which it keeps on the disk (snapshot_kept_mb): it was ended`,
  );
}
