/** The shell on a real node: scripts, and whole sessions on terminals. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeThatNeeds } from '@althing/node/testing/needs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { opensShell } from '../bare.js';
import { main } from '../program.js';
import { FakeIo } from '../testing.js';
import { type OwnNode, startOwnNode, TestTerminal } from './testing.js';

let node: OwnNode;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'althing-shell-test-'));
  node = await startOwnNode();
});

afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

function environment(): Record<string, string> {
  return {
    ALTHING_URL: node.url,
    ALTHING_USER: 'admin:pass',
    XDG_STATE_HOME: folder,
    XDG_CONFIG_HOME: folder,
    LC_ALL: 'C.UTF-8',
    NO_COLOR: '1',
  };
}

async function script(input: string | undefined, ...args: string[]) {
  const io = new FakeIo(environment(), input);
  const code = await main(['shell', ...args], io);
  return { code, output: io.output, errors: io.errors };
}

test('althing alone is the shell on a terminal where a node answers, and nowhere else', async () => {
  const opens = (url: string, ...terminals: ('stdin' | 'stdout')[]): Promise<boolean> => {
    const io = new FakeIo({ ...environment(), ALTHING_URL: url });
    for (const name of terminals) Object.assign(io[name], { isTTY: true });
    return opensShell(io);
  };
  expect(await opens(node.url, 'stdin', 'stdout')).toBe(true);
  expect(await opens(`http://127.0.0.1:1,${node.url}`, 'stdin', 'stdout')).toBe(true);
  expect(await opens('http://127.0.0.1:1', 'stdin', 'stdout')).toBe(false);
  expect(await opens('no url', 'stdin', 'stdout')).toBe(false);
  expect(await opens(node.url, 'stdin')).toBe(false);
  expect(await opens(node.url, 'stdout')).toBe(false);
  const io = new FakeIo(environment());
  expect([await main([], io), io.errors]).toEqual([2, expect.stringContaining('Usage: althing')]);
});

describe('scripts', () => {
  test('a query is run, and its result is printed', async () => {
    expect(await script(undefined, '//stuff', '-c', '[1, 1.0, "a"];')).toEqual({
      code: 0,
      output: '[1, 1.0, "a"]\n',
      errors: '',
    });
  });

  test('the standard input is a script', async () => {
    const { code, output } = await script('x = 20;\nx + 1;\n\\c @thingsdb\n1 + 1;\n', '//stuff');
    expect([code, output]).toEqual([0, '21\n2\n']);
  });

  test('a file takes effect as a whole or not at all, and the first error ends it', async () => {
    const file = join(folder, 'one.ti');
    writeFileSync(file, '.kept = 1;\n\\g\n.lost = 1;\nraise("stop");\n\\g\n.never = 1;\n');
    const { code, errors } = await script(undefined, '//stuff', '-f', file);
    expect(code).toBe(1);
    expect(errors).toContain(`${file}`);
    expect(errors).toContain('stop');
    expect(
      await script(undefined, '//stuff', '-c', "[.has('kept'), .has('lost'), .has('never')];"),
    ).toMatchObject({ output: '[true, false, false]\n' });
  });

  test('\\g sends the query before it, once', async () => {
    const { output } = await script('.sent = 0;\n\\g\n.sent += 1;\n\\g\n.sent;', '//stuff');
    expect(output).toBe('0\n1\n1\n');
  });

  test('errors are passed over with --keep-going, and still tell in the end', async () => {
    const { code, output } = await script('raise("one");\n\\g\n2;', '//stuff', '--keep-going');
    expect([code, output]).toEqual([1, '2\n']);
  });

  test.each([
    ['--json', '[{"name":"Ann"},{"name":"Ben"}]\n'],
    ['--table', 'name\n────\nAnn\nBen\n'],
    ['--csv', 'name\r\nAnn\r\nBen\n'],
  ])('results as %s', async (flag, output) => {
    const people = "[{name: 'Ann'}, {name: 'Ben'}].map(|p| p.wrap(&{name: 'str'}));";
    expect(await script(undefined, '//stuff', flag, '-c', people)).toMatchObject({ code: 0, output });
  });

  test('variables come from the command line, from \\set, and from results', async () => {
    const text = '\\set low 3\n\\set high = 2 * 5\nlow + high + given;\n\\g\n_ * 2;\n\\unset low\nlow;';
    const { code, output, errors } = await script(text, '//stuff', '--vars', '{"given": 1}');
    expect([code, output]).toEqual([1, '14\n28\n']);
    expect(errors).toContain('lookup_err');
  });

  test.each([
    ['\\dff', 'did you mean \\df?'],
    ['\\format xml', '\\format takes auto'],
    ['\\c', 'a scope, such as //stuff is missing'],
    ['\\set 1x 2', 'is no name of a variable'],
    ['\\e', 'needs a terminal'],
    ['\\i /none', "can't read /none"],
  ])('%s is wrong usage: %s', async (line, message) => {
    const { code, errors } = await script(line, '//stuff');
    expect([code, errors]).toEqual([2, expect.stringContaining(message)]);
  });

  test('a file that runs itself ends', async () => {
    const file = join(folder, 'loop.ti');
    writeFileSync(file, `\\i ${file}\n`);
    expect(await script(undefined, '//stuff', '-f', file)).toMatchObject({
      code: 2,
      errors: expect.stringContaining('20 deep'),
    });
  });

  test('\\ro lets the node refuse changes, as --read-only and ALTHING_READ_ONLY do', async () => {
    const text = '.ro = 1;\n\\ro on\n.ro;\n\\g\n\n.ro = 2;\n\\ro off\n.ro = 3;';
    const { code, output, errors } = await script(text, '//stuff', '--keep-going');
    expect([code, output]).toEqual([1, '1\n1\n3\n']);
    expect(errors).toContain('-:6: forbidden_err (-55): the request is read-only');
    for (const args of [['--read-only'], ['--url', `${node.url}`, '--read-only']]) {
      const refused = await script('.ro = 4;', '//stuff', ...args);
      expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining('read-only')]);
    }
  });

  test('\\try tells what a query would give and change, and changes nothing', async () => {
    const text =
      '.t = [1]; nil;\n\\g\n\\try .t.push({}, {}); future(|| nil); .t.len();\n\\try 1 + 1\n.t.len();';
    const { output, errors } = await script(text, '//stuff');
    expect(output).toBe('nil\n3\n2\n1\n');
    expect(errors).toContain('it would change things_added 2, items 2; futures that were not started: 1');
    expect(errors).toContain('it would change nothing');
    expect((await script('\\try .t.push(2)', '//stuff', '--json')).output).toBe(
      '{"result":2,"changes":{"items":1}}\n',
    );
  });

  test('\\explain tells what each statement takes and would change, and changes nothing', async () => {
    const text = '.e = [1]; nil;\n\\g\n\\explain for (i in range(3)) .e.push(i);\n.e.len();';
    const { output } = await script(text, '//stuff');
    expect(output).toMatch(/ 3 +0 .* 1:21 +\.e\.push\(i\)\n/);
    expect(output).toContain('1:21: changed items 3\n');
    expect(output.endsWith('\n1\n')).toBe(true);
    const failed = await script('\\explain 1 / 0', '//stuff', '--json');
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.output)).toMatchObject({ error: { name: 'zero_div_err', at: { column: 1 } } });
  });

  test('an error has its place in the file, also where a procedure failed that the file runs', async () => {
    const file = join(folder, 'places.ti');
    const code =
      "new_procedure('fails', |x| {\n  y = x;\n  y / 0;\n});\nnew_procedure('asks', |x| fails(x));";
    writeFileSync(file, `${code}\n\\g\n\n1;\n  asks(2);\n`);
    const { errors } = await script(undefined, '//stuff', '-f', file);
    expect(errors).toContain(`${file}:9:3: zero_div_err`);
    expect(errors).toMatch(
      /in procedure fails, line 3.*\ncalled in procedure asks, line 1.*\n\d+ \| {3}asks\(2\);\n +\| +\^{7}\n/,
    );
  });

  test('no node is an exit code of its own', async () => {
    expect(await script(undefined, '//stuff', '--url', 'http://127.0.0.1:1', '-c', '1;')).toMatchObject({
      code: 6,
    });
  });

  test('control characters of results do not reach the terminal', async () => {
    const { output } = await script(
      undefined,
      '//stuff',
      '-c',
      "x = bytes('x'); [`\u001b[2J`, {`a`: 1}.keys()];",
    );
    expect(output).not.toContain('\u001b');
  });
});

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
const onTerminals = describeThatNeeds('the shell on terminals', hasTmux ? null : 'tmux is not installed');

onTerminals('sessions on a terminal', () => {
  const open: TestTerminal[] = [];

  function start(size?: readonly [number, number], more: Record<string, string> = {}): TestTerminal {
    const terminal = TestTerminal.start(['//stuff'], { ...environment(), ...more }, size);
    open.push(terminal);
    return terminal;
  }

  afterEach(() => {
    for (const terminal of open.splice(0)) terminal.stop();
  });

  test('a query is typed over two lines, and answered', async () => {
    const terminal = start();
    await terminal.shows('//stuff>');
    terminal.type('[3, 1, 2].sort(');
    terminal.press('Enter');
    terminal.type('|a, b| b - a);');
    terminal.press('Enter');
    await terminal.shows('[3, 2, 1]');
    expect(terminal.screen()).toContain('//stuff> [3, 1, 2].sort(\n');
    terminal.press('C-d');
    expect(await terminal.exitCode()).toBe(0);
  });

  test('Tab completes functions, and properties that are there', async () => {
    await script(undefined, '//stuff', '-c', '.customers = []; .counter = 1;');
    const terminal = start();
    await terminal.shows('//stuff>');
    terminal.type('.cust');
    // Names come within a moment, or with the next Tab.
    await pressUntil(terminal, 'Tab', '.customers');
    terminal.press('C-c');
    terminal.type('randst');
    await pressUntil(terminal, 'Tab', 'randstr(');
  });

  test('a wide character takes two cells, and long lines wrap', async () => {
    const terminal = start([40, 10]);
    await terminal.shows('//stuff>');
    terminal.type(`'日本語 ${'x'.repeat(40)}';`);
    terminal.press('Enter');
    await terminal.shows('"日本語');
    const [first = ''] = terminal
      .screen()
      .split('\n')
      .filter((line) => line.includes('//stuff>'));
    expect(first).toMatch(/\/\/stuff> '日本語 x+$/);
  });

  test('a paste of 1,000 lines is not sent before Enter, and keeps its indents', async () => {
    const terminal = start();
    await terminal.shows('//stuff>');
    const lines = Array.from({ length: 998 }, (_, i) => `  ${i},`);
    terminal.paste(`[\n${lines.join('\n')}\n].len();`);
    await terminal.shows('].len();');
    expect(terminal.screen()).toContain('.   997,');
    terminal.press('Enter');
    await terminal.shows('998');
  });

  test('a paste that comes while a query runs waits for its end as a whole', async () => {
    const terminal = start();
    await terminal.shows('//stuff>');
    terminal.type('x = 0; for (i in range(500000)) x += i; x;');
    terminal.press('Enter');
    terminal.paste(`[\n${'  1,\n'.repeat(3000)}].len();`);
    await terminal.shows('].len();');
    terminal.press('Enter');
    await terminal.shows('3000');
  });

  test('a paste of 1 MB is there as a whole', async () => {
    const terminal = start();
    await terminal.shows('//stuff>');
    terminal.paste(`${`  '${'x'.repeat(60)}',\n`.repeat(16_000)}  'the end'`);
    await terminal.shows("'the end'");
    terminal.press('C-c');
    await terminal.shows('//stuff>');
  });

  test('a resize draws the prompt anew', async () => {
    const terminal = start();
    await terminal.shows('//stuff>');
    terminal.type(`'${'y'.repeat(50)}`);
    terminal.resize(40, 12);
    await terminal.shows('yyy');
    terminal.type("end'");
    terminal.press('Enter');
    await terminal.shows('end"');
  });

  test('Ctrl-C gives a query up that runs, and says what may have become of it', async () => {
    const terminal = start();
    await terminal.shows('//stuff>');
    terminal.type('\\watch 60');
    terminal.press('Enter');
    await terminal.shows('there was no query yet');
    terminal.type('1 + 1;');
    terminal.press('Enter');
    await terminal.shows('2');
    terminal.type('\\watch 60');
    terminal.press('Enter');
    terminal.press('C-c');
    terminal.type('40 + 2;');
    terminal.press('Enter');
    await terminal.shows('42');
  });

  test('a long result is paged', async () => {
    const terminal = start([80, 10], { PAGER: 'head -1; echo PAGED; cat >/dev/null' });
    await terminal.shows('//stuff>');
    terminal.type('range(100).map(|i| {i:});');
    terminal.press('Enter');
    await terminal.shows('PAGED');
  });

  test('two shells share their history, and secrets are not in it', async () => {
    const one = start();
    await one.shows('//stuff>');
    one.type('"remember me";');
    one.press('Enter');
    await one.shows('"remember me"\n');
    one.type("set_password('nobody', 'hidden');");
    one.press('Enter');
    await one.shows('lookup_err');
    const two = start();
    await two.shows('//stuff>');
    two.press('Up');
    await two.shows('"remember me";');
    two.press('C-c');
    two.press('C-r');
    two.type('reme');
    await two.shows('search: reme');
    two.press('Enter', 'Enter');
    await two.shows('"remember me"\n');
  });

  test('events of a room are printed above the prompt', async () => {
    await script(undefined, '//stuff', '-c', ".lobby = room(); .lobby.set_name('lobby');");
    const terminal = start();
    await terminal.shows('//stuff>');
    terminal.type('\\join lobby');
    terminal.press('Enter');
    await terminal.shows('lobby: joined');
    terminal.type('half a query');
    await script(undefined, '//stuff', '-c', "room('lobby').emit('greeting', 'hello', 5);");
    await terminal.shows('lobby: greeting "hello" 5');
    await terminal.shows('> half a query');
  });

  async function pressUntil(terminal: TestTerminal, key: string, text: string): Promise<void> {
    for (let i = 0; i < 20 && !terminal.screen().includes(text); i++) {
      terminal.press(key);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    await terminal.shows(text);
  }
});
