/** One module on this node: when its process is started, configured, and started again, and what becomes of requests meanwhile. */

import {
  ErrorCode,
  type ModuleAnswer,
  type ModuleAsk,
  type ModuleInfo,
  type ModuleLook,
  type ModuleManifest,
  UserShares,
} from '@althing/engine';
import type { Logger } from '../telemetry/logger.js';
import { removeCode, writeCode } from './deployed.js';
import { failure, ModuleProcess, type ModuleProcessOptions, UNSENT_BYTES_MAX } from './module-process.js';
import { findProgram, NOT_INSTALLED, reasonOf } from './program.js';

export interface SupervisorOptions
  extends Pick<ModuleProcessOptions, 'answerBytesMax' | 'clock' | 'guardian' | 'termMs'> {
  readonly mode: 'off' | 'local' | 'deploy';
  readonly modulesPath: string;
  readonly python: string;
  /** Milliseconds after which a request without an answer fails; 0 for never. */
  readonly timeoutMs: number;
  readonly log: Logger;
  /** Milliseconds before the first start after an unexpected end; doubled with each further one. */
  readonly pauseMs: number;
}

/** A module with its deployed code. */
export interface Defined {
  readonly module: ModuleInfo;
  readonly code: readonly Uint8Array[] | null;
}

/** The condition of a module, in one word, for the metrics. */
export type Condition = 'running' | 'starting' | 'failed' | 'off';

/** Time that a module has to take its configuration, in milliseconds. */
const CONFIGURE_MS = 30_000;

/** Unexpected ends in a row after which it is not started again. */
const RESTARTS_MAX = 10;

/** Milliseconds before a start after an unexpected end, at most. */
const PAUSE_MAX_MS = 30_000;

/** Time of running after which earlier ends count no more, in milliseconds. */
const STEADY_MS = 300_000;

const TURNED_OFF = 'modules are turned off';
const NOT_LOADED = 'module not loaded';
const STOPPING = 'stopping module...';

/** A request that waits until the module can take it. */
interface Held {
  readonly send: () => void;
  readonly fail: (why: string) => void;
}

type Phase =
  | 'stopped'
  | 'starting'
  | 'configuring'
  | 'running'
  | 'refused'
  | 'pausing'
  | 'stopping'
  | 'failed';

export class ModuleSupervisor {
  private phase: Phase = 'stopped';
  /** Why it can't be called, in words. */
  private why = NOT_LOADED;
  private file: string | null = null;
  private manifest: ModuleManifest | null = null;
  private restarts = 0;
  private process: ModuleProcess | null = null;
  private startedAt = 0;
  private nextId = 0;
  /** Ends waiting: for a configuration to be taken, or for the next start. */
  private timer: ReturnType<typeof setTimeout> | null = null;
  private held: Held[] = [];
  private heldBytes = new UserShares(UNSENT_BYTES_MAX);
  private isOver = false;
  /** The work on files and processes, one step after another. */
  private work: Promise<void> = Promise.resolve();
  private wanted = 0;
  /** Called when the present process is gone. */
  private gone: (() => void) | null = null;

  constructor(
    private readonly options: SupervisorOptions,
    private defined: Defined,
  ) {}

  get name(): string {
    return this.defined.module.name;
  }

  get condition(): Condition {
    if (this.options.mode === 'off') return 'off';
    if (this.phase === 'running') return 'running';
    return this.phase === 'failed' || this.phase === 'refused' ? 'failed' : 'starting';
  }

  /** True if nothing is to be waited for: it can be called, or will not be. */
  get isSettled(): boolean {
    return this.condition !== 'starting';
  }

  look(): ModuleLook {
    const { file, manifest, restarts } = this;
    const runs = this.phase === 'running' || this.phase === 'configuring';
    return { status: runs ? 'running' : this.why, file, manifest, tasks: this.tasks, restarts };
  }

  /** Starts it on purpose: anew when it runs. */
  start(): void {
    this.restarts = 0;
    this.renew();
  }

  /** Another definition is in force. */
  update(defined: Defined): void {
    const { module: old } = this.defined;
    const { module } = defined;
    this.defined = defined;
    if (module.starts !== old.starts) this.start();
    else if (module.confs === old.confs) return;
    else if (this.process === null || this.phase === 'stopping') this.start();
    else if (module.conf.length > 0) this.process.configure(module.conf);
  }

