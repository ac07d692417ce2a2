/** Users: their privileges as a matrix of scopes, then each with tokens, sessions and whitelists. */
import type { WireValue } from '@althing/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { accessOf, ask, mayChange, PRIVILEGES, type Privilege } from '../state/session.js';
import { itemsOf, textAt } from '../state/values.js';
import { Failure, Head, Part, Scroll, useAnswer } from '../ui/parts.js';
import { ROOT } from './deeds.js';
import { User } from './user.js';
import { type Wish, WishDialog } from './wishes.js';

export function Users(): JSX.Element {
  const { value, error, again } = useAnswer('users', async () => {
    const [users, collections] = await Promise.all([
      ask(ROOT, 'users_info();'),
      ask(ROOT, 'collections_info();'),
    ]);
    const names = itemsOf(collections).map((each) => `@collection:${textAt(each, 'name')}`);
    return { users: itemsOf(users), scopes: [ROOT, '@node', ...names] };
  });
  const [wish, want] = useState<Wish | null>(null);
  const isEditable = mayChange(ROOT);
  return (
    <div class="page">
      <Head title="Users">
        {isEditable ? (
          <button type="button" class="main" onClick={() => want({ kind: 'new' })}>
            New user
          </button>
        ) : null}
      </Head>
      <Failure error={error} />
      {value === null ? null : (
        <>
          <Matrix users={value.users} scopes={value.scopes} want={isEditable ? want : null} />
          {value.users.map((user) => (
            <User key={textAt(user, 'name')} user={user} want={isEditable ? want : null} />
          ))}
        </>
      )}
      {wish === null ? null : <WishDialog wish={wish} done={again} close={() => want(null)} />}
    </div>
  );
}

interface MatrixProps {
  readonly users: readonly WireValue[];
  readonly scopes: readonly string[];
  readonly want: ((wish: Wish) => void) | null;
}

function Matrix({ users, scopes, want }: MatrixProps): JSX.Element {
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
                      {want === null ? (
                        text
                      ) : (
                        <button
                          type="button"
                          class="link"
                          aria-label={`${name} on ${scope}: ${text}`}
                          onClick={() => want({ kind: 'access', user: name, scope, has })}
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
