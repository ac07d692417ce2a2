import { LevelError } from '@althing/engine';
import { describe } from '../../base/error-text.js';
import { exitCodeOf } from '../../base/exit-code.js';
import { isDamage } from '../../base/failures.js';
import type { Identity } from '../../base/identity.js';
import { Phase, type SharedStatus } from '../../between/shared-status.js';
import { type Config, ExitCode } from '../../config/index.js';
import { RemovedError } from '../../peers/formation/formation.js';
import type { Logger } from '../../telemetry/logger.js';
import { DivergedError, noteDiverged } from '../start/diverged.js';
import { StartError } from '../start/running-node.js';
import { noteLeft } from '../start/set-aside.js';

export interface EndingOptions {
  readonly config: Pick<Config, 'rejoinWhenRemoved'>;
  readonly identity: Identity;
  /** The data folder. */
  readonly path: string;
  readonly status: SharedStatus;
  readonly log: Logger;
}

/**
 * The end of a node, from whatever side it comes: the first reason counts, and everything that runs is told.
 */
export class Ending {
  /** Settles with the exit code of the process. */
  readonly closed: Promise<number>;
  private readonly controller = new AbortController();
  private reason: Error | null = null;
  private readonly close: (exitCode: number) => void;

  constructor(private readonly options: EndingOptions) {
    let close = (_exitCode: number): void => {};
    this.closed = new Promise((resolve) => {
      close = resolve;
    });
    this.close = close;
  }

  get hasEnded(): boolean {
    return this.controller.signal.aborted;
  }

  /** The problem of a start that is under way; null as long as it may go on. */
  get failure(): Error | null {
    return this.reason ?? (this.hasEnded ? new Error('the node ended while it started') : null);
  }

  /** Says what is to be stopped at the end, however it comes. */
  stops(work: () => void): void {
    this.controller.signal.addEventListener('abort', work);
  }

  /** Ends the node in order. */
  end(exitCode: number): void {
    if (this.hasEnded) return;
    this.options.status.phase = Phase.STOPPED;
    this.controller.abort();
    this.close(exitCode);
  }

  giveUp(): void {
    this.controller.abort();
  }

  /** Ends the node because it can't go on. */
  fail(
    message: string,
    error: unknown,
    exitCode = isDamage(error) ? ExitCode.DataDamaged : exitCodeOf(error),
  ): void {
    if (this.hasEnded) return;
    const text = error instanceof LevelError ? error.message : message;
    this.options.log.fatal({ event: 'failed', error: error === null ? undefined : describe(error) }, text);
    this.reason = new StartError(text, exitCode);
    this.end(exitCode);
  }

  /** Ends the node because the cluster has removed it. */
  removed(): void {
    if (this.hasEnded) return;
    const { config, identity, path, status, log } = this.options;
    const error = new RemovedError(identity.nodeId);
    const wasMember = status.isCaughtUp;
    log.fatal({ event: 'removed' }, error.message);
    this.reason = error;
    if (wasMember) this.note(() => noteLeft(path, Date.now()));
    this.end(config.rejoinWhenRemoved && !wasMember ? ExitCode.Fatal : error.exitCode);
  }

  /** Notes something in the data folder. That a full disk has no room for it alters nothing about the end. */
  private note(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.options.log.error(
        { event: 'not_noted', error: describe(error) },
        'the reason of the end could not be noted in the data folder',
      );
    }
  }

  /**
   * Ends the node because its state of a group is not that of the majority.
   *
   * @param what the state of what, for people
   */
  diverged(what: string, place: { readonly group: number; readonly index: number }): void {
    if (this.hasEnded) return;
    const { path, log } = this.options;
    const error = new DivergedError(what, path);
    log.fatal({ event: 'diverged', ...place }, error.message);
    this.reason = error;
    this.note(() => noteDiverged(path, what));
    this.end(error.exitCode);
  }
}
