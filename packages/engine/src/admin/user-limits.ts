/**
 * Limits of each user on a node, as a part of the root scope. Time limits hold where code runs; shares and rates are kept by each node
 * for itself (`requests/user-budgets.ts` in the package `node`).
 *
 *   effect := 53 user:varint limits            the limits of a user from now on
 *   limits := duration:varint share:varint rate:varint       0 for none: milliseconds, thousandths of the time, requests in 1000 seconds
 *
 * Record: USER_LIMITS (id of the user) holds `limits`; there is none where nothing is limited.
 */
import { ByteReader, ByteWriter } from '../bytes.js';
import type { Dirty } from '../state/dirty.js';
import { effect, effectsOn } from '../state/effect.js';
import type { GroupPart } from '../state/parts/part.js';
import { RecordKind } from '../state/records.js';
import { one } from '../state/tally.js';

/** Null where nothing is said. */
export interface UserLimit {
  /** How long a query may run, in milliseconds, where the node allows more. */
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

export class UserLimits implements GroupPart {
  readonly effects = effectsOn(this, UserLimitEffect);
  readonly kinds = [RecordKind.USER_LIMITS];
  private readonly byUser = new Map<number, UserLimit>();

  constructor(private readonly dirty: Dirty) {}

  /** The users that have limits, with these. */
  get all(): ReadonlyMap<number, UserLimit> {
    return this.byUser;
  }

  of(userId: number): UserLimit {
    return this.byUser.get(userId) ?? NO_LIMIT;
  }

  set(userId: number, limit: UserLimit): void {
    if (isNone(limit)) {
      if (this.byUser.delete(userId)) this.dirty.put(RecordKind.USER_LIMITS, userId, 0, null);
      return;
    }
    this.byUser.set(userId, limit);
    const out = new ByteWriter();
    writeLimit(out, limit);
    this.dirty.put(RecordKind.USER_LIMITS, userId, 0, out.take());
  }

  load(_kind: RecordKind, id: number, _part: number, value: Uint8Array): void {
    this.byUser.set(id, readLimit(new ByteReader(value)));
  }

  clear(): void {
    this.byUser.clear();
  }

  /** Limits are no data that would be in the way of a restore: they go with their users. */
  contents(): string | null {
    return null;
  }
}

export const UserLimitEffect = {
  /** The limits of a user from now on. */
  SET: effect<UserLimits, [userId: number, limit: UserLimit]>({
    code: 0x53,
    write: (out, userId, limit) => {
      out.varint(userId);
      writeLimit(out, limit);
    },
    read: (input) => [input.varint(), readLimit(input)],
    apply: (limits, userId, limit) => limits.set(userId, limit),
    inverse: (limits, userId) => {
      const old = limits.of(userId);
      return () => limits.set(userId, old);
    },
    cost: () => NS_PER_UNDO,
    counts: one('users'),
  }),
};

/** How long it takes to take a change of limits back, in nanoseconds. */
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
