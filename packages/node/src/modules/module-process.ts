/** One process of a module: its pipes, the requests that it has, and its end. */

import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  badDataError,
  ErrorCode,
  List,
  type ModuleAnswer,
  type ModuleAsk,
  MsgpackReader,
  QueryError,
  ShapeTree,
  UserShares,
} from '@althing/engine';
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/error-text.js';
import { ErrorLines } from './error-lines.js';
import { type Guardian, signalGroup } from './guardian.js';
import { type Answer, OpenRequests } from './open-requests.js';
import { encodePackage, type Package, PackageReader, PackageType } from './package.js';
import { type Program, reasonOf } from './program.js';
import { startProgram } from './start-program.js';
import { endStrays, MARK_VARIABLE } from './strays.js';

export interface ModuleProcessOptions {
  readonly program: Program;
  /** Name of the module, for messages. */
  readonly name: () => string;
  /** Bytes of an answer at most. */
  readonly answerBytesMax: number;
  /** Id of the first request: they go on over the life of the module. */
  readonly firstId: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly guardian: Guardian;
  /** Time for it to end by itself, in milliseconds. */
  readonly termMs: number;
  readonly started: () => void;
  /** Called when a configuration was taken, or not. */
  readonly configured: (ok: boolean) => void;
  /** Called with each line of its standard error that is not left out. */
  readonly line: (text: string) => void;
  /** Called when it breaks the protocol, with the first bytes of that in hexadecimal digits. */
  readonly violated: (what: string, bytes: string) => void;
  /**
   * Called once, when nothing is left of it. `reason`: why it could not be started, or how it ended; `isUnfit`: the next start
   * would end in the same way.
   */
  readonly ended: (reason: string, isUnfit: boolean) => void;
}

/** Bytes that wait to be read by a process, at most. */
export const UNSENT_BYTES_MAX = 64 * 1024 * 1024;

/** Packages that a process may send in a second without being asked. */
const UNASKED_MAX = 1000;
const UNASKED_BYTES_MAX = 64 * 1024 * 1024;

/** In place of the id of a user, for the node itself. */
const NOBODY = 0;

/** Variables of the node that a module sees. */
const VARIABLES = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR'];

export class ModuleProcess {
  private readonly child: ChildProcess;
  /** In the environment of all its processes. */
  private readonly mark: string;
  private readonly reader: PackageReader;
  private readonly errors: ErrorLines;
  private readonly requests: OpenRequests;
  /** Bytes that it has not read yet. */
  private readonly unsent = new UserShares(UNSENT_BYTES_MAX);
  private hasEnded = false;
  private isStopping = false;
  private killTimer: ReturnType<typeof setTimeout> | null = null;
  /** Decides whether it closed a pipe, or is gone. */
  private closeTimer: ReturnType<typeof setTimeout> | null = null;
  private saidTimer: ReturnType<typeof setTimeout> | null = null;
  private saidBytes = 0;
  private unaskedSince = 0;
  private unasked = 0;
  private unaskedBytes = 0;

