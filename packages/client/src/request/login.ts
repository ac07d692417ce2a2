/** The login of a client: given credentials, or those of `credentials()`, which is asked once for all calls that wait for it. */
import type { Credentials } from '../api/options.js';
import { base64Of } from '../wire/base64.js';

export class Login {
  readonly #ask: (() => Credentials | Promise<Credentials>) | null;
  #known: Credentials | null;
  #asking: Promise<Credentials> | null = null;
  /** Texts that must not show in any message. */
  readonly #secrets = new Set<string>();

  constructor(known: Credentials | null, ask: (() => Credentials | Promise<Credentials>) | null) {
    this.#known = known;
    this.#ask = ask;
    if (known !== null) this.hide(known);
  }

  /** The credentials, at once where they are known; null for none. */
  current(): Credentials | null | Promise<Credentials> {
    if (this.#known !== null || this.#ask === null) return this.#known;
    return this.#asked(this.#ask);
  }

  /** Takes these from now on. */
  become(credentials: Credentials): void {
    this.#known = credentials;
  }

  get canRenew(): boolean {
    return this.#ask !== null;
  }

  /** A node refused credentials: asks for new ones, unless somebody did since. */
  refused(credentials: Credentials | null): void {
    if (this.#ask !== null && this.#known === credentials) this.#known = null;
  }

  /** A text of others, without anything that is secret here. */
  redacted(text: string): string {
    let clean = text;
    for (const secret of this.#secrets) clean = clean.replaceAll(secret, '***');
    return clean;
  }

  /** Credentials whose secret must not show in any message. */
  hide(credentials: Credentials): void {
    // A server that sends headers back shows a password in the form that it has in them.
    const texts = authorizationOf(credentials).split(' ').slice(1);
    if ('password' in credentials) texts.push(credentials.password);
    // One of a few letters would take whole words out of messages, and is no secret.
    for (const text of texts) if (text.length >= SECRET_LENGTH_MIN) this.#secrets.add(text);
    if (this.#secrets.size > SECRETS_MAX) this.#secrets.delete([...this.#secrets][0] ?? '');
  }

  async #asked(ask: () => Credentials | Promise<Credentials>): Promise<Credentials> {
    this.#asking ??= (async () => {
      try {
        this.#known = checkedCredentials(await ask());
        this.hide(this.#known);
        return this.#known;
      } finally {
        this.#asking = null;
      }
    })();
    return this.#asking;
  }
}

const SECRET_LENGTH_MIN = 6;
const SECRETS_MAX = 8;

/** The header by which who asks logs in. */
export function authorizationOf(credentials: Credentials): string {
  if ('token' in credentials) return `Bearer ${credentials.token}`;
  const { user, password } = credentials;
  return `Basic ${base64Of(new TextEncoder().encode(`${user}:${password}`))}`;
}

/** @throws {TypeError} for what no header can carry; the text does not show it */
export function checkedCredentials(credentials: Credentials): Credentials {
  if ('token' in credentials) {
    if (!/^[\x21-\x7e]{1,200}$/.test(credentials.token)) {
      throw new TypeError('a token has 1 to 200 ASCII characters, and no blanks');
    }
    return credentials;
  }
  if (typeof credentials.user !== 'string' || typeof credentials.password !== 'string') {
    throw new TypeError('credentials are {token}, or {user, password}');
  }
  return credentials;
}