  /** Sends a request, or lets it wait while the module is about to be ready for it: its process may have to end before that. */
  ask(ask: ModuleAsk, answer: (answer: ModuleAnswer) => void): void {
    const { phase } = this;
    if (phase === 'refused' || phase === 'pausing' || phase === 'failed')
      answer(failure(ErrorCode.OPERATION, `the module '${this.name}' does not run: ${this.look().status}`));
    else this.take(ask, answer);
  }

  /** Fails all requests. */
  cancel(why: string): void {
    this.process?.cancel(why);
    this.release((held) => held.fail(why));
  }

  /** Ends it for good; fulfilled when nothing of it runs. */
  end(why: string, removesCode: boolean): Promise<void> {
    this.isOver = true;
    this.cancel(why);
    const { module, code } = this.defined;
    this.renew();
    if (removesCode && code !== null && this.options.mode === 'deploy') {
      this.work = this.work.then(() =>
        removeCode(this.options.modulesPath, module).catch((error) => this.tell(error)),
      );
    }
    return this.work;
  }

  private get tasks(): number {
    return (this.process?.tasks ?? 0) + this.held.length;
  }

  private take(ask: ModuleAsk, given: (answer: ModuleAnswer) => void): void {
    let timer: ReturnType<typeof setTimeout> | null = null;
    let takeBack = (): void => {};
    let isDone = false;
    const answer = (told: ModuleAnswer): void => {
      if (isDone) return;
      isDone = true;
      if (timer !== null) clearTimeout(timer);
      given(told);
    };
    const { timeoutMs } = this.options;
    if (timeoutMs > 0) {
      timer = setTimeout(() => {
        takeBack();
        answer(
          failure(ErrorCode.CANCELLED, `the module '${this.name}' did not answer within module_timeout`),
        );
      }, timeoutMs);
    }
    if (this.phase === 'running' && this.process !== null) {
      takeBack = this.process.ask(ask, answer);
      return;
    }
    const { user, data } = ask;
    if (!this.heldBytes.admits(user, data.length)) {
      answer(failure(ErrorCode.MAX_QUOTA, `too much waits for the module '${this.name}'`));
      return;
    }
    this.heldBytes.add(user, data.length);
    this.held.push({
      send: () => {
        if (!isDone && this.process !== null) takeBack = this.process.ask(ask, answer);
      },
      fail: (why) => answer(failure(this.isOver ? ErrorCode.CANCELLED : ErrorCode.OPERATION, why)),
    });
  }

  /** Brings the process to what is wanted now. */
  private renew(): void {
    this.wanted += 1;
    const wanted = this.wanted;
    this.clearTimer();
    this.phase = this.process === null ? 'starting' : 'stopping';
    this.why = this.process === null ? NOT_LOADED : STOPPING;
    this.work = this.work
      .then(() => this.stopProcess())
      .then(() => this.startProcess(() => !this.isOver && wanted === this.wanted))
      .catch((error) => this.fail(reasonOf(error)));
  }

  private stopProcess(): Promise<void> {
    const { process } = this;
    if (process === null) return Promise.resolve();
    return new Promise((resolve) => {
      this.gone = resolve;
      process.stop();
    });
  }

  /** @param isWanted false once something else is wanted: what starts now would only be stopped, with the requests that it got */
  private async startProcess(isWanted: () => boolean): Promise<void> {
    if (!isWanted()) return;
    const { mode, modulesPath, python } = this.options;
    const { module, code } = this.defined;
    this.phase = 'starting';
    this.why = NOT_LOADED;
    const isDeployed = code !== null;
    if (isDeployed && mode === 'deploy') await writeCode(modulesPath, module, code);
    const { file, manifest, program } = await findProgram(modulesPath, module, python);
    if (!isWanted()) return;
    this.file = file;
    this.manifest = manifest;
    if (mode === 'off') {
      this.fail(
        typeof program === 'string' && program === NOT_INSTALLED && !isDeployed ? program : TURNED_OFF,
      );
    } else if (isDeployed && mode !== 'deploy') {
      this.fail('its code was deployed, and this node runs none that is: enable_modules must be deploy');
    } else if (typeof program === 'string') this.fail(program);
    else this.spawn(program);
  }

