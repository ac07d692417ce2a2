/**
 * Limits of each user on a node, as a part of the root scope. Time limits hold where code runs; shares and rates are kept by each node
 * for itself (`requests/user-budgets.ts` in the package `node`).
 *
 *   effect := 53 user:varint limits            the limits of a user from now on
 *   limits := duration:varint share:varint rate:varint       0 for none: milliseconds, thousandths of the time, requests in 1000 seconds
 *
 * Record: USER_LIMITS (id of the user) holds `limits`; there is none where nothing is limited.
 */
import type { ByteReader, ByteWriter } from '../bytes.js';
import type { Dirty } from '../state/dirty.js';
import { type Format, setEffect, ValuesById } from '../state/parts/values-by-id.js';
import { RecordKind } from '../state/records.js';
import { one } from '../state/tally.js';

/** Null where nothing is said. */
export interface UserLimit {
  /** Milliseconds that a query may run, where the node allows more. */
  readonly durationMs: number | null;
  /** Part of the time of a node, above 0 and up to 1. */
  readonly share: number | null;
  /** Requests a second at one node. */
  readonly rate: number | null;
}

export const NO_LIMIT: UserLimit = { durationMs: null, share: null, rate: null };

/** The units of shares and rates. */
const PARTS = 1000;

/** The least share and rate that can be kept. */
export const LEAST_PART = 1 / PARTS;

export class UserLimits extends ValuesById<UserLimit> {
  constructor(dirty: Dirty) {
    super(dirty, RecordKind.USER_LIMITS, LIMIT, UserLimitEffect);
  }

  of(userId: number): UserLimit {
    return this.all.get(userId) ?? NO_LIMIT;
  }

  override set(userId: number, limit: UserLimit | undefined): void {
    super.set(userId, limit === undefined || isNone(limit) ? undefined : limit);
  }
}

const LIMIT: Format<UserLimit> = { write: writeLimit, read: readLimit };

export const UserLimitEffect = {
  /** The limits of a user from now on. */
  SET: setEffect(LIMIT, { code: 0x53, cost: () => NS_PER_UNDO, counts: one('users') }),
};

/** Nanoseconds that it takes to take a change of limits back. */
const NS_PER_UNDO = 2000;

function isNone({ durationMs, share, rate }: UserLimit): boolean {
  return durationMs === null && share === null && rate === null;
}

function writeLimit(out: ByteWriter, { durationMs, share, rate }: UserLimit): void {
  out.varint(durationMs ?? 0);
  out.varint(Math.round((share ?? 0) * PARTS));
  out.varint(Math.round((rate ?? 0) * PARTS));
}

function readLimit(input: ByteReader): UserLimit {
  const [durationMs, share, rate] = [input.varint(), input.varint(), input.varint()];
  return { durationMs: durationMs || null, share: share / PARTS || null, rate: rate / PARTS || null };
}
