/**
 * The configuration file.
 *
 *     file    = *line
 *     line    = blank / comment / section / entry
 *     comment = ("#" / ";") text            ; after blanks; nothing may follow a value on its line
 *     section = "[" text "]"                ; allowed and ignored
 *     entry   = key "=" value               ; blanks around both are dropped; no quotes; inner blanks are kept
 *
 * Lines end with LF or CRLF, the text is UTF-8, a byte order mark is skipped.
 */
import { type ConfigurationProblem, shown } from './problem.js';

/** A `key = value` line. */
export interface FileEntry {
  readonly key: string;
  readonly value: string;
  /** Counted from 1. */
  readonly line: number;
}

/** The entries of a file, by key, and what is wrong with its lines. */
export interface ParsedFile {
  readonly entries: ReadonlyMap<string, FileEntry>;
  readonly problems: readonly ConfigurationProblem[];
}

/** Splits a configuration file into its entries. Keys and values are not judged here. */
export function parseFile(name: string, text: string): ParsedFile {
  const entries = new Map<string, FileEntry>();
  const problems: ConfigurationProblem[] = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (const [index, raw] of lines.entries()) {
    const line = index + 1;
    const content = raw.trim();
    if (content === '' || content.startsWith('#') || content.startsWith(';')) continue;
    if (content.startsWith('[') && content.endsWith(']')) continue;
    const equals = content.indexOf('=');
    const key = content.slice(0, Math.max(equals, 0)).trim();
    if (key === '') {
      problems.push({ message: `${name} line ${line}: ${shown(content)} is not of the form "key = value"` });
      continue;
    }
    const earlier = entries.get(key);
    if (earlier !== undefined) {
      problems.push({
        key,
        message: `${name} line ${line}: ${shown(key)} was set in line ${earlier.line} already; remove one of the two`,
      });
      continue;
    }
    entries.set(key, { key, value: content.slice(equals + 1).trim(), line });
  }
  return { entries, problems };
}
