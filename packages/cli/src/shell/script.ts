/**
 * Scripts of the shell: a file is one query, and so takes effect as a whole or not at all; a line that begins with `\` ends the query
 * before it, and is a command (`\g` alone just sends). Within a text, comment or template of the code such a line is part of it.
 */
import { FIRST_LINE, tokenizeLine } from '@althing/language';

export interface ScriptPart {
  readonly kind: 'query' | 'command';
  readonly text: string;
  /** Line of the file that it begins with, from 1. */
  readonly line: number;
}

/** The parts of a script in their order. Queries without code are left out. */
export function scriptParts(source: string): ScriptPart[] {
  const parts: ScriptPart[] = [];
  const lines = source.replace(/^\ufeff/, '').split('\n');
  // The line by which the system finds the program is no code.
  if (lines[0]?.startsWith('#!')) lines[0] = '';
  let state = FIRST_LINE;
  let code: string[] = [];
  let begin = 1;
  const endQuery = (next: number): void => {
    const text = code.join('\n');
    const blank = /^(?:\s*\n)*/.exec(text)?.[0] ?? '';
    if (text.trim() !== '') {
      const skipped = blank.split('\n').length - 1;
      parts.push({ kind: 'query', text: text.slice(blank.length), line: begin + skipped });
    }
    code = [];
    begin = next;
    state = FIRST_LINE;
  };
  for (const [index, line] of lines.entries()) {
    const number = index + 1;
    if (state.open === '' && line.startsWith('\\')) {
      endQuery(number + 1);
      parts.push({ kind: 'command', text: line.trimEnd(), line: number });
    } else {
      state = tokenizeLine(line, state).state;
      code.push(line);
    }
  }
  endQuery(lines.length + 1);
  return parts;
}
