import type { Login } from '../auth/authenticator.js';
import { LEAVING } from '../http/refusals.js';
import { WRONG_CREDENTIALS } from './answers.js';
import type { ConnectionHost } from './connection-host.js';
import { readAuth } from './requests.js';
import type { Wire } from './wire.js';

/**
 * Judges the credentials of a package AUTH, at once or later.
 *
 * @param isFirst whether the connection is not logged in yet
 * @throws QueryError where nobody is served, or the data are no credentials
 */
export function judgeLogin(
  { authenticator, gate }: Pick<ConnectionHost, 'authenticator' | 'gate'>,
  { address, transport }: Pick<Wire, 'address' | 'transport'>,
  { data, isFirst }: { readonly data: Buffer; readonly isFirst: boolean },
  judged: (login: Login, authorization: string) => void,
): void {
  const authorization = readAuth(data);
  const problem = gate.stale ?? gate.refusal ?? (gate.isLeaving && isFirst ? LEAVING : null);
  if (problem !== null) throw problem;
  if (authorization === null) throw WRONG_CREDENTIALS;
  const done = (login: Login): void => judged(login, authorization);
  const known = authenticator.known(authorization, () => address, transport);
  if (known !== null) done({ kind: 'user', ...known });
  else authenticator.login(authorization, address, { done, transport });
}
