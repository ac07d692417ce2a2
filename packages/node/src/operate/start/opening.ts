import type { ClusterRecord } from '../../between/cluster-record.js';
import { Phase, type SharedStatus } from '../../between/shared-status.js';
import { type Config, DEFAULT_PASSWORD, ExitCode, isOpen } from '../../config/index.js';
import type { EngineSide } from '../../engine-side/engine-side.js';
import type { StaticSite } from '../../listen/http/static-site.js';
import type { PasswordHasher } from '../../requests/password.js';
import type { Logger } from '../../telemetry/logger.js';
import { bootstrapCluster, hasDefaultPassword } from './bootstrap.js';
import { catchUp } from './catch-up.js';
import { passwordProblem } from './default-password.js';
import { greet, warnOfDefaultPassword } from './greet.js';
import { warnOfHiddenProcedures } from './hidden-procedures.js';
import { startWait } from './start-wait.js';

/** The reasons for which a start that is under way may end. */
export interface StartEnd {
  readonly hasEnded: boolean;
  readonly failure: Error | null;
  fail(message: string, error: unknown, exitCode: number): void;
}

export interface OpeningParts {
  readonly config: Config;
  readonly version: string;
  /** The data folder. */
  readonly path: string;
  readonly nodeId: number;
  readonly founders: ClusterRecord['founders'];
  readonly log: Logger;
  /** Gives the start up while it waits for other nodes. */
  readonly signal: AbortSignal;
  readonly status: SharedStatus;
  readonly ending: StartEnd;
  readonly side: EngineSide;
  readonly hasher: PasswordHasher;
  readonly isTls: boolean;
  /** Files for browsers; null for none. */
  readonly site: StaticSite | null;
}

/**
 * Time that a start waits for the leaders of all groups, in milliseconds; what needs none is served without.
 */
const SERVING_WAIT_MS = 5000;

/**
 * Time that a start looks for default passwords before it serves, in milliseconds. Nobody can log in with one
 * there.
 */
const PASSWORDS_WAIT_MS = 3000;

/** Brings a node up once its sides are there. */
export class Opening {
  constructor(private readonly parts: OpeningParts) {}

  /**
   * Opens all groups, and waits until requests can be served.
   *
   * @returns whether this node made the first change of its cluster just now
   * @throws what ends the start
   */
  async groups(): Promise<boolean> {
    const { config, side, founders, hasher } = this.parts;
    const { sessions } = side.scopes;
    await sessions.open();
    const isFirstStart = await bootstrapCluster({
      root: side.engine.root,
      session: sessions.root,
      founders,
      hash: () => hasher.hash(config.adminPassword ?? DEFAULT_PASSWORD),
      now: Date.now,
      until: (condition) => this.until(condition),
    });
    await this.untilServing();
    await this.refuseDefaultPassword();
    return isFirstStart;
  }

  /** Notes that this node serves, once it votes in every group and holds all that was acknowledged before; ends the node where it must not. */
  catchUp(): void {
    this.whenCaughtUp().catch((error: unknown) =>
      this.parts.ending.fail('the node could not find out whether it may serve', error, ExitCode.Fatal),
    );
  }

  private async whenCaughtUp(): Promise<void> {
    const { side, nodeId, status, ending } = this.parts;
    const isRunning = (): boolean => !ending.hasEnded && status.phase === Phase.READY;
    if (!(await catchUp(side.scopes.sessions, nodeId, isRunning))) return;
    status.isCaughtUp = true;
    warnOfHiddenProcedures(this.parts.log, side.engine);
    // Users may have come from other nodes.
    const error = await this.passwordProblem(isRunning);
    if (error !== null) ending.fail(error.message, null, error.exitCode);
  }

  /** Tells people that the node serves, and how to use it. */
  async greet(isFirstStart: boolean): Promise<void> {
    const { config, log, version, path, isTls, side, hasher, site } = this.parts;
    const greeting = { config, version, path, isTls, site };
    greet(log, greeting);
    if (config.httpApiPort === 0 || isOpen(config)) return;
    if (await hasDefaultPassword(side.engine.root, hasher))
      warnOfDefaultPassword(log, greeting, isFirstStart);
  }

  /** Waits for what events bring about, unless the start is given up before. */
  private until(condition: () => boolean): Promise<void> {
    const { ending, signal, side } = this.parts;
    return startWait(condition, { failure: () => ending.failure, signal, disk: side.disk });
  }

  /** Waits until every group has a leader; but what can be served without is not held up for long. */
  private async untilServing(): Promise<void> {
    const { engine, scopes } = this.parts.side;
    const alone = engine.root.members.size <= 1;
    const end = performance.now() + SERVING_WAIT_MS;
    await this.until(() => scopes.sessions.areServing || (!alone && performance.now() > end));
  }

  /**
   * Waits a while for what would be a reason not to serve: the checks of many users take long, and are gone
   * on with later.
   */
  private async refuseDefaultPassword(): Promise<void> {
    const end = performance.now() + PASSWORDS_WAIT_MS;
    const error = await this.passwordProblem(() => !this.parts.ending.hasEnded && performance.now() < end);
    if (error !== null) throw error;
  }

  private passwordProblem(isRunning: () => boolean): ReturnType<typeof passwordProblem> {
    const { config, side, hasher } = this.parts;
    return passwordProblem(config, side.engine.root, hasher, isRunning);
  }
}
