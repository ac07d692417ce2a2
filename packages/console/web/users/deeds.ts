/** The code of what is done to users. */
import type { WireValue } from '@althing/client';
import type { Deed } from '../ui/deed.js';

export const ROOT = '@thingsdb';

export function deed(code: string, vars: Readonly<Record<string, WireValue>>): Deed {
  return { scope: ROOT, code, vars };
}

/** @param days until the token ends; empty for never. Null for what is no number of days */
export function tokenDeed(user: string, days: string, description: string): Deed | null {
  if (days === '') return deed('new_token(user, nil, description);', { user, description });
  if (!/^[1-9]\d{0,4}$/.test(days)) return null;
  return deed("new_token(user, datetime().move('days', days), description);", {
    user,
    days: BigInt(days),
    description,
  });
}

/** @param rule a name, or a pattern between slashes, with flags perhaps; empty for the whole list */
export function ruleDeed(
  call: 'whitelist_add' | 'whitelist_del',
  user: string,
  list: string,
  rule: string,
): Deed {
  if (rule === '') return deed(`${call}(user, list);`, { user, list });
  const [, pattern, flags = ''] = /^\/(.+)\/([a-z]*)$/s.exec(rule) ?? [];
  return pattern === undefined
    ? deed(`${call}(user, list, rule);`, { user, list, rule })
    : deed(`${call}(user, list, regex(pattern, flags));`, { user, list, pattern, flags });
}
