/** Users: their privileges as a matrix of scopes, then each with tokens, sessions and whitelists. */
import { ForbiddenErr, type WireValue } from '@althing/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { accessOf, ask, mayChange, PRIVILEGES, type Privilege } from '../state/session.js';
import { itemsOf, textAt } from '../state/values.js';
import { useForm } from '../ui/form.js';
import { Failure, Head, Part, Scroll, useAnswer } from '../ui/parts.js';
import { type Access, AccessDialog } from './access.js';
import { newUser, ROOT } from './forms.js';
import { User } from './user.js';

export function Users(): JSX.Element {
  const { value, error, again } = useAnswer('users', async () => {
    const [users, collections] = await Promise.all([usersToSee(), ask(ROOT, 'collections_info();')]);
    const names = itemsOf(collections).map((each) => `@collection:${textAt(each, 'name')}`);
    return { users, scopes: [ROOT, '@node', ...names] };
  });
  const [open, dialog] = useForm(again);
  const [access, change] = useState<Access | null>(null);
  const isEditable = mayChange(ROOT);
  return (
    <div class="page">
      <Head title="Users">
        {isEditable ? (
          <button type="button" class="main" onClick={() => open(newUser())}>
            New user
          </button>
        ) : null}
      </Head>
      <Failure error={error} />
      {value === null ? null : (
        <>
          <Matrix users={value.users} scopes={value.scopes} change={isEditable ? change : null} />
          {value.users.map((user) => (
            <User key={textAt(user, 'name')} user={user} open={isEditable ? open : null} />
          ))}
        </>
      )}
      {dialog}
      {access === null ? null : <AccessDialog access={access} done={again} close={() => change(null)} />}
    </div>
  );
}

/** All users, for those who may administer them; else, and for requests that are read-only, the one who asks. */
async function usersToSee(): Promise<readonly WireValue[]> {
  try {
    return itemsOf(await ask(ROOT, 'users_info();'));
  } catch (error) {
    if (!(error instanceof ForbiddenErr)) throw error;
    return [await ask(ROOT, 'user_info();')];
  }
}

interface MatrixProps {
  readonly users: readonly WireValue[];
  readonly scopes: readonly string[];
  /** Null where nothing can be changed. */
  readonly change: ((access: Access) => void) | null;
}

function Matrix({ users, scopes, change }: MatrixProps): JSX.Element {
  return (
    <Part title="Privileges">
      <Scroll label="Privileges">
        <table>
          <thead>
            <tr>
              <th>scope</th>
              {users.map((user) => (
                <th key={textAt(user, 'name')}>{textAt(user, 'name')}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {scopes.map((scope) => (
              <tr key={scope}>
                <td class="mono">{scope}</td>
                {users.map((user) => {
                  const name = textAt(user, 'name');
                  const has = accessOf(user).get(scope) ?? new Set<Privilege>();
                  const text = textOf(has);
                  return (
                    <td key={name}>
                      {change === null ? (
                        text
                      ) : (
                        <button
                          type="button"
                          class="link"
                          aria-label={`${name} on ${scope}: ${text}`}
                          onClick={() => change({ user: name, scope, has })}
                        >
                          {text}
                        </button>
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Part>
  );
}

function textOf(has: ReadonlySet<Privilege>): string {
  if (has.size === PRIVILEGES.length) return 'full';
  return has.size === 0 ? 'none' : [...has].join(' ').toLowerCase();
}
