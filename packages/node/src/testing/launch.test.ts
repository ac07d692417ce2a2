import { describe, expect, test } from '@jest/globals';
import { isAlive, Launched, variablesOf } from './launch.js';
import { until } from './until.js';

const node = (text: string): readonly string[] => [process.execPath, '--eval', text];

describe('a process', () => {
  test('tells how it ended, and what it printed last', async () => {
    const launched = new Launched(node("console.log('a'); console.error('b'); process.exitCode = 3;"));
    expect(launched.isRunning).toBe(true);
    expect(await launched.ended).toEqual({ code: 3, signal: null, text: 'code 3' });
    expect([...launched.output].sort().join('').trim()).toBe('ab');
    expect([launched.isRunning, launched.end?.code]).toEqual([false, 3]);
    expect(launched.signal('SIGTERM')).toBe(false);
  });

  test('ends at once when it is told', async () => {
    const launched = new Launched(node('setInterval(() => {}, 1000);'));
    expect(await launched.kill()).toEqual({ code: null, signal: 'SIGKILL', text: 'SIGKILL' });
  });

  test('a process that can not be started has ended with the reason', async () => {
    const launched = new Launched(['no-such-program']);
    expect(await launched.ended).toMatchObject({ code: null, text: expect.stringContaining('ENOENT') });
    expect(launched.pid).toBe(0);
  });

  test('has the environment that it is given, and no other', async () => {
    const print = node(
      'console.log(process.env.SERVICE_NODE_NAME, process.env.HOME, typeof process.env.PATH);',
    );
    const launched = new Launched(print, { environment: variablesOf({ node_name: 'n' }) });
    await launched.ended;
    expect(launched.output).toBe('n undefined string\n');
  });

  test('is not kept beyond what is asked for', async () => {
    const launched = new Launched(node("process.stdout.write('x'.repeat(100_000) + 'end');"), {
      output: { keptMax: 5 },
    });
    await launched.ended;
    expect(launched.output).toBe('xxend');
  });

  test('ends with the process that started it', async () => {
    const module = new URL('launch.js', import.meta.url).href;
    const parent = new Launched([
      process.execPath,
      '--input-type=module',
      '--eval',
      `const { Launched } = await import(${JSON.stringify(module)});
       const child = new Launched([process.execPath, '--eval', 'setInterval(() => {}, 1000);']);
       console.log(child.pid);
       setTimeout(() => process.exit(0), 100);`,
    ]);
    await parent.ended;
    const pid = Number(parent.output);
    expect(pid).toBeGreaterThan(0);
    await until(async () => !isAlive(pid), 'the child has ended');
  });
});
