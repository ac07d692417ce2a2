/** The modules of this node: follows what is committed of their definitions, and takes requests to them. */

import { join } from 'node:path';
import {
  ErrorCode,
  type ModuleAnswer,
  type ModuleAsk,
  type ModuleLook,
  type ModulesView,
  type RootGroup,
} from '@althing/engine';
import { type Clock, pause } from '../base/clock.js';
import type { Config } from '../config/index.js';
import type { Logger } from '../telemetry/logger.js';
import { removeLeftovers } from './deployed.js';
import { Guardian } from './guardian.js';
import { failure } from './module-process.js';
import { NOT_INSTALLED, reasonOf } from './program.js';
import { endStrays, marksOf } from './strays.js';
import { type Condition, type Defined, ModuleSupervisor } from './supervisor.js';

export interface ModuleManagerOptions {
  readonly config: Pick<
    Config,
    'enableModules' | 'storagePath' | 'pythonInterpreter' | 'moduleTimeout' | 'moduleAnswerLimitMb'
  > & { readonly modulesPath?: string | undefined };
  readonly root: () => RootGroup;
  /** Calls back when what the root state holds now is committed: with true, or with false when that is not known. */
  readonly whenCommitted: (callback: (isCommitted: boolean) => void) => void;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** Counts requests when they are answered. */
  readonly counted?: (outcome: ModuleOutcome) => void;
  /** Overrides what is usual, for tests: see `SupervisorOptions`. */
  readonly pauseMs?: number;
  readonly termMs?: number;
}

export type ModuleOutcome = 'ok' | 'error' | 'cancelled' | 'refused';

const MiB = 1024 * 1024;

export class ModuleManager implements ModulesView {
  private readonly supervisors = new Map<number, ModuleSupervisor>();
  private readonly guardian = new Guardian();
  /** Version of the definitions that were taken up last. */
  private seen = -1;
  private isLooking = false;
  private isOver = false;
  /** True if the state of this node is complete, and modules may be started by it. */
  private isOpen = false;
  /** Ends that are under way. */
  private readonly ends = new Set<Promise<void>>();

  constructor(private readonly options: ModuleManagerOptions) {
    const { config, log } = options;
    if (config.enableModules !== 'off' && process.getuid?.() === 0) {
      log.warn(
        { event: 'modules_as_root' },
        'modules run as root, which this node runs as: run it as another user',
      );
    }
  }

  /** Folder with the folders of all modules. */
  get path(): string {
    const { modulesPath, storagePath } = this.options.config;
    return modulesPath ?? join(storagePath, 'modules');
  }

  get deploys(): boolean {
    return this.options.config.enableModules === 'deploy';
  }

  /** The number of modules in each condition. */
  get conditions(): Readonly<Record<Condition, number>> {
    const counts = { running: 0, starting: 0, failed: 0, off: 0 };
    for (const { condition } of this.supervisors.values()) counts[condition] += 1;
    return counts;
  }

  /** True if all that are defined can be called, or will not be. */
  get isSettled(): boolean {
    return (
      this.seen === this.options.root().modules.version &&
      [...this.supervisors.values()].every((supervisor) => supervisor.isSettled)
    );
  }

  /**
   * Begins to start modules: the state is as it was when the node ended.
   *
   * @param waitMs how long to wait until all are configured, or can not be started, in milliseconds
   */
  async open(waitMs: number): Promise<void> {
    const { modules } = this.options.root();
    await removeLeftovers(this.path, (id) => modules.byId.has(id)).catch((error) => this.tell(error));
    this.guardian.marks = await marksOf(this.options.config.storagePath);
    // Processes of this node's life before, where it was killed together with what guards them.
    await endStrays(this.guardian.marks);
    this.isOpen = true;
    this.consider();
    const end = this.options.clock.now() + waitMs;
    while (this.options.clock.now() < end && !this.isSettled && !this.isOver)
      await pause(this.options.clock, SETTLING_LOOK_MS);
  }

