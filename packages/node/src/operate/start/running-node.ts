import { nodeError } from '@althing/engine';
import { type Config, ExitCode } from '../../config/index.js';

/** The way to stop: finish what runs and checkpoint, or only what is needed to be safe. */
export type StopReason = 'drain' | 'now';

export interface RunningNode {
  /** Settles when the node has ended, for whatever reason, with the exit code of the process. */
  readonly closed: Promise<number>;
  /** May be called again, to go from `drain` to `now`. */
  stop(reason: StopReason): void;
  /**
   * Takes over what changed in the configuration, reads the certificates again, and opens the audit log anew: the latter two also
   * where the configuration is wrong, which the log tells, and of which nothing is taken over.
   *
   * @param load reads the configuration; throws what is wrong with it
   */
  reload(load: () => Config): void;
}

/** An error that ends the start, with the exit code of the process. */
export class StartError extends Error {
  constructor(
    message: string,
    readonly exitCode: number,
  ) {
    super(message);
  }
}

/** The start was given up because it was asked to be; everything is closed. */
export class StartStoppedError extends StartError {
  constructor() {
    super('stopped while starting', ExitCode.Done);
  }
}

/** The answer to clients while nobody can say who may do what. */
export const STALE = nodeError(
  'this node has had no word from a majority of the nodes for too long (auth_max_stale_ms), and does not know any more who ' +
    'may do what: use another one, or try again later',
);

/** The answer to clients while the node stops. */
export const STOPPING = nodeError('the node is shutting down: use another one, or try again later');
