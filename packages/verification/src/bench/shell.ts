/**
 * The speed of the shell for somebody at a terminal: a real one of `script` (util-linux), with a real node. Times are by the clock on the wall,
 * so they are those of an idle machine or of none; the processor time of a key is there beside, which others do not change.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startNode } from '../harness/start-node.js';
import { median } from '../harness/table.js';
import { cpuTimeUs } from './cpu.js';
import { type Figure, figure } from './figures.js';

const PROGRAM = fileURLToPath(new URL('../../../cli/bin/althing.js', import.meta.url));
const LINES = 500;
const KEYS = 100;
const PASTE_BYTES = 1024 ** 2;
/** Under the limit of results, of which this is nearly all. */
const ROWS = 100_000;
const ROW_TEXT = 'x'.repeat(190);
/** Silence after which all is drawn. */
const CALM_MS = 30;
const PATIENCE_MS = 60_000;

export async function benchShell(starts: number): Promise<Figure[]> {
  // On a busy machine the query of 20 MB takes longer than queries may by default.
  const node = await startNode({ settings: { query_duration_limit_ms: '30000' } });
  const folder = mkdtempSync(join(tmpdir(), 'althing-bench-'));
  const open = (): TerminalShell => new TerminalShell(node.url, folder);
  try {
    // The first start reads the program from the disk.
    const readyMs: number[] = [];
    for (let i = 0; i <= starts; i++) {
      const shell = open();
      const ms = await shell.until('> ');
      if (i > 0) readyMs.push(ms);
      shell.stop();
    }
    return [
      figure('ready', 'ms', median(readyMs), 400),
      ...(await keys(open())),
      figure('paste of 1 MB', 'ms', await paste(open()), 1000),
      figure('first page of 20 MB', 'ms', await firstPage(open()), 1000),
    ];
  } finally {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function keys(shell: TerminalShell): Promise<Figure[]> {
  await shell.until('> ');
  const line = "range(10).filter(|x| x > 3 && 'text'.len() > 1);";
  shell.paste(Array.from({ length: LINES }, () => line).join('\n'));
  await shell.calm();
  const keyMs: number[] = [];
  const before = shell.cpuMs;
  for (let i = 0; i < KEYS; i++) {
    shell.type('x');
    keyMs.push(await shell.calm());
  }
  const keyCpuMs = (shell.cpuMs - before) / KEYS;
  shell.stop();
  return [
    figure(`key to screen, ${LINES} lines`, 'ms', median(keyMs), 10),
    figure('its processor time', 'ms', keyCpuMs),
  ];
}

async function paste(shell: TerminalShell): Promise<number> {
  await shell.until('> ');
  const line = `.add('${'x'.repeat(80)}');\n`;
  shell.paste(`${line.repeat(PASTE_BYTES / line.length)}THE_END`);
  const pasteMs = await shell.until('THE_END');
  shell.stop();
  return pasteMs;
}

async function firstPage(shell: TerminalShell): Promise<number> {
  await shell.until('> ');
  shell.type(`range(${ROWS}).map(|i| 'row ' + str(i) + ' ${ROW_TEXT}');`);
  await shell.calm();
  shell.type('\r');
  const firstPageMs = await shell.until('row 9 ');
  shell.stop();
  return firstPageMs;
}

/** The shell on a terminal of 80 columns and 24 rows. */
class TerminalShell {
  readonly #process: ChildProcessWithoutNullStreams;
  /** The output since something was typed. */
  #output = '';
  #typedAt = performance.now();
  #lastAt = 0;

  constructor(url: string, home: string) {
    const command = `stty rows 24 cols 80; exec '${process.execPath}' '${PROGRAM}' shell`;
    this.#process = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
      env: {
        PATH: process.env.PATH,
        HOME: home,
        TERM: 'xterm-256color',
        SHELL: '/bin/sh',
        ALTHING_URL: url,
        ALTHING_USER: 'admin',
        ALTHING_PASSWORD: 'pass',
      },
    });
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
      this.#lastAt = performance.now();
    });
  }

  /** Processor time of the shell until now: the program is a child of `script`. */
  get cpuMs(): number {
    const { pid = 0 } = this.#process;
    const child = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return (cpuTimeUs([Number(child)]) ?? Number.NaN) / 1000;
  }

  type(text: string): void {
    this.#output = '';
    this.#lastAt = 0;
    this.#typedAt = performance.now();
    this.#process.stdin.write(text);
  }

  paste(text: string): void {
    this.type(`\u001b[200~${text.replaceAll('\n', '\r')}\u001b[201~`);
  }

  /** Waits for a text; gives the milliseconds until it came, from what was typed last. */
  async until(text: string): Promise<number> {
    await this.#wait(`${text} is shown`, () => this.#output.includes(text));
    return this.#lastAt - this.#typedAt;
  }

  /** Waits until all is drawn; gives the milliseconds that it took. */
  async calm(): Promise<number> {
    await this.#wait(
      'something is drawn',
      () => this.#lastAt > 0 && performance.now() - this.#lastAt > CALM_MS,
    );
    return this.#lastAt - this.#typedAt;
  }

  stop(): void {
    this.#process.kill('SIGKILL');
  }

  async #wait(what: string, isThere: () => boolean): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while (!isThere()) {
      if (performance.now() > end)
        throw new Error(`waited in vain until ${what}: ${this.#output.slice(-300)}`);
      await pause(1);
    }
  }
}