  /** Takes up definitions that changed, once they are committed. To be called often. */
  consider(): void {
    const { modules } = this.options.root();
    const { version } = modules;
    if (!this.isOpen || version === this.seen || this.isLooking || this.isOver) return;
    const defined = [...modules.byId.values()].map(
      (module): Defined => ({ module, code: modules.codeOf(module.id) }),
    );
    this.isLooking = true;
    this.options.whenCommitted((isCommitted) => {
      this.isLooking = false;
      if (!isCommitted || this.isOver) return;
      this.seen = version;
      this.follow(defined);
    });
  }

  look(id: number): ModuleLook {
    const status = this.options.root().modules.byId.has(id) ? 'module not loaded' : NOT_INSTALLED;
    return this.supervisors.get(id)?.look() ?? { status, file: null, manifest: null, tasks: 0, restarts: 0 };
  }

  restart(id: number): void {
    this.supervisors.get(id)?.start();
  }

  ask(ask: ModuleAsk, given: (answer: ModuleAnswer) => void): void {
    this.consider();
    const answer = (told: ModuleAnswer): void => {
      this.options.counted?.(outcomeOf(told));
      given(told);
    };
    const { module } = ask;
    const supervisor = this.supervisors.get(module);
    if (this.isOver) answer(failure(ErrorCode.CANCELLED, ENDING));
    else if (supervisor !== undefined) supervisor.ask(ask, answer);
    else if (this.options.root().modules.byId.has(module)) {
      answer(failure(ErrorCode.OPERATION, 'the module is not loaded yet'));
    } else answer(failure(ErrorCode.CANCELLED, DELETED));
  }

  /** Fails all requests, now and from now on: the node is about to stop. */
  cancel(): void {
    this.isOver = true;
    for (const supervisor of this.supervisors.values()) supervisor.cancel(ENDING);
  }

  /** Ends all processes; fulfilled when none is left. */
  async stop(): Promise<void> {
    this.isOver = true;
    for (const supervisor of this.supervisors.values()) this.endOf(supervisor.end(ENDING, false));
    this.supervisors.clear();
    await Promise.all(this.ends);
  }

  private follow(all: readonly Defined[]): void {
    const ids = new Set(all.map(({ module }) => module.id));
    for (const [id, supervisor] of this.supervisors) {
      if (ids.has(id)) continue;
      this.supervisors.delete(id);
      this.endOf(supervisor.end(DELETED, true));
    }
    for (const defined of all) {
      const supervisor = this.supervisors.get(defined.module.id);
      if (supervisor === undefined) this.begin(defined);
      else supervisor.update(defined);
    }
  }

  private begin(defined: Defined): void {
    const { config, log, clock, pauseMs = PAUSE_MS, termMs = TERM_MS } = this.options;
    const supervisor = new ModuleSupervisor(
      {
        mode: config.enableModules,
        modulesPath: this.path,
        python: config.pythonInterpreter,
        answerBytesMax: config.moduleAnswerLimitMb * MiB,
        timeoutMs: config.moduleTimeout * 1000,
        log,
        clock,
        guardian: this.guardian,
        pauseMs,
        termMs,
      },
      defined,
    );
    this.supervisors.set(defined.module.id, supervisor);
    supervisor.start();
  }

  private tell(error: unknown): void {
    const why = reasonOf(error);
    this.options.log.warn({ event: 'module_failed', why }, 'the code of a module could not be removed');
  }

  private endOf(end: Promise<void>): void {
    this.ends.add(end);
    end.finally(() => this.ends.delete(end));
  }
}

/** Milliseconds before the first start after an unexpected end. */
const PAUSE_MS = 100;

/** Time for a process to end by itself, in milliseconds. */
const TERM_MS = 5000;

/** Time between two looks whether modules are configured, in milliseconds. */
const SETTLING_LOOK_MS = 50;

const ENDING = 'the node is about to stop';
const DELETED = 'the module was deleted';

function outcomeOf(answer: ModuleAnswer): ModuleOutcome {
  if (answer.ok) return 'ok';
  const { code } = answer.error;
  if (code === ErrorCode.CANCELLED) return 'cancelled';
  return code === ErrorCode.OPERATION || code === ErrorCode.MAX_QUOTA ? 'refused' : 'error';
}
