import type { QueryError } from '@althing/engine';
import { BODIES_FULL, QUEUE_FULL, TOO_MANY_LOGINS } from '../http/listener.js';
import { STOPPING } from '../life/running-node.js';
import { NO_LEADER } from '../router.js';
import { DISK_FULL, DISK_LOW } from '../scopes/group-session.js';
import type { Rejection } from './families.js';

/** The errors by which a node refuses requests for its own sake, as they are counted. */
export const REJECTION_OF: ReadonlyMap<QueryError, Rejection> = new Map([
  [QUEUE_FULL, 'queue'],
  [BODIES_FULL, 'memory'],
  [TOO_MANY_LOGINS, 'login_backoff'],
  [NO_LEADER, 'no_leader'],
  [DISK_FULL, 'disk_full'],
  [DISK_LOW, 'disk_full'],
  [STOPPING, 'draining'],
]);
