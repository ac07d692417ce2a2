/**
 * Decides if a node that is told to stop leaves its cluster for good, and does it. A stop is a restart unless
 * the operator said otherwise beforehand, in a file that is read at that moment: what a running pod has in
 * its environment can't be changed.
 */

import { readFileSync } from 'node:fs';
import { backgroundClock, pause } from '../../base/clock.js';
import { Deferred } from '../../base/deferred.js';
import { messageOf } from '../../base/error-text.js';
import type { Config } from '../../config/index.js';
import type { GracePeriod } from './grace-period.js';

/** Time that a stop waits for the removal of its node, in milliseconds. */
const LEAVE_MS = 20_000;

/** Pause before the cluster is asked again, in milliseconds. */
const AGAIN_MS = 500;

/** Longest wrong content of the file that is shown. */
const SHOWN_MAX = 20;

export interface LeavingOptions {
  readonly config: Pick<Config, 'leaveFromOrdinalFile' | 'nodeName'>;
  /** Asks the cluster to remove this node; fails when that can't be now. */
  readonly ask: (timeoutMs: number) => Promise<void>;
  /** Writes a line into the log. */
  readonly report: (level: 'info' | 'warn', event: string, message: string) => void;
}

export class Leaving {
  private readonly removal = new Deferred<void>();
  private hasAsked = false;
  private isRemoved = false;
  private isOver = false;
  private problem = '';

  constructor(private readonly options: LeavingOptions) {}

  /** The cluster has removed this node; gives whether it had asked for that. */
  noteRemoved(): boolean {
    this.isRemoved = this.hasAsked;
    if (this.isRemoved) this.removal.resolve();
    return this.isRemoved;
  }

  /**
   * Leaves, if that is what the operator said; gives whether this node is no member any more. It goes as with
   * a removal from outside: the leader asks for what this node leads, and waits until clients had time to
   * turn away.
   */
  async attempt(grace: Pick<GracePeriod, 'wait'>): Promise<boolean> {
    if (!this.isWanted()) return false;
    this.hasAsked = true;
    const timeUp = new Deferred<void>();
    const callOff = backgroundClock.after(LEAVE_MS, () => timeUp.resolve());
    await grace.wait(Promise.race([this.removal.promise, this.askUntilHeard(), timeUp.promise]));
    callOff();
    this.isOver = true;
    const { report } = this.options;
    if (this.isRemoved) report('info', 'left', 'this node is no member of the cluster any more');
    else report('warn', 'stays', `this node stops without having left the cluster: ${this.problem}`);
    return this.isRemoved;
  }

  private async askUntilHeard(): Promise<void> {
    while (!this.isOver) {
      try {
        await this.options.ask(LEAVE_MS);
        this.problem = 'its removal is under way, and goes on without it';
        return await this.removal.promise;
      } catch (error) {
        this.problem = messageOf(error);
      }
      await pause(backgroundClock, AGAIN_MS);
    }
  }

  /** True if this node is one of those that are to leave. */
  private isWanted(): boolean {
    const { config, report } = this.options;
    const { leaveFromOrdinalFile: path, nodeName } = config;
    if (path === undefined) return false;
    try {
      const from = ordinalIn(readFileSync(path, 'utf8'));
      if (from === null) return false;
      const own = ordinalOf(nodeName);
      if (own === null) throw new Error(`the name ${nodeName} does not end with an ordinal such as -3`);
      if (own < from) return false;
      report('info', 'leaving', `nodes from number ${from} on leave the cluster when they are told to stop`);
      return true;
    } catch (error) {
      report(
        'warn',
        'stays',
        `this node stays a member: leave_from_ordinal_file = ${path}: ${messageOf(error)}`,
      );
      return false;
    }
  }
}

/**
 * The number at the end of a name, or of its first part: 3 of `althing-3.althing-headless`; null without one.
 */
export function ordinalOf(name: string): number | null {
  const [, digits] = /^[^.]*-(\d{1,9})(?:\.|$)/.exec(name) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** @returns null for nothing */
function ordinalIn(content: string): number | null {
  const text = content.trim();
  if (text === '') return null;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`${JSON.stringify(text.slice(0, SHOWN_MAX))} is no number`);
}
