/** Settings of this browser, and what the page says of itself. */
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const PREFIX = 'althing.console.';

/** The text that is kept under a name; null for none, or where the browser keeps nothing. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** Keeps a text under a name; null forgets it. A browser that keeps nothing is no failure. */
export function keep(name: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, text);
  } catch {
    // Private windows, or full: the text lives as long as the page.
  }
}

const SHARED = 'shared';

/** True if others use this browser, too: then what is written is kept for its window alone, and is gone when that is closed. */
export const isShared = signal(kept(SHARED) === 'yes');

effect(() => keep(SHARED, isShared.value ? 'yes' : null));

// Other windows keep theirs there, too.
addEventListener('storage', ({ key, newValue }) => {
  if (key === PREFIX + SHARED) isShared.value = newValue === 'yes';
});

/** The text that was written, as {@link keepText} kept it. */
export function keptText(name: string): string | null {
  try {
    return (isShared.peek() ? sessionStorage : localStorage).getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** Keeps what was written, in one place alone. */
export function keepText(name: string, text: string): void {
  try {
    const [to, other] = isShared.peek() ? [sessionStorage, localStorage] : [localStorage, sessionStorage];
    other.removeItem(PREFIX + name);
    to.setItem(PREFIX + name, text);
  } catch {
    // As above.
  }
}

const SESSION = `${PREFIX}session`;

/** Keeps the token of a session for this window, or for all of this browser. */
export function keepSession(token: string, forAll: boolean): void {
  try {
    (forAll ? localStorage : sessionStorage).setItem(SESSION, token);
  } catch {
    // Without it the login lasts as long as the page.
  }
}

export function keptSession(): string | null {
  try {
    return sessionStorage.getItem(SESSION) ?? localStorage.getItem(SESSION);
  } catch {
    return null;
  }
}

export function forgetSession(): void {
  try {
    sessionStorage.removeItem(SESSION);
    localStorage.removeItem(SESSION);
  } catch {
    // Nothing was kept.
  }
}

/** The content of a `<meta>` of the page. */
export function pageSays(name: string): string {
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? '';
}

/** True if the node serves a console that changes nothing (`console = read_only`). */
export const isReadOnlyForGood = pageSays('althing-console') === 'read_only';

/** The cluster is marked as production (`console = production`): each window begins read-only. */
export const isProduction = pageSays('althing-console') === 'production';

/** True if this page refuses to change anything. */
export const readOnly = signal(isReadOnlyForGood || isProduction || kept('readOnly') === 'yes');

const keptTheme = kept('theme');
export const theme = signal<Theme>(keptTheme === 'light' || keptTheme === 'dark' ? keptTheme : 'system');

effect(() => {
  const { value } = theme;
  document.documentElement.dataset.theme = value;
  keep('theme', value === 'system' ? null : value);
});

effect(() => {
  if (!isReadOnlyForGood && !isProduction) keep('readOnly', readOnly.value ? 'yes' : null);
});
