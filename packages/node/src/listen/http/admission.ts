import type { HttpResponse } from 'uWebSockets.js';
import { badDataError, type Format } from '@althing/engine';
import { networkOf } from '../../base/network-of.js';
import type { Authenticator, Login, LoginListener } from '../auth/authenticator.js';
import type { Gate } from '../gate/gate.js';
import type { ClientAddresses } from '../limits/client-addresses.js';
import { problemOf } from '../shared/terms.js';
import type { Exchange } from './exchange.js';
import {
  bodyTooLarge,
  LOG_IN,
  QUEUE_FULL,
  type Refuse,
  TOO_LARGE,
  TOO_MANY_LOGINS,
  TOO_MANY_REQUESTS,
  UNAUTHORIZED,
  UNSUPPORTED,
  UNSURE,
} from './refusals.js';
import type { RequestHeaders } from './request-headers.js';

export interface AdmissionOptions {
  readonly authenticator: Pick<Authenticator, 'known' | 'remembered' | 'login'>;
  readonly gate: Gate;
  readonly clients: ClientAddresses;
  /** Bytes that a request body may have. */
  readonly bodySizeMax: number;
  readonly refuse: Refuse;
  /** Takes a request whose body had come before its sender was known. */
  readonly complete: (exchange: Exchange) => void;
}

/**
 * Decides by the head of a request whether it is served: who sends it, and what else can be told before the
 * body has come.
 */
export class Admission {
  constructor(private readonly options: AdmissionOptions) {}

  /** Credentials first; then what else can be told before the body has come. */
  admit(exchange: Exchange, res: HttpResponse, headers: RequestHeaders, format: Format | null): void {
    const { stale } = this.options.gate;
    if (stale !== null) {
      this.options.refuse(exchange, stale);
      return;
    }
    const { authorization } = headers;
    if (authorization === null) {
      this.options.refuse(exchange, UNAUTHORIZED, LOG_IN);
      return;
    }
    const principal = this.options.authenticator.remembered(authorization);
    if (principal !== null) {
      exchange.identify(principal);
      this.assertServable(exchange, headers, format);
    } else this.login(exchange, res, authorization, headers, format);
  }

  /** Finds out who sends a request with credentials that did not come just before. */
  private login(
    exchange: Exchange,
    res: HttpResponse,
    authorization: string,
    headers: RequestHeaders,
    format: Format | null,
  ): void {
    const { authenticator, clients, gate } = this.options;
    const principal = authenticator.known(authorization, () => clients.of(res, headers.forwardedFor));
    if (principal !== null) {
      exchange.identify(principal);
      this.assertServable(exchange, headers, format);
      return;
    }
    const address = clients.of(res, headers.forwardedFor);
    exchange.share = gate.strangers.shareOf(networkOf(address));
    authenticator.login(authorization, address, {
      failed: () => exchange.discardBody(),
      done: (login) => {
        if (!exchange.finished) this.loggedIn(exchange, login, headers, format);
      },
    });
  }

  private loggedIn(exchange: Exchange, login: Login, headers: RequestHeaders, format: Format | null): void {
    if (login.kind !== 'user') {
      refuseLogin(exchange, login.kind, this.options.refuse);
    } else {
      exchange.welcome(login, this.options.gate.memory);
      const { complete } = this.options;
      if (this.assertServable(exchange, headers, format) && exchange.body !== null) complete(exchange);
    }
  }

  /** Answers the request when it can't be served whatever its body says. */
  private assertServable(exchange: Exchange, headers: RequestHeaders, format: Format | null): boolean {
    const { refuse, bodySizeMax, gate } = this.options;
    const { refusal } = gate;
    const problem = headers.terms === null ? null : problemOf(headers.terms);
    if (refusal !== null) refuse(exchange, refusal);
    else if (format === null || headers.contentEncoding)
      refuse(exchange, UNSUPPORTED, { status: '415 Unsupported Media Type' });
    else if (problem !== null) refuse(exchange, badDataError(problem));
    else if (headers.contentLength > bodySizeMax) refuse(exchange, bodyTooLarge(bodySizeMax), TOO_LARGE);
    else if (gate.isQueueFull) refuse(exchange, QUEUE_FULL, TOO_MANY_REQUESTS);
    else return true;
    return false;
  }
}

/** Answers credentials that are not those of a user. */
export function refuseLogin(exchange: Exchange, kind: Exclude<Login['kind'], 'user'>, refuse: Refuse): void {
  if (kind === 'refused') refuse(exchange, UNAUTHORIZED, LOG_IN);
  else if (kind === 'unsure') refuse(exchange, UNSURE);
  else refuse(exchange, TOO_MANY_LOGINS, TOO_MANY_REQUESTS);
}

/**
 * Finds out who sends a request: at once where that is known.
 *
 * @param authorization null for none
 * @param address the client's, for the limits of logins
 */
export function identify(
  authenticator: Pick<Authenticator, 'known' | 'login'>,
  authorization: string | null,
  address: () => string,
  listener: LoginListener,
): void {
  const principal = authorization === null ? null : authenticator.known(authorization, address);
  if (authorization === null) listener.done({ kind: 'refused' });
  else if (principal !== null) listener.done({ kind: 'user', ...principal });
  else authenticator.login(authorization, address(), listener);
}
