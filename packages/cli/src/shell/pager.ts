/** Other programs that the shell has do something: a pager, an editor, a command line. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Io } from '../io.js';

/** Cells that a text takes more than a screen of. */
export function needsPager(text: string, rows: number): boolean {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    lines += 1;
    if (lines > rows) return true;
  }
  return false;
}

/**
 * Shows a text by `$PAGER`, or `less -FRSX`.
 *
 * @returns false when there is no such program: the text was not shown
 */
export async function page(text: string, io: Io): Promise<boolean> {
  const command = io.environment.PAGER ?? '';
  const code = await runCommand(command === '' ? 'less -FRSX' : command, io, text);
  return code !== COMMAND_NOT_FOUND;
}

/**
 * Has `$EDITOR` edit a text.
 *
 * @returns the text as it is afterwards; null when the editor failed
 */
export async function edit(text: string, io: Io): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), 'althing-'));
  const file = join(folder, 'query.ti');
  try {
    writeFileSync(file, text, { mode: 0o600 });
    const editor = io.environment.VISUAL ?? io.environment.EDITOR ?? 'vi';
    const code = await runCommand(`${editor} "$1"`, io, null, [file]);
    return code === 0 ? readFileSync(file, 'utf8').replace(/\n$/, '') : null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const COMMAND_NOT_FOUND = 127;

/**
 * Runs a command line by the shell of the system, on the terminal.
 *
 * @param input what it reads; null for the terminal
 * @param args `$1` and so on
 * @returns its exit code; 127 when there is no such program
 */
export function runCommand(
  command: string,
  io: Io,
  input: string | null,
  args: readonly string[] = [],
): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command, 'sh', ...args], {
      stdio: [input === null ? 'inherit' : 'pipe', 'inherit', 'inherit'],
      env: { ...io.environment },
    });
    child.on('error', () => resolve(COMMAND_NOT_FOUND));
    child.on('close', (code) => resolve(code ?? COMMAND_NOT_FOUND));
    // A pager that is quit reads no further.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}
