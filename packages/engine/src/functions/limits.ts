import { LEAST_PART, NO_LIMIT, type UserLimit } from '../admin/user-limits.js';
import { valueError } from '../error.js';
import { CHANGES_ROOT, type Entry, func, GRANT } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { Float } from '../value/scalars.js';
import { Thing } from '../value/thing.js';
import type { Value } from '../value/value.js';
import { knownOptions } from './known-options.js';
import { userByName } from './users.js';

/** The longest time limit that can be set, in milliseconds: an hour. */
export const DURATION_MAX_MS = 3_600_000;

/** Requests a second that a limit may allow at most. */
const RATE_MAX = 1_000_000;

/** Limits of users. */
export const LIMITS: readonly Entry[] = [
  func('set_limit', {
    doc: 'Limits what a user may take: {duration: milliseconds of a query, share: part of the time of a node, rate: requests a second at one node}. What is not named is not limited; nil ends all.',
    changes: CHANGES_ROOT,
    needs: GRANT,
    params: [p.str('user'), p.any('limits')],
    run: (rt, name, given) => {
      const user = userByName(rt.root, name);
      const limit = limitOf(rt, given);
      rt.editor.setLimit(user, limit);
      return null;
    },
  }),
];

function limitOf(rt: Runtime, given: Value): UserLimit {
  if (given === null) return NO_LIMIT;
  if (!(given instanceof Thing))
    throw p.wrongType(given, { function: 'set_limit', position: 2 }, 'limits', 'a thing or nil');
  const values = knownOptions(rt, 'set_limit', given, ['duration', 'share', 'rate']);
  return {
    durationMs: durationOf('set_limit', 2, values.get('duration')),
    share: partOf('share', values.get('share'), 1),
    rate: partOf('rate', values.get('rate'), RATE_MAX),
  };
}

/** A time limit among options, in milliseconds; null for none. */
export function durationOf(name: string, position: number, given: Value | undefined): number | null {
  if (given === undefined || given === null) return null;
  return p.intBetween('duration', 1, DURATION_MAX_MS).accept(given, { function: name, position });
}

function partOf(name: string, given: Value | undefined, max: number): number | null {
  if (given === undefined || given === null) return null;
  const value = p.number(name).accept(given, { function: 'set_limit', position: 2 });
  const number = value instanceof Float ? value.value : Number(value);
  if (!(number >= LEAST_PART && number <= max))
    throw valueError(`the ${name} of a user is from ${LEAST_PART} to ${max}, not ${number}`);
  return number;
}
