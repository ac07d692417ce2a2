import type { NativeFigures } from '../../telemetry/engine-metrics.js';
import type { LabelOf, Transport } from '../../telemetry/families.js';
import { PackageType } from './package.js';

/** Why the node ended a connection. */
export type Ending = LabelOf<'nativeEnds'>;

type Counts<Key extends string> = Record<Key, number>;

/** Counts of the native protocol on this node, from the start on. */
export class NativeCounts implements NativeFigures {
  readonly open: Counts<Transport> = { tcp: 0, unix: 0, websocket: 0, api_websocket: 0 };
  readonly loggedIn: Counts<Transport> = { tcp: 0, unix: 0, websocket: 0, api_websocket: 0 };
  readonly packages: Counts<LabelOf<'nativePackages'>> = {
    ping: 0,
    auth: 0,
    query: 0,
    run: 0,
    join: 0,
    leave: 0,
    emit: 0,
    emit_peer: 0,
    changes: 0,
    other: 0,
  };
  readonly events: Counts<LabelOf<'nativeEvents'>> = {
    node_status: 0,
    warn: 0,
    join: 0,
    leave: 0,
    emit: 0,
    delete: 0,
    changes: 0,
  };
  readonly ended: Counts<Ending> = {
    unread: 0,
    gap: 0,
    login_timeout: 0,
    package_timeout: 0,
    too_large: 0,
    malformed: 0,
    login_ended: 0,
  };
  /** Bytes that came, and those of packages that were sent. */
  readonly bytes = { received: 0, sent: 0 };

  opened(transport: Transport): void {
    this.open[transport] += 1;
  }

  closed(transport: Transport): void {
    this.open[transport] -= 1;
  }

  /** A package came, whatever becomes of it. */
  came(type: number): void {
    this.packages[PACKAGES.get(type) ?? 'other'] += 1;
  }

  /** An event was sent. */
  told(type: number): void {
    const event = EVENTS.get(type);
    if (event !== undefined) this.events[event] += 1;
  }
}

const PACKAGES: ReadonlyMap<number, LabelOf<'nativePackages'>> = new Map([
  [PackageType.PING, 'ping'],
  [PackageType.AUTH, 'auth'],
  [PackageType.QUERY, 'query'],
  [PackageType.RUN, 'run'],
  [PackageType.JOIN, 'join'],
  [PackageType.LEAVE, 'leave'],
  [PackageType.EMIT, 'emit'],
  [PackageType.EMIT_PEER, 'emit_peer'],
  [PackageType.CHANGES, 'changes'],
]);

const EVENTS: ReadonlyMap<number, LabelOf<'nativeEvents'>> = new Map([
  [PackageType.NODE_STATUS, 'node_status'],
  [PackageType.WARN, 'warn'],
  [PackageType.ROOM_JOIN, 'join'],
  [PackageType.ROOM_LEAVE, 'leave'],
  [PackageType.ROOM_EMIT, 'emit'],
  [PackageType.ROOM_DELETE, 'delete'],
  [PackageType.CHANGES_EVENT, 'changes'],
  [PackageType.CHANGES_END, 'changes'],
]);
