/** Tests of the shell share this: a node in a process of its own, and terminals that tmux plays. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Secrets } from '@althing/node/testing/secrets';

const PROGRAM = fileURLToPath(new URL('../../bin/althing.js', import.meta.url));
const PATIENCE_MS = 60_000;

/** A node with an empty data folder, and the user `admin` with the password `pass`. */
export interface OwnNode {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startOwnNode(): Promise<OwnNode> {
  const folder = mkdtempSync(join(tmpdir(), 'althing-shell-'));
  const ports = await freePorts(4);
  const [api, status, native, peers] = ports.map(String);
  const child = spawn(process.execPath, [PROGRAM, 'serve'], {
    stdio: 'ignore',
    env: {
      ...process.env,
      SERVICE_STORAGE_PATH: join(folder, 'data'),
      SERVICE_HTTP_API_PORT: api,
      SERVICE_HTTP_STATUS_PORT: status,
      SERVICE_LISTEN_CLIENT_PORT: native,
      SERVICE_LISTEN_NODE_PORT: peers,
    },
  });
  const ended = once(child, 'exit');
  await until('the node is ready', async () => {
    if (child.exitCode !== null) throw new Error(`the node ended with code ${child.exitCode}`);
    const answer = await fetch(`http://127.0.0.1:${status}/ready`).catch(() => null);
    return answer?.status === 200;
  });
  return {
    url: `http://127.0.0.1:${api}`,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => {
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('a server without a port');
    return address.port;
  });
  for (const server of servers) server.close();
  return ports;
}

/** Waits for a condition. */
export async function until(what: string, isThere: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await isThere())) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await pause(20);
  }
}

/** A terminal with a program in it. Each has a server of tmux of its own. */
export class TestTerminal {
  private constructor(
    private readonly socket: string,
    private readonly secrets: Secrets,
  ) {}

  static start(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    [columns, rows]: readonly [number, number] = [80, 24],
  ): TestTerminal {
    const folder = mkdtempSync(join(tmpdir(), 'althing-tmux-'));
    const terminal = new TestTerminal(join(folder, 'socket'), new Secrets(environment));
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    const command = ['env', ...variables, process.execPath, PROGRAM, 'shell', ...args];
    terminal.tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), ...command);
    terminal.tmux('set-option', '-g', 'remain-on-exit', 'on');
    return terminal;
  }

  /** Types text as it is. A semicolon at its end would be one of tmux. */
  type(text: string): void {
    this.tmux('send-keys', '-l', text.replace(/;$/, '\\;'));
  }

  /** Presses keys by the names of tmux: `Enter`, `Tab`, `C-c`, `M-Enter`, `Up`. */
  press(...keys: string[]): void {
    this.tmux('send-keys', ...keys);
  }

  /** Pastes text as a terminal does for programs that ask for it. */
  paste(text: string): void {
    execFileSync('tmux', ['-S', this.socket, 'load-buffer', '-'], { input: text });
    this.tmux('paste-buffer', '-p');
  }

  resize(columns: number, rows: number): void {
    this.tmux('resize-window', '-x', String(columns), '-y', String(rows));
  }

  /**
   * The text on the screen, without blanks at the ends of lines and lines at the end.
   *
   * @throws {Error} when a secret of the environment is there
   */
  screen(): string {
    const text = this.tmux('capture-pane', '-p').trimEnd();
    this.secrets.search(text);
    return text;
  }

  /** The last lines on the screen. */
  lines(count: number): string[] {
    return this.screen().split('\n').slice(-count);
  }

  async shows(text: string): Promise<void> {
    try {
      await until('', () => this.screen().includes(text));
    } catch {
      throw new Error(`${JSON.stringify(text)} is not on the screen:\n${this.screen()}`);
    }
  }

  /** Waits until the program has ended; gives its exit code. */
  async exitCode(): Promise<number> {
    await until(
      'the program has ended',
      () => this.tmux('display-message', '-p', '#{pane_dead}').trim() === '1',
    );
    return Number(this.tmux('display-message', '-p', '#{pane_dead_status}').trim());
  }

  stop(): void {
    try {
      this.tmux('kill-server');
    } catch {
      // It ended by itself with its last window.
    }
  }

  private tmux(...args: string[]): string {
    return execFileSync('tmux', ['-S', this.socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C.UTF-8' },
    });
  }
}
