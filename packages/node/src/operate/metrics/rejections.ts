import type { QueryError } from '@althing/engine';
import { DISK_FULL, DISK_LOW } from '../../groups/refusals.js';
import { BODIES_FULL, QUEUE_FULL, TOO_MANY_LOGINS } from '../../listen/http/refusals.js';
import { NO_LEADER } from '../../requests/replies.js';
import type { Rejection } from '../../telemetry/families.js';
import { STOPPING } from '../start/running-node.js';

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
