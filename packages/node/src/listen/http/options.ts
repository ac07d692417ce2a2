import type { WebSocketBehavior } from 'uWebSockets.js';
import type { RootGroup } from '@althing/engine';
import type { Transfers } from '../../backup/transfers.js';
import type { Request, Respond, SessionBody } from '../../groups/request.js';
import type { BodyOptions } from '../../requests/body.js';
import type { Authenticator } from '../auth/authenticator.js';
import type { SessionRoot } from '../auth/session.js';
import type { Inside } from '../shared/door.js';
import type { SocketData, TlsFiles } from './apps.js';
import type { SitesOptions } from './sites.js';
import type { StaticSite } from './static-site.js';

export interface HttpOptions extends Inside {
  readonly authenticator: Authenticator;
  /** Null for plain HTTP. */
  readonly tls: TlsFiles | null;
  /** Name of this node, which every response tells. */
  readonly nodeName: string;
  /** Charges a user for time that its body took while it came, in milliseconds. */
  readonly charge: (userId: number, ms: number) => void;
  readonly handleSession: (request: Request<SessionBody>, respond: Respond) => void;
  /** Takes backups, and the restores of them. */
  readonly transfers: Transfers;
  readonly root: SessionRoot & Pick<RootGroup, 'level'>;
  readonly body: BodyOptions;
  /** Bytes that a request body may have. */
  readonly bodySizeMax: number;
  /** Time in which a body must have come. */
  readonly bodyTimeoutMs: number;
  /** Handlers of connections that go on as WebSockets, at `/@ws`. */
  readonly sockets: ApiSockets;
  /** Blocks for a moment, or until the condition holds, while answers may come: see `WaitingInPlace`. */
  readonly wait: (done: () => boolean) => void;
  /** Age that a connection gets to, in milliseconds; 0: as old as it likes. */
  readonly connectionAgeMaxMs: number;
  readonly connectionsPerAddressMax: number;
  /** Proxies whose X-Forwarded-For is trusted: addresses, and networks as `10.0.0.0/8`. */
  readonly trustedProxies: readonly string[];
  /** The sites for which browsers may ask. */
  readonly sites: SitesOptions;
  /** Files for browsers; null for none. */
  readonly site: StaticSite | null;
}

/** Handlers of connections that go on as WebSockets. */
export type ApiSockets = Omit<WebSocketBehavior<SocketData>, 'upgrade'> & {
  /** The subprotocol of the answer, empty for none; null when there is none that is spoken here. */
  readonly subprotocolOf: (header: string) => string | null;
  /** True if one more from an address may go on, before it has logged in. */
  readonly admits: (address: string) => boolean;
};
