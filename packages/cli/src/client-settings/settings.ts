/**
 * The settings of all commands that ask a node: each by a flag, a variable or a profile of the configuration file, in that order.
 */
export interface ClientSetting {
  /** Its key in a profile; the variable is `ALTHING_` and the same in capitals. */
  readonly key: string;
  /** Its flag, as commander names the option; null when it has none. */
  readonly option: string | null;
  readonly fallback: string | null;
  readonly isSecret: boolean;
  /** One line. */
  readonly doc: string;
}

function setting(
  key: string,
  option: string | null,
  doc: string,
  { fallback, isSecret = false }: { readonly fallback?: string; readonly isSecret?: boolean } = {},
): ClientSetting {
  return { key, option, fallback: fallback ?? null, isSecret, doc };
}

export const CLIENT_SETTINGS: readonly ClientSetting[] = [
  setting('url', 'url', 'the nodes: one URL, or several separated by commas', {
    fallback: 'http://127.0.0.1:9210',
  }),
  setting('token', 'token', 'token to log in with', { isSecret: true }),
  setting('token_file', 'tokenFile', 'file that holds the token'),
  setting('user', 'user', 'user to log in as'),
  setting('password', null, 'password of the user', { isSecret: true }),
  setting('password_file', 'passwordFile', 'file that holds the password'),
  setting('scope', null, 'where, when no scope is given', { fallback: '@thingsdb' }),
  setting('tls_ca_file', 'tlsCaFile', 'authorities (PEM) to trust with https'),
  setting('tls_cert_file', 'tlsCertFile', 'certificate (PEM) for nodes that want one of clients'),
  setting('tls_key_file', 'tlsKeyFile', 'its private key (PEM)'),
  setting('timeout', 'timeout', 'seconds to wait for an answer', { fallback: '60' }),
  setting('read_only', 'readOnly', 'true: the nodes refuse what would change something', {
    fallback: 'false',
  }),
];

export function variableOf({ key }: Pick<ClientSetting, 'key'>): string {
  return `ALTHING_${key.toUpperCase()}`;
}
