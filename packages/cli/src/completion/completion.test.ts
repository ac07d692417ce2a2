/** The scripts of `althing completion`, run by the shells that they are for. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { main } from '../program.js';
import { FakeIo } from '../testing.js';

const COMMANDS = ['serve', 'query', 'shell', 'cluster', 'backup', 'completion', 'help'];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'althing-completion-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function printed(...args: string[]): Promise<{ code: number; output: string; errors: string }> {
  const io = new FakeIo();
  const code = await main(args, io);
  return { code, output: io.output, errors: io.errors };
}

async function scriptFile(shell: string): Promise<string> {
  const { code, output } = await printed('completion', shell);
  expect(code).toBe(0);
  const path = join(folder, `althing.${shell}`);
  writeFileSync(path, output);
  return path;
}

/** The lines that a program prints. */
function run(program: string, ...args: string[]): string[] {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', cwd: folder });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.split('\n').filter((line) => line !== '');
}

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

/** The words that a shell offers behind `althing` and some words, the last of which may be begun. */
const OFFERS: Readonly<Record<string, (path: string, words: readonly string[]) => string[]>> = {
  bash: (path, words) =>
    run(
      'bash',
      '--norc',
      '-c',
      `source "$1"; shift; COMP_WORDS=(althing "$@"); COMP_CWORD=$#; _althing; printf "%s\\n" "\${COMPREPLY[@]}"`,
      'bash',
      path,
      ...words,
    ),
  // Stands in for zsh's completion system, which needs a terminal.
  zsh: (path, words) =>
    run(
      'zsh',
      '-f',
      '-c',
      [
        'compdef() {}; _files() {}; compadd() { shift; print -l -- "$@" }',
        `_describe() { for word in "\${(@P)2}"; do print -- "\${word%%:*}"; done }`,
        'source "$1"; shift; words=(althing "$@"); CURRENT=$(($# + 1)); _althing',
      ].join('\n'),
      'zsh',
      path,
      ...words,
    ).filter((word) => word.startsWith(words.at(-1) ?? '')),
  fish: (path, words) =>
    run(
      'fish',
      '--no-config',
      '-c',
      'source $argv[1]; complete -C "$argv[2]"',
      path,
      ['althing', ...words].join(' '),
    ).map((line) => line.split('\t')[0] ?? ''),
};

describe.each(Object.entries(OFFERS).filter(([shell]) => shell === 'bash' || has(shell)))(
  'words in %s',
  (shell, offers) => {
    test('commands, their options and the commands below them are completed', async () => {
      const path = await scriptFile(shell);
      expect(offers(path, [''])).toEqual(expect.arrayContaining(COMMANDS));
      expect(offers(path, ['qu'])).toEqual(['query']);
      expect(offers(path, ['cluster', 'sta'])).toEqual(['status']);
      expect(offers(path, ['query', '--url', 'http://x', '--tok'])).toEqual(['--token', '--token-file']);
      expect(offers(path, ['cluster', 'status', '--ur'])).toEqual(['--url']);
      expect(offers(path, ['completion', '--he'])).toEqual(['--help']);
    });

    test('values that are one of a few are completed, and others are left to the shell', async () => {
      const path = await scriptFile(shell);
      expect(offers(path, ['completion', 'f'])).toEqual(['fish']);
      expect(offers(path, ['cluster', 'status', '--format', ''])).toEqual(expect.arrayContaining(['json']));
      writeFileSync(join(folder, 'a-token'), '');
      const files = offers(path, ['query', '--token-file', 'a-tok']);
      expect(shell === 'bash' ? files : files.filter((file) => file !== 'a-token')).toEqual([]);
    });
  },
);

test.each([['zsh'], ['fish'], ['bash']].filter(([shell = '']) => has(shell)))(
  '%s finds no fault in the script',
  async (shell) => {
    expect(run(shell, '-n', await scriptFile(shell))).toEqual([]);
  },
);

test('each command that the help shows is in the scripts of all shells', async () => {
  const help = (await printed('--help')).output;
  const commands = [...help.matchAll(/^ {2}([a-z]+) /gm)].map((match) => match[1] ?? '');
  expect(commands).toEqual(expect.arrayContaining(COMMANDS));
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { output } = await printed('completion', shell);
    for (const command of commands) expect(output).toContain(command);
  }
});

test('another shell is wrong usage', async () => {
  const { code, errors } = await printed('completion', 'tcsh');
  expect(code).toBe(2);
  expect(errors).toContain('bash, zsh, fish');
});
