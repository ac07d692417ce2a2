import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const MODULE = new URL('./hidden-variables.js', import.meta.url).href;
const onLinux = process.platform === 'linux' ? test : test.skip;

/** The environment as a process and its child see it once it has hidden some variables. */
function seen(environment: Record<string, string>, hidden: readonly string[]): Record<string, string> {
  const code = `
    import { spawnSync } from 'node:child_process';
    import { Worker } from 'node:worker_threads';
    const { hideVariables } = await import(process.argv[1]);
    const done = hideVariables(${JSON.stringify(hidden)});
    const child = spawnSync('/bin/sh', ['-c', 'tr "\\\\0" "\\\\n" < /proc/$PPID/environ; echo; env'], { encoding: 'utf8' });
    const worker = new Worker("require('node:worker_threads').parentPort.postMessage({ ...process.env })", { eval: true, execArgv: [] });
    worker.on('message', (inWorker) => {
      console.log(JSON.stringify({ done: String(done), outside: child.stdout, inside: JSON.stringify([process.env, inWorker]) }));
    });`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code, MODULE], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', ...environment },
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

onLinux('a hidden variable is gone for the process, its threads, and those who read its environment', () => {
  const environment = {
    FIRST: 'before',
    A_SECRET: 'hush, hush',
    ANOTHER: 'hush ü',
    LAST: 'after',
    A_SECRET_FILE: 'path',
  };
  const { done, outside, inside } = seen(environment, ['A_SECRET', 'ANOTHER', 'NOT_THERE']);
  expect(done).toBe('true');
  for (const text of [outside, inside]) {
    expect(text).not.toContain('hush');
    for (const kept of ['before', 'after', 'path']) expect(text).toContain(kept);
  }
});

test('a process without the variables has nothing to hide', () => {
  expect(seen({ FIRST: 'before' }, ['A_SECRET']).done).toBe('true');
});

onLinux('a node has no secret in its environment once it runs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'althing-hidden-'));
  const none = ['--http-api-port', '0', '--http-status-port', '0', '--listen-client-port', '0'];
  const child = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('../bin/althing.js', import.meta.url)),
      'serve',
      '--storage-path',
      folder,
      ...none,
    ],
    {
      env: { PATH: process.env.PATH ?? '', SERVICE_ADMIN_PASSWORD: 'hush, hush', SERVICE_LOG_LEVEL: 'info' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  try {
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const environment = readFileSync(`/proc/${child.pid}/environ`, 'latin1');
    expect(environment).toContain('SERVICE_LOG_LEVEL=info');
    expect(environment).not.toContain('hush');
  } finally {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
});
