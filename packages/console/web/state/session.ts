/** The login of the page, and its requests to the node. A login is a session of the node; the password is kept nowhere. */
import {
  AlthingError,
  AuthErr,
  type CallOptions,
  type Credentials,
  connect,
  type Database,
  type WireValue,
} from '@althing/client';
import { computed, signal } from '@preact/signals';
import { forgetNames } from './names.js';
import { forgetSession, keepSession, keptSession, readOnly } from './settings.js';
import { listAt, textAt } from './values.js';

export type Privilege = 'QUERY' | 'CHANGE' | 'GRANT' | 'JOIN' | 'RUN';

interface LoggedIn {
  readonly db: Database;
  readonly credentials: { readonly token: string };
  readonly user: string;
  /** Privileges by scope, as `user_info()` tells them; null where the user may not know. */
  readonly access: ReadonlyMap<string, ReadonlySet<Privilege>> | null;
}

/** A refused login. */
export class LoginError extends Error {}

const current = signal<LoggedIn | null>(null);

/** True if the pages are to be seen; a locked console keeps all its text. */
export const isLoggedIn = computed(() => current.value !== null);
export const userName = computed(() => current.value?.user ?? '');
/** The reason why the console was locked; null before, and while it is not. */
export const lockReason = signal<string | null>(null);
/** The password that every new cluster begins with. */
export const DEFAULT_PASSWORD = 'pass';
/** True if somebody logged in with it, since the page was loaded, and did not set another one here. */
export const isPasswordDefault = signal(false);
/** The node that answered last. */
export const nodeName = signal('');

/** True if the last question got no answer: a node that refuses something is there. */
export const isNodeAway = signal(false);
const UNANSWERED: readonly string[] = ['ConnectionError', 'OutcomeUnknownError'];
let answeredAt = 0;

/** The time of the last answer, in milliseconds since 1970. */
export function lastAnswerAt(): number {
  return answeredAt;
}

/** The API lies beside the console, whatever stands before both in the address. */
export const API = '../';

/** The longest time without input, in milliseconds. */
const IDLE_MS = 30 * 60_000;

/**
 * Begins a session, so that the password can be forgotten.
 *
 * @param staysHere whether a new window of this browser is logged in, too, until the session ends
 * @throws LoginError with the reason, for people
 */
export async function logIn(credentials: Credentials, staysHere: boolean): Promise<void> {
  try {
    keepSession(await enter(credentials), staysHere);
    isPasswordDefault.value = 'password' in credentials && credentials.password === DEFAULT_PASSWORD;
  } catch (error) {
    if (error instanceof AuthErr)
      throw new LoginError('No such user and password, or the token is not known.');
    throw new LoginError(error instanceof Error ? error.message : String(error));
  }
}

/** Goes on with the session that this window had before it was loaded again. */
export async function goOn(): Promise<void> {
  const token = keptSession();
  if (token === null) return;
  try {
    await enter({ token });
  } catch (error) {
    if (error instanceof AuthErr) forgetSession();
  }
}

/** @returns the token of the session */
async function enter(credentials: Credentials): Promise<string> {
  const db = connect(API, {
    hooks: {
      request: () => (readOnly.value ? READ_ONLY : undefined),
      answer: (_, answer) => {
        isNodeAway.value = answer.error !== null && UNANSWERED.includes(answer.error);
        if (!isNodeAway.value) answeredAt = Date.now();
        if (answer.node !== null) nodeName.value ||= new URL(answer.node).host;
      },
    },
  });
  const options = { timeoutMs: LOGIN_MS };
  const { token, user } = await ('token' in credentials
    ? db.$login(credentials, options)
    : db.$login(credentials.user, credentials.password, options));
  const info = await whoAmI(db);
  current.value = { db, credentials: { token }, user, access: info === null ? null : accessOf(info) };
  lockReason.value = null;
  lastInput = Date.now();
  return token;
}

/** Time that a login waits for the node, in milliseconds. */
const LOGIN_MS = 10_000;

/** Ends the session. */
export function logOut(reason: string | null = null): void {
  const before = current.value;
  if (before === null) return;
  lockReason.value = reason;
  current.value = null;
  isNodeAway.value = false;
  forgetNames();
  forgetSession();
  void before.db.$close();
}

