import { randomBytes } from 'node:crypto';
import { elementAt } from '../../base/element.js';

/**
 * The names that a client may give to its request: enough for what proxies and tracing make, and harmless in
 * a header and a log.
 */
const WELL_FORMED = /^[A-Za-z0-9._:+/=@-]{1,128}$/;

/** Gives requests names by which an answer, the log and what a client knows can be brought together. */
export class RequestIds {
  private readonly prefix = `${randomBytes(6).toString('hex')}-`;
  private count = 0;
  /** The prefix, and the digits of the count in front of the last two: they are the same for many requests in a row. */
  private beginning = '';

  /** @param given what the client sent as `X-Request-Id`; taken if it is well-formed */
  idOf(given: string | null): string {
    if (given !== null && WELL_FORMED.test(given)) return given;
    this.count += 1;
    const { count } = this;
    if (count < ENDINGS.length) return this.prefix + count.toString(RADIX);
    const ending = count % ENDINGS.length;
    if (ending === 0) this.beginning = this.prefix + (count / ENDINGS.length).toString(RADIX);
    return this.beginning + elementAt(ENDINGS, ending);
  }
}

/** The radix of the digits that counts are written with. */
const RADIX = 36;

/** All pairs of digits: a number takes longer to write than all else of a name. */
const ENDINGS: readonly string[] = Array.from({ length: RADIX * RADIX }, (_, i) =>
  i.toString(RADIX).padStart(2, '0'),
);