  private spawn(program: {
    readonly command: string;
    readonly args: readonly string[];
    readonly folder: string;
  }): void {
    const { log, answerBytesMax, clock, guardian, termMs } = this.options;
    const process: ModuleProcess = new ModuleProcess({
      program,
      name: () => this.name,
      answerBytesMax,
      firstId: this.nextId,
      clock,
      guardian,
      termMs,
      started: () => this.started(),
      configured: (ok) => this.configured(ok),
      line: (text) => log.info({ event: 'module_log', module: this.name, text }, 'a module said'),
      violated: (what, bytes) =>
        log.error(
          { event: 'module_violation', module: this.name, what, bytes },
          'a module broke its protocol, and is ended',
        ),
      ended: (reason, isUnfit) => this.ended(process, reason, isUnfit),
    });
    this.process = process;
  }

  private started(): void {
    const { module } = this.defined;
    this.startedAt = this.options.clock.now();
    if (this.phase !== 'starting' || this.process === null) return;
    this.options.log.info({ event: 'module_started', module: this.name }, 'a module was started');
    if (module.conf.length === 0) {
      this.ready();
      return;
    }
    this.phase = 'configuring';
    this.process.configure(module.conf);
    this.timer = setTimeout(() => this.refuse('configuration error: it was not answered'), CONFIGURE_MS);
  }

  private configured(ok: boolean): void {
    if (this.phase !== 'configuring' && this.phase !== 'running' && this.phase !== 'refused') return;
    this.clearTimer();
    if (ok) this.ready();
    else this.refuse('configuration error: the module refused it');
  }

  private ready(): void {
    this.phase = 'running';
    this.release((held) => held.send());
  }

  private refuse(why: string): void {
    this.phase = 'refused';
    this.why = why;
    this.options.log.warn({ event: 'module_failed', module: this.name, why }, 'a module is not configured');
    this.release((held) => held.fail(`the module '${this.name}' does not run: ${why}`));
  }

  private ended(process: ModuleProcess, reason: string, isUnfit: boolean): void {
    this.nextId = process.next;
    this.process = null;
    this.clearTimer();
    process.cancel(`the module '${this.name}' ended before it answered: ${reason}`);
    const { gone } = this;
    this.gone = null;
    if (gone !== null) {
      gone();
      return;
    }
    if (this.isOver) return;
    if (isUnfit) {
      this.fail(reason);
      return;
    }
    if (this.startedAt !== 0 && this.options.clock.now() - this.startedAt >= STEADY_MS) this.restarts = 0;
    this.restarts += 1;
    this.startedAt = 0;
    this.options.log.warn(
      { event: 'module_ended', module: this.name, reason, restarts: this.restarts },
      'a module ended',
    );
    if (this.restarts > RESTARTS_MAX) {
      this.fail(`too many restarts: ${reason}`);
      return;
    }
    this.phase = 'pausing';
    this.why = `${NOT_LOADED}: ${reason}`;
    this.release((held) => held.fail(`the module '${this.name}' does not run: ${reason}`));
    const pause = Math.min(PAUSE_MAX_MS, this.options.pauseMs * 2 ** (this.restarts - 1));
    this.timer = setTimeout(() => this.renew(), pause);
  }

  private fail(why: string): void {
    this.phase = 'failed';
    this.why = why;
    if (this.options.mode !== 'off') {
      this.options.log.warn({ event: 'module_failed', module: this.name, why }, 'a module does not run');
    }
    this.release((held) => held.fail(`the module '${this.name}' does not run: ${why}`));
  }

  private release(each: (held: Held) => void): void {
    const { held } = this;
    this.held = [];
    this.heldBytes = new UserShares(UNSENT_BYTES_MAX);
    for (const one of held) each(one);
  }

  private clearTimer(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }

  private tell(error: unknown): void {
    this.options.log.warn(
      { event: 'module_failed', module: this.name, why: reasonOf(error) },
      'the code of a module could not be removed',
    );
  }
}
