import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { GracePeriod } from './grace-period.js';
import { Leaving, ordinalOf } from './leaving.js';

const folder = mkdtempSync(join(tmpdir(), 'althing-leaving-'));
const file = join(folder, 'leave-from-ordinal');

afterAll(() => rmSync(folder, { recursive: true }));

describe('a node that is told to stop', () => {
  test.each([
    ['3', 'althing-3.althing-headless', true],
    ['3\n', 'althing-12.althing-headless', true],
    ['3', 'althing-2.althing-headless', false],
    ['0', 'althing-0', true],
    ['', 'althing-3', false],
    [' \n', 'node.example.org', false],
  ])('a node with %j in the file, as %s, leaves: %s', async (content, nodeName, expected) => {
    expect(await attempt(content, { nodeName })).toEqual({
      hasLeft: expected,
      asked: +expected,
      warnings: '',
    });
  });

  test.each([
    ['the file holds no number', 'three', { nodeName: 'althing-3' }, '"three" is no number'],
    ['the number is negative', '-1', { nodeName: 'althing-3' }, '"-1" is no number'],
    ['its name has no ordinal', '3', { nodeName: 'node.example-3.org' }, 'does not end with an ordinal'],
    ['the file is missing', '3', { nodeName: 'althing-3', path: join(folder, 'missing') }, 'ENOENT'],
  ])('stays, and says why, when %s', async (_why, content, options, message) => {
    const outcome = await attempt(content, options);
    expect(outcome).toEqual({ hasLeft: false, asked: 0, warnings: expect.stringContaining(message) });
  });

  test('stays without the setting', async () => {
    const outcome = await attempt('0', { nodeName: 'althing-3', path: undefined });
    expect(outcome).toEqual({ hasLeft: false, asked: 0, warnings: '' });
  });

  test('asks again after a refusal, and stops as a member when its grace ends', async () => {
    const refusals = ['no leader is known', 'only 1 of the 3 nodes that would stay can be reached'];
    const outcome = await attempt('3', { nodeName: 'althing-3', refusals });
    expect(outcome).toEqual({ hasLeft: true, asked: 3, warnings: '' });
    const grace = new GracePeriod(0);
    expect(await attempt('3', { nodeName: 'althing-3', refusals, grace })).toEqual({
      hasLeft: false,
      asked: 1,
      warnings: 'this node stops without having left the cluster: no leader is known',
    });
  });

  test('a node that did not ask for its removal takes it as one from outside', () => {
    const leaving = new Leaving({
      config: { leaveFromOrdinalFile: file, nodeName: 'althing-3' },
      ask: () => Promise.resolve(),
      report: () => {},
    });
    expect(leaving.noteRemoved()).toBe(false);
  });
});

test('an ordinal is the end of the first part of a name', () => {
  const names = ['a-0', 'a-1-22', 'a-3.b-4.c', 'a', 'a.b-1', '127.0.0.1', 'a-', 'a-1234567890'];
  expect(names.map(ordinalOf)).toEqual([0, 22, 3, null, null, null, null, null]);
});

const ENDLESS: Pick<GracePeriod, 'wait'> = { wait: (work) => work.then(() => {}) };

interface AttemptOptions {
  readonly nodeName: string;
  readonly path?: string | undefined;
  /** The cluster's answer before it removes the node. */
  readonly refusals?: readonly string[];
  readonly grace?: Pick<GracePeriod, 'wait'>;
}

async function attempt(content: string, options: AttemptOptions) {
  const { nodeName, refusals = [], grace = ENDLESS } = options;
  writeFileSync(file, content);
  const warnings: string[] = [];
  let asked = 0;
  const leaving: Leaving = new Leaving({
    config: { leaveFromOrdinalFile: 'path' in options ? options.path : file, nodeName },
    ask: async () => {
      const refusal = refusals[asked++];
      if (refusal !== undefined) throw new Error(refusal);
      setImmediate(() => leaving.noteRemoved());
    },
    report: (level, _event, message) => {
      if (level === 'warn') warnings.push(message);
    },
  });
  return { hasLeft: await leaving.attempt(grace), asked, warnings: warnings.join() };
}
