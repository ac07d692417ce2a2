import type { RootGroup } from '@althing/engine';
import type { Clock } from '../../base/clock.js';
import type { Rooms } from '../../events/rooms.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { SessionRoot } from '../auth/session.js';
import type { Inside } from '../shared/door.js';
import type { RequestIds } from '../shared/request-ids.js';
import type { NativeCounts } from './native-counts.js';

/** Bytes that wait to be sent when an event finds them and the connection ends, by default: its client does not read. */
export const UNSENT_EVENTS_MAX = 4 * 1024 * 1024;

/** The surroundings of all connections of a node. */
export interface ConnectionHost extends Inside {
  readonly authenticator: Pick<Authenticator, 'known' | 'login'>;
  readonly root: SessionRoot & Pick<RootGroup, 'memberByName' | 'level'>;
  readonly rooms: Pick<Rooms, 'join' | 'leave' | 'emit' | 'answer' | 'end' | 'loggedOut' | 'userChanged'>;
  /** Arrays and maps inside each other at most. */
  readonly nestingMax: number;
  /** Bytes that a package may have. */
  readonly sizeMax: number;
  readonly ids: Pick<RequestIds, 'idOf'>;
  readonly counts: NativeCounts;
  /** Wall clock in milliseconds. */
  readonly now: () => number;
  readonly clock: Clock;
  /** See `UNSENT_EVENTS_MAX`. */
  readonly unsentEventsMax?: number;
}
