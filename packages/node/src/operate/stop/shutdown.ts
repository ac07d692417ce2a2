import type { QueryError } from '@althing/engine';
import type { DataFolder } from '@althing/storage';
import type { NodeBackups } from '../../backup/node-backups.js';
import { backgroundClock, pause } from '../../base/clock.js';
import { Phase, type SharedStatus } from '../../between/shared-status.js';
import { type Config, ExitCode } from '../../config/index.js';
import type { EngineSide } from '../../engine-side/engine-side.js';
import type { State } from '../../groups/state.js';
import type { Doors } from '../../listen/doors/doors.js';
import type { ModuleManager } from '../../modules/manager.js';
import type { Pool } from '../../readers/pool.js';
import type { Logger } from '../../telemetry/logger.js';
import { STOPPING, type StopReason } from '../start/running-node.js';
import type { NodeConsensus } from '../thread/node-consensus.js';
import type { Ending } from './ending.js';
import { GracePeriod } from './grace-period.js';
import type { Leaving } from './leaving.js';

/** Time for the last steps of a stop once the node is to stop at once, in milliseconds. */
const CLOSE_MS = 1000;

export interface ShutdownParts {
  readonly config: Pick<Config, 'shutdownTimeoutMs' | 'drainDelayMs'>;
  readonly log: Logger;
  readonly folder: DataFolder;
  readonly state: State;
  readonly status: SharedStatus;
  readonly ending: Ending;
  readonly consensus: NodeConsensus;
  readonly side: EngineSide;
  readonly backups: NodeBackups;
  readonly modules: Pick<ModuleManager, 'cancel' | 'stop'>;
  readonly readers: Pick<Pool, 'close'>;
  readonly leaving: Leaving;
  /** Null until they are open. */
  readonly doors: () => Doors | null;
  readonly stopTimers: () => void;
}

/** Time that a stop waits until the other one of two nodes can go on alone, in milliseconds. */
const REST_MS = 3000;

/** Stops a node, one step after the other. */
export class Shutdown {
  /** Null until the node is to stop. */
  private grace: GracePeriod | null = null;
  /** When the node began to turn requests away, by a monotonic clock in milliseconds. */
  private leavingSince: number | null = null;
  private refused: QueryError | null = null;

  constructor(private readonly parts: ShutdownParts) {}

  /** Why requests are not served any more; null as long as they are. */
  get refusal(): QueryError | null {
    return this.refused;
  }

  /** Stops the node; may be called again, to go from `drain` to `now`. */
  begin(reason: StopReason): void {
    const { config, log, ending } = this.parts;
    const isNew = this.grace === null;
    const grace = this.grace ?? new GracePeriod(config.shutdownTimeoutMs);
    this.grace = grace;
    if (reason === 'now') grace.lose();
    if (!isNew) return;
    log.info({ event: 'stopping', reason }, 'stopping');
    this.run(grace).then(
      () => ending.end(ExitCode.Done),
      (error: unknown) => ending.fail('the node could not stop cleanly', error, ExitCode.Fatal),
    );
  }

  /** This node is to be removed: it still serves for a while, and asks for no more requests. */
  depart(): Promise<void> {
    const since = this.turnAway();
    return pause(backgroundClock, since + this.parts.config.drainDelayMs - performance.now());
  }

  private async run(grace: GracePeriod): Promise<void> {
    const { config, log, state, folder, status, consensus, side, backups, modules, readers, leaving } =
      this.parts;
    const { scopes, members } = side;
    this.turnAway();
    side.tasks.halt();
    const backedUp = backups.stop();
    const isGone = await leaving.attempt(grace);
    if (!isGone) {
      await grace.wait(members.giveAway());
      await grace.wait(members.resting.rest(REST_MS));
      await grace.pause(config.drainDelayMs);
    }
    status.phase = Phase.DRAINING;
    if (isGone) this.refused = STOPPING;
    // Requests that wait for a module are answered before the connections are closed.
    modules.cancel();
    const readersEnded = readers.close();
    await grace.wait(this.parts.doors()?.drain() ?? Promise.resolve());
    this.refused = STOPPING;
    const ended = modules.stop();
    await grace.wait(backedUp);
    // The data of a removed node are of no use any more.
    if (!grace.lost && !isGone) {
      for (const session of scopes.sessions.all) await grace.wait(scopes.checkpointer.flush(session));
    }
    await grace.wait(ended);
    await grace.wait(readersEnded);
    this.parts.stopTimers();
    await scopes.abandon(STOPPING);
    // Acknowledged changes are durable: whatever takes too long from here on can as well be cut off.
    await grace.wait(consensus.stop(), CLOSE_MS);
    const closed = state.close().then(() => folder.close());
    await grace.wait(closed, CLOSE_MS);
    log.info({ event: 'stopped' }, 'stopped');
  }

  /** Says that the node serves no more for long; gives since when it does. */
  private turnAway(): number {
    const { status } = this.parts;
    if (status.phase === Phase.READY) status.phase = Phase.LEAVING;
    this.parts.side.members.statusChanged();
    this.parts.doors()?.leave();
    this.leavingSince ??= performance.now();
    return this.leavingSince;
  }
}
