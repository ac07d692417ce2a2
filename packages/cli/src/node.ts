/**
 * The one place where the command line meets the package of the server.
 */
import type { Config } from '../../node/dist/config/index.js';

export * from '../../node/dist/config/index.js';

/** What the server wants to know besides its configuration. */
export interface StartOptions {
  /** The version of Althing, for status pages and the log. */
  readonly version: string;
}

/** How to stop: finish what runs, hand over, sync; or only what is needed to be safe. */
export type StopReason = 'drain' | 'now';

/** A node that was started. */
export interface RunningNode {
  /** Settles when the node has ended, for whatever reason, with the exit code of the process. */
  readonly closed: Promise<number>;
  /** May be called again, to go from `drain` to `now`. */
  stop(reason: StopReason): void;
}

export type StartNode = (config: Config, options: StartOptions) => Promise<RunningNode>;

/** Starts a node in this process. It serves from when the promise is fulfilled. */
export async function startNode(config: Config, options: StartOptions): Promise<RunningNode> {
  const server: object = await import('@althing/node');
  if (!('startNode' in server) || typeof server.startNode !== 'function') {
    throw new Error('this build has no server in it; run "npm run build"');
  }
  const start = server.startNode as StartNode;
  return start(config, options);
}
