/** One user: tokens, sessions, and what the user's whitelists allow. */
import type { WireValue } from '@althing/client';
import type { JSX } from 'preact';
import { at, listAt, textAt, textsOf } from '../state/values.js';
import type { Form } from '../ui/form.js';
import { Mark, Part, RowButton, Scroll } from '../ui/parts.js';
import {
  allow,
  disallow,
  endSession,
  endSessions,
  newToken,
  removeList,
  removeToken,
  removeUser,
  renameUser,
  setPassword,
} from './forms.js';

interface Props {
  readonly user: WireValue;
  /** Null where nothing can be changed. */
  readonly open: ((form: Form) => void) | null;
}

export function User({ user, open }: Props): JSX.Element {
  const name = textAt(user, 'name');
  return (
    <Part
      title={
        <>
          {name}{' '}
          <Mark kind={at(user, 'has_password') === true ? 'good' : 'quiet'}>
            {at(user, 'has_password') === true ? 'password' : 'no password'}
          </Mark>
        </>
      }
      actions={
        open === null ? undefined : (
          <>
            <button type="button" onClick={() => open(newToken(name))}>
              New token<span class="hidden-text"> for {name}</span>
            </button>
            <button type="button" onClick={() => open(setPassword(name))}>
              Set password<span class="hidden-text"> of {name}</span>
            </button>
            <button type="button" onClick={() => open(renameUser(name))}>
              Rename<span class="hidden-text"> {name}</span>
            </button>
            <button type="button" class="danger" onClick={() => open(removeUser(name))}>
              Delete<span class="hidden-text"> {name}</span>
            </button>
          </>
        )
      }
    >
      <Tokens user={user} open={open} />
      <Sessions user={user} open={open} />
      <Whitelists user={user} open={open} />
    </Part>
  );
}

function Tokens({ user, open }: Props): JSX.Element {
  const name = textAt(user, 'name');
  const tokens = listAt(user, 'tokens');
  if (tokens.length === 0) return <p class="quiet">No tokens.</p>;
  return (
    <Scroll label={`Tokens of ${name}`}>
      <table>
        <thead>
          <tr>
            <th>token</th>
            <th>status</th>
            <th>ends</th>
            <th>made</th>
            <th>description</th>
            {open === null ? null : <th class="end">change</th>}
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
              {open === null ? null : (
                <td class="end">
                  <RowButton
                    text="delete"
                    about={textAt(token, 'key')}
                    act={() => open(removeToken(textAt(token, 'key')))}
                  />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Logins that last for a while, of which this page has one. Nothing for a user who has none. */
function Sessions({ user, open }: Props): JSX.Element | null {
  const name = textAt(user, 'name');
  const sessions = listAt(user, 'sessions');
  if (sessions.length === 0) return null;
  return (
    <Scroll label={`Sessions of ${name}`}>
      <table>
        <thead>
          <tr>
            <th>session</th>
            <th>access</th>
            <th>ends</th>
            <th>begun</th>
            {open === null ? null : (
              <th class="end">
                <RowButton text="end all" about={`sessions of ${name}`} act={() => open(endSessions(name))} />
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => {
            const id = textAt(session, 'id');
            return (
              <tr key={id}>
                <td class="mono">{id}</td>
                <td>{at(session, 'read_only') === true ? 'read-only' : 'full'}</td>
                <td>{textAt(session, 'expiration_time')}</td>
                <td>{textAt(session, 'created_on')}</td>
                {open === null ? null : (
                  <td class="end">
                    <RowButton
                      text="end"
                      about={`the session ${id}`}
                      act={() => open(endSession(name, id))}
                    />
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

const LISTS = ['procedures', 'rooms'] as const;

/** Without a list everything is allowed that privileges allow. */
function Whitelists({ user, open }: Props): JSX.Element {
  const name = textAt(user, 'name');
  return (
    <dl class="facts">
      {LISTS.map((list) => {
        const rules = at(at(user, 'whitelists'), list);
        return (
          <div key={list}>
            <dt>{list} allowed</dt>
            <dd class="row">
              {rules === undefined ? 'all' : textsOf(rules).length === 0 ? 'none' : null}
              {textsOf(rules).map((rule) => (
                <span key={rule} class="mono">
                  {rule}
                  {open === null ? null : (
                    <RowButton
                      text="✕"
                      about={`the rule ${rule} of ${name}`}
                      act={() => open(disallow(name, list, rule))}
                    />
                  )}
                </span>
              ))}
              {open === null ? null : (
                <RowButton
                  text={rules === undefined ? 'limit' : 'add'}
                  about={`${list} of ${name}`}
                  act={() => open(allow(name, list, rules === undefined))}
                />
              )}
              {open === null || rules === undefined ? null : (
                <RowButton
                  text="no limit"
                  about={`of ${list} of ${name}`}
                  act={() => open(removeList(name, list))}
                />
              )}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
