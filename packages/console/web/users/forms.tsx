/** Forms for what can be done to a user. */
import type { WireValue } from '@althing/client';
import { isPasswordDefault, userName } from '../state/session.js';
import type { Deed } from '../ui/deed.js';
import type { Form } from '../ui/form.js';
import { Copied } from '../ui/parts.js';

export const ROOT = '@thingsdb';

export function newUser(): Form {
  return {
    title: 'New user',
    fields: [{ key: 'name', label: 'Name' }],
    deed: (given) => deed('new_user(name);', { name: given.text('name') }),
  };
}

export function renameUser(user: string): Form {
  return {
    title: 'Rename the user',
    fields: [{ key: 'to', label: 'New name', start: user }],
    deed: (given) => deed('rename_user(user, to);', { user, to: given.text('to') }),
  };
}

export function removeUser(user: string): Form {
  return { title: 'Delete the user', typed: user, deed: () => deed('del_user(user);', { user }) };
}

export function setPassword(user: string): Form {
  return {
    title: 'Set the password',
    fields: [{ key: 'password', label: 'New password', kind: 'secret' }],
    deed: (given) => deed('set_password(user, password);', { user, password: given.text('password') }),
    done: () => {
      if (user === userName.value) isPasswordDefault.value = false;
    },
  };
}

export function newToken(user: string): Form {
  return {
    title: 'New token',
    fields: [
      { key: 'description', label: 'Description', isOptional: true },
      { key: 'days', label: 'Days until it ends; empty: it does not end', isOptional: true },
    ],
    deed: (given) => {
      const [days, description] = [given.text('days'), given.text('description')];
      if (days === '') return deed('new_token(user, nil, description);', { user, description });
      if (!/^[1-9]\d{0,4}$/.test(days)) return null;
      const code = "new_token(user, datetime().move('days', days), description);";
      return deed(code, { user, days: BigInt(days), description });
    },
    show: (key) => <Copied label="The token. It is shown this once." text={String(key)} />,
  };
}

export function removeToken(key: string): Form {
  return {
    title: 'Delete the token',
    what: 'Programs that use it are refused from then on.',
    deed: () => deed('del_token(key);', { key }),
  };
}

export function endSession(user: string, id: string): Form {
  return {
    title: 'End the session',
    what: 'Whoever has it must log in again.',
    deed: () => deed('del_sessions(user, id);', { user, id }),
  };
}

export function endSessions(user: string): Form {
  return {
    title: 'End all sessions',
    what: `${user} has to log in again, everywhere.`,
    deed: () => deed('del_sessions(user);', { user }),
  };
}

/** @param isNew whether there is no such list yet */
export function allow(user: string, list: string, isNew: boolean): Form {
  return {
    title: `Allow ${list}`,
    ...(isNew ? { what: `With a list, ${user} has the ${list} that a rule of it fits, and no others.` } : {}),
    fields: [
      {
        key: 'rule',
        label: 'A name, or a pattern such as /^shop_/; empty: none of them',
        isOptional: true,
      },
    ],
    deed: (given) => ruleDeed('whitelist_add', user, list, given.text('rule')),
  };
}

export function disallow(user: string, list: string, rule: string): Form {
  return { title: 'Delete the rule', deed: () => ruleDeed('whitelist_del', user, list, rule) };
}

export function removeList(user: string, list: string): Form {
  return {
    title: 'Delete the whitelist',
    what: `${user} has all ${list} then, as far as privileges go.`,
    deed: () => ruleDeed('whitelist_del', user, list, ''),
  };
}

/** @param rule a name, or a pattern between slashes, with flags perhaps; empty for the whole list */
function ruleDeed(call: 'whitelist_add' | 'whitelist_del', user: string, list: string, rule: string): Deed {
  if (rule === '') return deed(`${call}(user, list);`, { user, list });
  const [, pattern, flags = ''] = /^\/(.+)\/([a-z]*)$/s.exec(rule) ?? [];
  return pattern === undefined
    ? deed(`${call}(user, list, rule);`, { user, list, rule })
    : deed(`${call}(user, list, regex(pattern, flags));`, { user, list, pattern, flags });
}

function deed(code: string, vars: Readonly<Record<string, WireValue>>): Deed {
  return { scope: ROOT, code, vars };
}
