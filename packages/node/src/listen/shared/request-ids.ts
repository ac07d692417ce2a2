import { randomBytes } from 'node:crypto';

/**
 * The names that a client may give to its request: enough for what proxies and tracing make, and harmless in
 * a header and a log.
 */
const WELL_FORMED = /^[A-Za-z0-9._:+/=@-]{1,128}$/;

/** Gives requests names by which an answer, the log and what a client knows can be brought together. */
export class RequestIds {
  private readonly prefix = randomBytes(6).toString('hex');
  private count = 0;

  /** @param given what the client sent as `X-Request-Id`; taken if it is well-formed */
  idOf(given: string | null): string {
    if (given !== null && WELL_FORMED.test(given)) return given;
    this.count += 1;
    return `${this.prefix}-${this.count.toString(36)}`;
  }
}