/** For the worker that runs queries, which asks by itself. */
export function credentialsNow(): Credentials | null {
  return current.value?.credentials ?? null;
}

/** True if the user has a privilege on a scope such as `@collection:stuff`; true where that is not known: then the node says it. */
export function may(privilege: Privilege, scope: string): boolean {
  const access = current.value?.access;
  if (access === undefined || access === null) return current.value !== null;
  return access.get(scope)?.has(privilege) ?? false;
}

/** True if something may be changed there: by the user, and by the switch of the frame. */
export function mayChange(scope: string): boolean {
  return !readOnly.value && may('CHANGE', scope);
}

/**
 * Runs code in a scope, and gives the exact value.
 *
 * @throws AlthingError
 */
export async function ask(
  scope: string,
  code: string,
  vars: Readonly<Record<string, WireValue>> = {},
  options: CallOptions = {},
): Promise<WireValue> {
  const now = current.value;
  if (now === null) throw new LoginError('Nobody is logged in.');
  try {
    return await now.db
      .$scope(scope)
      .with({ ...options, exact: true })
      .query<WireValue>(code, vars);
  } catch (error) {
    noteRefusal(error);
    throw error;
  }
}

/**
 * Runs code in a scope, and takes all of it back.
 *
 * @returns how many of what it would change, by category
 * @throws AlthingError
 */
export async function tryOut(
  scope: string,
  code: string,
  vars: Readonly<Record<string, WireValue>> = {},
): Promise<Readonly<Record<string, number>>> {
  const trial = database().$scope(scope).with({ exact: true, dryRun: true });
  return (await trial.query(code, vars)).changes;
}

/** The connection itself, for rooms. */
export function database(): Database {
  const now = current.value;
  if (now === null) throw new LoginError('Nobody is logged in.');
  return now.db;
}

/** A login that is refused meanwhile locks the console. */
export function noteRefusal(error: unknown): void {
  if (error instanceof AuthErr)
    logOut('The login is not valid any more. Log in again to go on where you were.');
}

const READ_ONLY = { 'Althing-Read-Only': 'true' } as const;

/** Null for a user who may not even know that. */
async function whoAmI(db: Database): Promise<WireValue> {
  try {
    return await db.$root.with({ exact: true, timeoutMs: 10_000 }).query<WireValue>('user_info();');
  } catch (error) {
    if (error instanceof AlthingError && error.name === 'forbidden_err') return null;
    throw error;
  }
}

export const PRIVILEGES: readonly Privilege[] = ['QUERY', 'CHANGE', 'GRANT', 'JOIN', 'RUN'];

/** Privileges by scope, from `user_info()`: `FULL`, `USER`, or names with `|` between them. */
export function accessOf(info: WireValue): ReadonlyMap<string, ReadonlySet<Privilege>> {
  return new Map(
    listAt(info, 'access').map((each) => [textAt(each, 'scope'), privilegesOf(textAt(each, 'privileges'))]),
  );
}

export function privilegesOf(text: string): ReadonlySet<Privilege> {
  const words = text.split('|').map((word) => word.trim());
  return new Set(
    PRIVILEGES.filter(
      (each) =>
        words.includes('FULL') || words.includes(each) || (each !== 'GRANT' && words.includes('USER')),
    ),
  );
}

/** The interval at which a session is renewed while somebody types and nothing is asked, in milliseconds. */
const RENEWAL_MS = 5 * 60_000;

let lastInput = Date.now();
let lastRenewal = Date.now();
for (const kind of ['pointerdown', 'keydown'] as const)
  addEventListener(kind, () => (lastInput = Date.now()), true);
setInterval(() => {
  const now = current.value;
  if (now === null) return;
  const idleMs = Date.now() - lastInput;
  if (idleMs > IDLE_MS) logOut('Locked after 30 minutes without input. Nothing of what you wrote is lost.');
  else if (idleMs < RENEWAL_MS && Date.now() - lastRenewal > RENEWAL_MS) {
    lastRenewal = Date.now();
    // A failure shows with the next request.
    now.db.$login(now.credentials).catch(() => {});
  }
}, 10_000);
