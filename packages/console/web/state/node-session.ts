/** Sessions of the node (`/@session`), and where the browser keeps the token of one. */
import type { Credentials } from '@althing/client';

const PLACE = '../@session';
const KEPT = 'althing.console.session';

/** A session was not begun. */
export class SessionRefused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Exchanges credentials for the token of a session.
 *
 * @throws SessionRefused; TypeError when the node can't be reached
 */
export async function beginSession(credentials: Credentials): Promise<string> {
  const answer = await send('POST', authorizationOf(credentials));
  const body: unknown = await answer.json().catch(() => null);
  const token = fieldOf(body, 'token');
  if (answer.ok && typeof token === 'string') return token;
  const message = fieldOf(fieldOf(body, 'error'), 'message');
  throw new SessionRefused(
    answer.status,
    typeof message === 'string' ? message : `the node answered ${answer.status}`,
  );
}

/** Lets a session that is used last longer. A failure shows with the next request. */
export async function renewSession(token: string): Promise<void> {
  await send('POST', `Bearer ${token}`).catch(() => null);
}

/** Ends a session; one that the node hears nothing of ends by itself. */
export async function endSession(token: string): Promise<void> {
  await send('DELETE', `Bearer ${token}`).catch(() => null);
}

/** Keeps a token for this window, or for all of this browser. */
export function keepSession(token: string, forAll: boolean): void {
  try {
    (forAll ? localStorage : sessionStorage).setItem(KEPT, token);
  } catch {
    // Without it the login lasts as long as the page.
  }
}

export function keptSession(): string | null {
  try {
    return sessionStorage.getItem(KEPT) ?? localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

export function forgetSession(): void {
  try {
    sessionStorage.removeItem(KEPT);
    localStorage.removeItem(KEPT);
  } catch {
    // Nothing was kept.
  }
}

function send(method: 'POST' | 'DELETE', authorization: string): Promise<Response> {
  return fetch(PLACE, {
    method,
    headers: { Authorization: authorization, 'Content-Type': 'application/json' },
    body: '{}',
    // Otherwise a 401 makes the browser ask for a password by itself.
    credentials: 'omit',
    cache: 'no-store',
    keepalive: method === 'DELETE',
  });
}

function authorizationOf(credentials: Credentials): string {
  if ('token' in credentials) return `Bearer ${credentials.token}`;
  const bytes = new TextEncoder().encode(`${credentials.user}:${credentials.password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
