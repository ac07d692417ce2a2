import type { RootGroup } from '@althing/engine';
import type { Clock } from '../../base/clock.js';
import type { Rooms } from '../../events/rooms.js';
import type { Feeds } from '../../feed/feeds.js';
import type { ProgramRequest, Respond } from '../../groups/request.js';
import type { EngineMetrics } from '../../telemetry/engine-metrics.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { Gate } from '../gate/gate.js';
import type { RequestIds } from '../shared/request-ids.js';
import type { NativeCounts } from './native-counts.js';
import type { SessionRoot } from './session.js';

/** Bytes that wait to be sent when an event finds them and the connection ends, by default: its client does not read. */
export const UNSENT_EVENTS_MAX = 4 * 1024 * 1024;

/** The surroundings of all connections of a node. */
export interface ConnectionHost {
  readonly authenticator: Pick<Authenticator, 'known' | 'login'>;
  readonly root: SessionRoot & Pick<RootGroup, 'memberByName' | 'level'>;
  /** Takes a request; the answer may come at once or later. */
  readonly handle: (request: ProgramRequest, respond: Respond) => boolean;
  /** Puts off that a large package of a user is read, where others have to be served before: then `read` is called later. */
  readonly readsLater?: (userId: number, bytes: number, read: () => void) => boolean;
  readonly gate: Gate;
  readonly rooms: Pick<Rooms, 'join' | 'leave' | 'emit' | 'answer' | 'end' | 'loggedOut' | 'userChanged'>;
  readonly feeds: Pick<Feeds, 'follow'>;
  /** Arrays and maps inside each other at most. */
  readonly nestingMax: number;
  /** Bytes that a package may have. */
  readonly sizeMax: number;
  readonly ids: Pick<RequestIds, 'idOf'>;
  readonly figures: Pick<EngineMetrics, 'refused'>;
  readonly counts: NativeCounts;
  /** Reports a defect of the node itself. */
  readonly onDefect: (error: unknown) => void;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  readonly clock: Clock;
  /** See `UNSENT_EVENTS_MAX`. */
  readonly unsentEventsMax?: number;
}