  constructor(private readonly options: ModuleProcessOptions) {
    this.mark = options.guardian.marks + randomUUID();
    this.requests = new OpenRequests(options.firstId);
    this.reader = new PackageReader(options.answerBytesMax);
    this.errors = new ErrorLines(options.line, options.clock);
    const { command, args, folder } = options.program;
    this.child = startProgram(command, args, {
      cwd: folder,
      env: {
        ...Object.fromEntries(
          VARIABLES.flatMap((name) => {
            const value = process.env[name];
            return value === undefined ? [] : [[name, value]];
          }),
        ),
        [MARK_VARIABLE]: this.mark,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own, which ends with it.
      detached: true,
      shell: false,
    });
    this.listen();
  }

  /** Requests in flight. */
  get tasks(): number {
    return this.requests.size;
  }

  /** Id of the next request. */
  get next(): number {
    return this.requests.next;
  }

  configure(conf: Uint8Array): void {
    this.write(NOBODY, encodePackage(PackageType.CONF, 0, conf));
  }

  /**
   * Sends a request.
   *
   * @param answer called once
   * @returns takes the request back: a later answer to it is dropped
   */
  ask({ user, data }: Pick<ModuleAsk, 'user' | 'data'>, answer: Answer): () => void {
    if (!this.unsent.admits(user, data.length)) {
      answer(
        failure(
          ErrorCode.MAX_QUOTA,
          `the module '${this.options.name()}' does not read its requests: too much waits for it`,
        ),
      );
      return () => {};
    }
    if (this.requests.isFull) {
      answer(
        failure(
          ErrorCode.MAX_QUOTA,
          `the module '${this.options.name()}' has ${this.requests.size} requests already`,
        ),
      );
      return () => {};
    }
    const id = this.requests.add(answer);
    this.write(user, encodePackage(PackageType.REQ, id, data));
    return () => this.requests.takeBack(id, answer);
  }

  /** Asks it to end, and ends it when it does not. */
  stop(): void {
    if (this.isStopping || this.hasEnded) return;
    this.isStopping = true;
    this.child.stdin?.end();
    this.signal('SIGTERM');
    this.killTimer = setTimeout(() => this.signal('SIGKILL'), this.options.termMs);
  }

  /** Fails all requests. */
  cancel(why: string): void {
    for (const answer of this.requests.clear()) answer(failure(ErrorCode.CANCELLED, why));
  }

  private listen(): void {
    const { child } = this;
    const { pid } = child;
    if (pid !== undefined) this.options.guardian.guard(pid, this.mark);
    child.on('spawn', () => this.options.started());
    child.on('error', (error) => {
      const isUnfit = isMissing(error);
      const { command } = this.options.program;
      this.end(isUnfit ? `${command} can not be started: ${reasonOf(error)}` : reasonOf(error), isUnfit);
    });
    child.on('exit', (code, signal) => {
      this.end(signal === null ? `it ended with status ${code}` : `it was ended by ${signal}`);
    });
    child.stdin?.on('error', () => this.closed('input'));
    child.stdout?.on('error', () => {});
    child.stderr?.on('error', () => {});
    child.stdout?.on('data', (bytes: Buffer) => this.receive(bytes));
    child.stdout?.on('end', () => this.closed('output'));
    child.stderr?.on('data', (bytes: Buffer) => {
      this.errors.take(bytes);
      this.slowDown(bytes.length);
    });
  }

  /** One of its pipes has an end: with the process, which is told a moment later, or before. */
  private closed(pipe: 'input' | 'output'): void {
    this.closeTimer ??= setTimeout(() => {
      if (!this.isStopping) this.violate(`it closed its standard ${pipe}`, Buffer.alloc(0));
    }, CLOSED_MS);
  }

  /** Reads no more of what it says than so much in a second: it waits meanwhile. */
  private slowDown(bytes: number): void {
    this.saidBytes += bytes;
    if (this.saidBytes < SAID_BYTES_MAX) return;
    this.saidBytes = 0;
    this.child.stderr?.pause();
    this.saidTimer = setTimeout(() => this.child.stderr?.resume(), SAID_PAUSE_MS);
  }

  private write(userId: number, bytes: Buffer): void {
    const { stdin } = this.child;
    if (stdin?.writable !== true) return;
    this.unsent.add(userId, bytes.length);
    stdin.write(bytes, () => this.unsent.add(userId, -bytes.length));
  }

  private receive(bytes: Buffer): void {
    if (this.hasEnded || this.isViolated) return;
    try {
      this.reader.take(bytes, (message) => {
        if (!this.isViolated) this.handle(message, bytes);
      });
    } catch (error) {
      this.violate(messageOf(error), bytes);
    }
  }

  private isViolated = false;

  private violate(what: string, bytes: Buffer): void {
    this.isViolated = true;
    this.options.violated(what, bytes.subarray(0, SHOWN_BYTES).toString('hex'));
    // A process that went wrong has no say in its end.
    this.signal('SIGKILL');
  }

  private handle({ id, type, data }: Package, bytes: Buffer): void {
    if (type === PackageType.CONF_OK || type === PackageType.CONF_ERR) {
      this.noteUnasked(data, bytes);
      this.options.configured(type === PackageType.CONF_OK);
      return;
    }
    const answer = this.requests.take(id);
    if (answer === 'late') return;
    if (answer === null) {
      this.noteUnasked(data, bytes);
      return;
    }
    if (type === PackageType.RES) answer({ ok: true, data });
    else if (type === PackageType.ERR) answer({ ok: false, error: errorOf(data) });
    else
      answer(failure(ErrorCode.BAD_DATA, `the module answered with a package of the unknown type ${type}`));
  }

  /** A package that answers nothing is dropped, unless there are too many. */
  private noteUnasked({ length }: Buffer, bytes: Buffer): void {
    const now = this.options.clock.now();
    if (now - this.unaskedSince > 1000) {
      this.unaskedSince = now;
      this.unasked = 0;
      this.unaskedBytes = 0;
    }
    this.unasked += 1;
    this.unaskedBytes += length;
    if (this.unasked > UNASKED_MAX || this.unaskedBytes > UNASKED_BYTES_MAX)
      this.violate('it sends what nobody asked for', bytes);
  }

  /** Signals the whole group. */
  private signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    const { pid } = this.child;
    if (pid !== undefined) signalGroup(pid, signal);
  }

  private end(reason: string, isUnfit = false): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    for (const timer of [this.killTimer, this.closeTimer, this.saidTimer])
      if (timer !== null) clearTimeout(timer);
    // Its own child processes do not outlive it.
    this.signal('SIGKILL');
    const { pid } = this.child;
    // Not before those are gone that left the group: until then they are the guardian's, too.
    if (pid !== undefined) void endStrays(this.mark).then(() => this.options.guardian.release(pid));
    for (const stream of [this.child.stdin, this.child.stdout, this.child.stderr]) stream?.destroy();
    this.errors.end();
    this.options.ended(reason, isUnfit);
  }
}

/** Time that a process may live on without one of its pipes, in milliseconds. */
const CLOSED_MS = 100;

/** Bytes on standard error after which it is read on only later, and how much later, in milliseconds. */
const SAID_BYTES_MAX = 1024 * 1024;
const SAID_PAUSE_MS = 1000;

/** True if what is to be started is not there, or can't be. */
function isMissing(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  return code === 'ENOENT' || code === 'EACCES' || code === 'ENOEXEC' || code === 'EPERM';
}

/** Bytes of what is no package that are shown. */
const SHOWN_BYTES = 32;

export function failure(code: number, message: string): ModuleAnswer {
  return { ok: false, error: new QueryError(code, message) };
}

/** The error of a module: an array of its code and its text. */
function errorOf(data: Buffer): QueryError {
  try {
    const reader = new MsgpackReader(data, new ShapeTree(), 2);
    const value = reader.value();
    reader.end();
    if (value instanceof List && value.length === 2) {
      const [code, text] = value.items;
      const isKnown = typeof code === 'number' && code >= CODE_MIN && code <= ErrorCode.ASSERT;
      if (isKnown && typeof text === 'string' && Buffer.byteLength(text) <= TEXT_BYTES_MAX) {
        return new QueryError(code, text);
      }
    }
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
  }
  return badDataError('the module answered with an error that is no code and text');
}

/** Codes of errors are between this and that of assert_err. */
const CODE_MIN = -127;

const TEXT_BYTES_MAX = 16_383;
