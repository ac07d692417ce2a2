/**
 * The history of the shell: a file of entries with several lines each, which open shells share. An entry is one line of the file, in JSON,
 * so that a line of code is never taken for another entry; what was torn by a crash is passed over.
 */

import { appendFileSync, chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { calledNames, LanguageError } from '@althing/language';
import { codeOf, messageOf } from '../system-error.js';

/** Entries that are kept; the file is cut when it has twice as many. */
export const ENTRIES_MAX = 10_000;
/** Longer entries are not kept. */
const ENTRY_LENGTH_MAX = 64 * 1024;

/** Calls whose arguments are secrets, or whose result is one. */
const SECRET_CALLS: ReadonlySet<string> = new Set([
  'set_password',
  'new_token',
  'import_user',
  'del_token',
  'new_node',
  'new_user',
]);

/** Where the history lies: `$XDG_STATE_HOME/althing/history`. */
export function historyPath(environment: Readonly<Record<string, string | undefined>>): string | null {
  const { HOME: home, XDG_STATE_HOME: state } = environment;
  if (state?.startsWith('/')) return `${state}/althing/history`;
  return home === undefined || home === '' ? null : `${home}/.local/state/althing/history`;
}

/**
 * True if an entry may be kept: not one that begins with a blank, and none with a call that handles secrets. A text that is no query
 * is kept unless it names such a call.
 */
export function mayBeKept(entry: string): boolean {
  if (entry.trim() === '' || /^\s/.test(entry) || entry.length > ENTRY_LENGTH_MAX) return false;
  try {
    return !calledNames(entry).some((name) => SECRET_CALLS.has(name));
  } catch (error) {
    if (!(error instanceof LanguageError)) throw error;
    return ![...SECRET_CALLS].some((name) => entry.includes(name));
  }
}

export class History {
  private kept: string[] = [];

  /**
   * @param path file of the history; null for one in memory
   * @param warn takes a line when the file can't be used
   */
  constructor(
    private readonly path: string | null,
    private readonly warn: (line: string) => void,
  ) {
    this.reload();
  }

  /** Entries, the oldest first, with those that other shells added before the last `reload`. */
  get entries(): readonly string[] {
    return this.kept;
  }

  add(entry: string): void {
    if (!mayBeKept(entry) || this.kept.at(-1) === entry) return;
    this.kept.push(entry);
    if (this.path === null) return;
    const line = `${JSON.stringify(entry)}\n`;
    this.guarded(this.path, (path) => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      // One write of one line: what two shells add at once does not mix.
      appendFileSync(path, line, { mode: 0o600 });
    });
  }

  /** Takes in what other shells added. */
  reload(): void {
    if (this.path === null) return;
    this.guarded(this.path, (path) => {
      const entries = readEntries(path);
      if (entries === null) return;
      this.kept = entries.slice(-ENTRIES_MAX);
      if (entries.length <= 2 * ENTRIES_MAX) return;
      const fresh = `${path}.${process.pid}`;
      writeFileSync(fresh, this.kept.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 });
      renameSync(fresh, path);
    });
  }

  private guarded(path: string, work: (path: string) => void): void {
    try {
      work(path);
    } catch (error) {
      this.warn(`the history can not be kept in ${path}: ${messageOf(error)}`);
    }
  }
}

function readEntries(path: string): string[] | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
  // Whoever made it: nobody else is to read it.
  chmodSync(path, 0o600);
  return text.split('\n').flatMap((line) => {
    try {
      const entry: unknown = JSON.parse(line);
      return typeof entry === 'string' ? [entry] : [];
    } catch {
      return [];
    }
  });
}
