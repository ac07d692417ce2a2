/** What can be done to a user, each as a dialog that shows its code. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { PRIVILEGES, type Privilege } from '../state/session.js';
import { readOnly } from '../state/settings.js';
import { ActionDialog } from '../ui/action.js';
import { Copied, Field } from '../ui/parts.js';
import { deed, ROOT, ruleDeed, tokenDeed } from './deeds.js';

export type Wish =
  | { readonly kind: 'new' }
  | { readonly kind: 'rename' | 'token' | 'password' | 'delete'; readonly user: string }
  | { readonly kind: 'del_token'; readonly user: string; readonly key: string }
  /** Without an id all of the user. */
  | { readonly kind: 'end_sessions'; readonly user: string; readonly id: string | null }
  | { readonly kind: 'allow'; readonly user: string; readonly list: string; readonly isNew: boolean }
  /** Without a rule the whole list. */
  | { readonly kind: 'disallow'; readonly user: string; readonly list: string; readonly rule: string }
  | {
      readonly kind: 'access';
      readonly user: string;
      readonly scope: string;
      readonly has: ReadonlySet<Privilege>;
    };

interface WishProps {
  readonly wish: Wish;
  readonly done: () => void;
  readonly close: () => void;
}

export function WishDialog({ wish, done, close }: WishProps): JSX.Element {
  const [text, setText] = useState('');
  const [days, setDays] = useState('');
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
    case 'rename':
      return (
        <ActionDialog
          title="Rename the user"
          deed={text === '' ? null : deed('rename_user(name, to);', { name: wish.user, to: text })}
          {...common}
        >
          {field('New name')}
        </ActionDialog>
      );
    case 'token':
      return (
        <ActionDialog
          title="New token"
          deed={tokenDeed(wish.user, days, text)}
          show={(key) => <Copied label="The token. It is shown this once." text={String(key)} />}
          {...common}
        >
          {field('Description')}
          <Field label="Days until it ends; empty: it does not end">
            <input inputMode="numeric" value={days} onInput={(event) => setDays(event.currentTarget.value)} />
          </Field>
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
    case 'end_sessions':
      return wish.id === null ? (
        <ActionDialog
          title="End all sessions"
          what={`${wish.user} has to log in again, everywhere.`}
          deed={deed('del_sessions(name);', { name: wish.user })}
          {...common}
        />
      ) : (
        <ActionDialog
          title="End the session"
          what="Whoever has it must log in again."
          deed={deed('del_sessions(name, id);', { name: wish.user, id: wish.id })}
          {...common}
        />
      );
    case 'allow':
      return (
        <ActionDialog
          title={`Allow ${wish.list}`}
          what={
            wish.isNew
              ? `With a list, ${wish.user} has the ${wish.list} that a rule of it fits, and no others.`
              : ''
          }
          deed={ruleDeed('whitelist_add', wish.user, wish.list, text)}
          {...common}
        >
          {field('A name, or a pattern such as /^shop_/; empty: none of them')}
        </ActionDialog>
      );
    case 'disallow':
      return (
        <ActionDialog
          title={wish.rule === '' ? 'Delete the whitelist' : 'Delete the rule'}
          what={wish.rule === '' ? `${wish.user} has all ${wish.list} then, as far as privileges go.` : ''}
          deed={ruleDeed('whitelist_del', wish.user, wish.list, wish.rule)}
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
