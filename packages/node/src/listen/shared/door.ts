import type { Feeds } from '../../feed/feeds.js';
import type { ProgramRequest, Respond } from '../../groups/request.js';
import type { EngineMetrics } from '../../telemetry/engine-metrics.js';
import type { Gate } from '../gate/gate.js';

/** The node behind a door, as the doors for HTTP and for the native protocol both need it. */
export interface Inside {
  /**
   * Takes a request; the answer may come at once or later. Returns whether it will come of this thread's
   * waiting.
   */
  readonly handle: (request: ProgramRequest, respond: Respond) => boolean;
  /** Puts off that a large body of a user is read, where others have to be served before: then `read` is called later. */
  readonly readsLater: (userId: number, bytes: number, read: () => void) => boolean;
  /** Tells the changes of collections. */
  readonly feeds: Pick<Feeds, 'follow'>;
  /** The gate that all doors ask. */
  readonly gate: Gate;
  /** Counts refusals. */
  readonly figures: Pick<EngineMetrics, 'refused'>;
  /** Reports a defect of the node itself. */
  readonly onDefect: (error: unknown) => void;
}
