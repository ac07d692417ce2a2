/** The login: a user with a password, or a token. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { DEFAULT_PASSWORD, LoginError, lockReason, logIn, nodeName } from '../state/session.js';
import { pageSays } from '../state/settings.js';
import { Assembly, Choice, Field } from '../ui/parts.js';

type Way = 'password' | 'token';

export function Login(): JSX.Element {
  const [way, choose] = useState<Way>('password');
  const [user, setUser] = useState('admin');
  const [password, setPassword] = useState('');
  const [token, setToken] = useState('');
  const [error, fail] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [staysHere, stay] = useState(false);
  useEffect(() => void askNodeName(), []);

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    fail('');
    try {
      await logIn(way === 'password' ? { user, password } : { token: token.trim() }, staysHere);
    } catch (caught) {
      if (!(caught instanceof LoginError)) throw caught;
      fail(caught.message);
      setBusy(false);
    }
  };
  return (
    <div class="login">
      <main>
        <div class="brand">
          <h1>
            <Assembly size={40} />
            Althing
          </h1>
          <p class="quiet">
            {nodeName.value === ''
              ? 'A database that decides together.'
              : `Node ${nodeName.value} at ${location.host}`}
            <br />
            Version {pageSays('althing-version')}
          </p>
        </div>
        <form onSubmit={(event) => void submit(event)}>
          {lockReason.value === null ? null : <p class="notice">{lockReason.value}</p>}
          {isSecureContext ? null : (
            <p class="notice warn">This connection is not encrypted: the password can be read on the way.</p>
          )}
          <Choice
            label="How to log in"
            value={way}
            options={[
              ['password', 'User and password'],
              ['token', 'Token'],
            ]}
            choose={choose}
          />
          {way === 'password' ? (
            <>
              <Field label="User">
                <input
                  name="username"
                  autoComplete="username"
                  value={user}
                  onInput={(event) => setUser(event.currentTarget.value)}
                />
              </Field>
              <Field label="Password">
                <input
                  type="password"
                  name="password"
                  autoComplete="current-password"
                  value={password}
                  onInput={(event) => setPassword(event.currentTarget.value)}
                />
              </Field>
            </>
          ) : (
            <Field label="Token">
              <input
                type="password"
                name="token"
                autoComplete="off"
                value={token}
                onInput={(event) => setToken(event.currentTarget.value)}
              />
            </Field>
          )}
          {way === 'password' && password === DEFAULT_PASSWORD ? (
            <p class="notice warn">
              Every new cluster begins with this password: set another one, on the page Users.
            </p>
          ) : null}
          {error === '' ? null : (
            <p class="notice bad" role="alert">
              {error}
            </p>
          )}
          <label class="check">
            <input
              type="checkbox"
              checked={staysHere}
              onChange={(event) => stay(event.currentTarget.checked)}
            />
            Stay logged in here, in new windows, too
          </label>
          <div class="row">
            <button type="submit" class="main" disabled={isBusy}>
              Log in
            </button>
            <span class="quiet" role="status">
              {isBusy ? 'Asking the node …' : ''}
            </span>
          </div>
        </form>
      </main>
    </div>
  );
}

/** The node tells its name with every answer, also with that of this page. */
async function askNodeName(): Promise<void> {
  try {
    const answer = await fetch('./', { method: 'HEAD', credentials: 'omit', cache: 'no-store' });
    nodeName.value = answer.headers.get('Althing-Node') ?? '';
  } catch {
    // The login says it when the node is not there.
  }
}
