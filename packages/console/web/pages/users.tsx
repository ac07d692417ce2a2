/** Users: their privileges as a matrix of scopes, and their tokens. */
import type { WireValue } from '@althing/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { accessOf, ask, mayChange, type Privilege } from '../state/session.js';
import { readOnly } from '../state/settings.js';
import { at, itemsOf, listAt, numberAt, textAt } from '../state/values.js';
import { ActionDialog, type Deed } from '../ui/action.js';
import { Copied, Failure, Field, Head, Mark, Part, Scroll, useAnswer } from '../ui/parts.js';

const PRIVILEGES: readonly Privilege[] = ['QUERY', 'CHANGE', 'GRANT', 'JOIN', 'RUN'];
const ROOT = '@thingsdb';

type Wish =
  | { readonly kind: 'new' }
  | { readonly kind: 'token' | 'password' | 'delete'; readonly user: string }
  | { readonly kind: 'del_token'; readonly user: string; readonly key: string }
  | {
      readonly kind: 'access';
      readonly user: string;
      readonly scope: string;
      readonly has: ReadonlySet<Privilege>;
    };

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

function User({
  user,
  want,
}: {
  readonly user: WireValue;
  readonly want: ((wish: Wish) => void) | null;
}): JSX.Element {
  const name = textAt(user, 'name');
  const tokens = listAt(user, 'tokens');
  return (
    <Part
      title={
        <>
          {name}{' '}
          <Mark kind={at(user, 'has_password') === true ? 'good' : 'quiet'}>
            {at(user, 'has_password') === true ? 'password' : 'no password'}
          </Mark>{' '}
          <span class="quiet num">{sessionsText(user)}</span>
        </>
      }
      actions={
        want === null ? undefined : (
          <>
            <button type="button" onClick={() => want({ kind: 'token', user: name })}>
              New token<span class="hidden-text"> for {name}</span>
            </button>
            <button type="button" onClick={() => want({ kind: 'password', user: name })}>
              Set password<span class="hidden-text"> of {name}</span>
            </button>
            <button type="button" class="danger" onClick={() => want({ kind: 'delete', user: name })}>
              Delete<span class="hidden-text"> {name}</span>
            </button>
          </>
        )
      }
    >
      {tokens.length === 0 ? (
        <p class="quiet">No tokens.</p>
      ) : (
        <Scroll label={`Tokens of ${name}`}>
          <table>
            <thead>
              <tr>
                <th>token</th>
                <th>status</th>
                <th>ends</th>
                <th>made</th>
                <th>description</th>
                {want === null ? null : <th class="end">change</th>}
              </tr>
            </thead>
            <tbody>
              {tokens.map((token) => (
                <tr key={textAt(token, 'key')}>
                  <td class="mono">{textAt(token, 'key')}</td>
                  <td>{textAt(token, 'status').toLowerCase()}</td>
                  <td>{textAt(token, 'expiration_time')}</td>
                  <td>{textAt(token, 'created_on')}</td>
                  <td class="wide">{textAt(token, 'description')}</td>
                  {want === null ? null : (
                    <td class="end">
                      <button
                        type="button"
                        class="link"
                        onClick={() => want({ kind: 'del_token', user: name, key: textAt(token, 'key') })}
                      >
                        delete<span class="hidden-text"> {textAt(token, 'key')}</span>
                      </button>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </Part>
  );
}

/** Empty for none: the node tells of them only where there are any. */
function sessionsText(user: WireValue): string {
  const count = numberAt(user, 'sessions') ?? 0;
  return count === 0 ? '' : count === 1 ? '1 session' : `${count} sessions`;
}

interface WishProps {
  readonly wish: Wish;
  readonly done: () => void;
  readonly close: () => void;
}

function WishDialog({ wish, done, close }: WishProps): JSX.Element {
  const [text, setText] = useState('');
  const common = { done, close };
  const field = (label: string, isSecret = false): JSX.Element => (
    <Field label={label}>
      {isSecret ? (
        <input
          type="password"
          autoComplete="new-password"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      ) : (
        <input autoComplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      )}
    </Field>
  );
  const deed = (code: string, vars: Record<string, WireValue>): Deed => ({ scope: ROOT, code, vars });
  switch (wish.kind) {
    case 'new':
      return (
        <ActionDialog
          title="New user"
          deed={text === '' ? null : deed('new_user(name);', { name: text })}
          {...common}
        >
          {field('Name')}
        </ActionDialog>
      );
    case 'token':
      return (
        <ActionDialog
          title="New token"
          deed={deed('new_token(name, nil, description);', { name: wish.user, description: text })}
          show={(key) => <Copied label="The token. It is shown this once." text={String(key)} />}
          {...common}
        >
          {field('Description')}
        </ActionDialog>
      );
    case 'password':
      return (
        <ActionDialog
          title="Set the password"
          deed={
            text === '' ? null : deed('set_password(name, password);', { name: wish.user, password: text })
          }
          {...common}
        >
          {field('New password', true)}
        </ActionDialog>
      );
    case 'delete':
      return (
        <ActionDialog
          title="Delete the user"
          typed={wish.user}
          deed={deed('del_user(name);', { name: wish.user })}
          {...common}
        />
      );
    case 'del_token':
      return (
        <ActionDialog
          title="Delete the token"
          what="Programs that use it are refused from then on."
          deed={deed('del_token(key);', { key: wish.key })}
          {...common}
        />
      );
    case 'access':
      return <AccessDialog wish={wish} {...common} />;
  }
}

function AccessDialog({
  wish: { user, scope, has },
  done,
  close,
}: WishProps & { readonly wish: Wish & { kind: 'access' } }): JSX.Element {
  const [chosen, choose] = useState<ReadonlySet<Privilege>>(has);
  const added = PRIVILEGES.filter((each) => chosen.has(each) && !has.has(each));
  const gone = PRIVILEGES.filter((each) => !chosen.has(each) && has.has(each));
  const code = [
    ...(added.length > 0 ? [`grant(scope, user, ${added.join(' | ')});`] : []),
    ...(gone.length > 0 ? [`revoke(scope, user, ${gone.join(' | ')});`] : []),
  ].join('\n');
  const toggle = (each: Privilege, isChosen: boolean): void => {
    choose(new Set(PRIVILEGES.filter((other) => (other === each ? isChosen : chosen.has(other)))));
  };
  return (
    <ActionDialog
      title="Set privileges"
      what={`${user} on ${scope}`}
      deed={code === '' || readOnly.value ? null : { scope: ROOT, code, vars: { scope, user } }}
      done={done}
      close={close}
    >
      <div class="row">
        {PRIVILEGES.map((each) => (
          <label key={each} class="check">
            <input
              type="checkbox"
              checked={chosen.has(each)}
              onChange={(event) => toggle(each, event.currentTarget.checked)}
            />
            {each}
          </label>
        ))}
      </div>
    </ActionDialog>
  );
}
