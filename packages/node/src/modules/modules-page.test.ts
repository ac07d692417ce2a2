/** The examples of docs/modules.md, run in order on a real node, with the module that is written there. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RealNode } from '../testing/real-node.js';
import { until } from '../testing/until.js';

const page = readFileSync(new URL('../../../../docs/modules.md', import.meta.url), 'utf8');

const blocks = [...page.matchAll(/```(js|json|ti root|ti collection)\n([\s\S]*?)```/g)].map(
  ([, kind = '', text = '']) => ({ kind, text }),
);

const [script, manifest] = ['js', 'json'].map(
  (kind) => blocks.find((block) => block.kind === kind)?.text ?? '',
);

const examples = blocks
  .filter(({ kind }) => kind.startsWith('ti '))
  .flatMap(({ kind, text }) =>
    text
      .trim()
      .split('\n')
      .map((line) => [kind === 'ti root' ? '/t' : '//stuff', line] as const),
  );

let node: RealNode;
let modules: string;

beforeAll(async () => {
  modules = mkdtempSync(join(tmpdir(), 'althing-modules-'));
  const folder = join(modules, 'WORDS');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'words.cjs'), script ?? '', { mode: 0o700 });
  writeFileSync(join(folder, 'module.json'), manifest ?? '');
  symlinkSync(
    fileURLToPath(new URL('../../../../node_modules', import.meta.url)),
    join(folder, 'node_modules'),
  );
  node = await RealNode.start({ enable_modules: 'local', modules_path: modules });
});

afterAll(async () => {
  await node.kill();
  rmSync(modules, { recursive: true, force: true });
});

/** Pids of the processes that run the module. */
function processes(): string[] {
  const all = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' });
  return all.split('\n').filter((line) => line.includes(join(modules, 'WORDS')));
}

function isAlive(pid: string): boolean {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch {
    return false;
  }
}

describe('the page on modules', () => {
  test('has examples', () => {
    expect(examples.length).toBeGreaterThan(20);
  });

  test.each(examples)('%s: %s', async (scope, line) => {
    const [code = '', expected = ''] = line.split(' // ');
    if (scope === '//stuff' && expected !== 'error forbidden_err') {
      await until(
        async () => (await node.value('/n', "module_info('WORDS').load().status;")) === 'running',
        'it runs',
      );
    }
    const answer = await node.query(scope, code);
    if (expected.startsWith('error ')) {
      expect(`error ${answer.error.name}`).toBe(expected);
    } else expect([answer.status, answer.json]).toEqual([200, JSON.parse(expected)]);
  });

  test('holds: who waits is answered when the node stops, and nothing outlives a node that is killed', async () => {
    const folder = join(modules, 'SILENT');
    mkdirSync(folder, { mode: 0o700 });
    // It reads nothing, so it does not learn that its node is gone.
    // On Linux it leaves a process outside of its group, which no other test has.
    const left = `sleep ${1_000_000 + process.pid}`;
    const leaves = process.platform === 'linux' ? `setsid ${left} </dev/null >/dev/null 2>&1 &\n` : '';
    // It takes the mark of the module off, so it is known by its group alone.
    const runs = 'exec env -u ALTHING_MODULE sleep 1000 </dev/null\n';
    writeFileSync(join(folder, 'run'), `#!/bin/sh\n${leaves}${runs}`, { mode: 0o700 });
    const isLeft = (): boolean =>
      execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n').includes(left);
    const settings = { enable_modules: 'local', modules_path: modules } as const;
    const other = await RealNode.start(settings);
    const { pid } = other;
    await other.value('/t', "new_module('SILENT', 'run');");
    const children = (): string[] => {
      const all = execFileSync('ps', ['-eo', 'ppid,pid,args'], { encoding: 'utf8' }).split('\n');
      return all.filter((line) => line.trim().startsWith(`${pid} `) && line.includes('sleep 1000'));
    };
    await until(() => children().length === 1, 'it runs');
    const [, group = ''] = (children()[0] ?? '').trim().split(/ +/);
    const asked = other.query('//stuff', '.x = 1; SILENT({});');
    await until(
      async () => (await other.value('/n', "module_info('SILENT').load().tasks;")) === 1,
      'it is asked',
    );
    other.signal('SIGTERM');
    expect((await asked).error).toMatchObject({ name: 'cancelled_err', outcome: 'made' });
    expect(await other.ended()).toBe(0);
    expect(isAlive(group)).toBe(false);
    await until(() => !isLeft(), 'what it left is gone');

    const again = await RealNode.start(settings, other.folder, other.authorization);
    const started = (): string | undefined =>
      execFileSync('ps', ['-eo', 'ppid,pid,args'], { encoding: 'utf8' })
        .split('\n')
        .find((line) => line.trim().startsWith(`${again.pid} `) && line.includes('sleep 1000'));
    await until(() => started() !== undefined, 'it runs again');
    const [, next = ''] = (started() ?? '').trim().split(/ +/);
    await again.kill();
    await until(() => !isAlive(next) && !isLeft(), 'it is gone, and what it left');
    rmSync(again.folder, { recursive: true, force: true });
  });

  test('holds: what runs is counted, ends with the node, and secrets are in no log', async () => {
    await until(() => processes().length === 1, 'one process runs');
    let metrics = '';
    await until(async () => {
      metrics = await (await fetch(`http://127.0.0.1:${node.statusPort}/metrics`)).text();
      return metrics.includes('althing_modules{status="running"} 1');
    }, 'the metrics have it');
    expect(metrics).toMatch(/althing_module_requests_total\{outcome="ok"\} [1-9]/);
    await node.value('/t', "set_module_scope('WORDS', nil);");
    const waiting = Array.from({ length: 20 }, () => node.query('//stuff', "WORDS({text: 'a'}); nil;"));
    for (const answer of await Promise.all(waiting)) expect(answer.status).toBe(200);
    expect(node.log).not.toContain('Good day');
    await node.stop();
    await until(() => processes().length === 0, 'no process is left');
  });
});
