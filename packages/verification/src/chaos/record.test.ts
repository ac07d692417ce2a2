import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Operation } from '../simulation/history.js';
import { check } from './check.js';
import { type Record, RecordError, Recorder, readRecord } from './record.js';

const RUN = { seed: 1, nodes: 3, network: 'none', version: 'v20' };

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'althing-record-'));
  path = join(folder, 'history.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

function append(id: number, value: string, rest: Partial<Operation> = {}): Operation {
  return {
    id,
    client: 0,
    collection: 'c0',
    action: { kind: 'append', lists: ['l0'], value },
    node: 'node 1',
    begin: 10 * id,
    end: 10 * id + 5,
    outcome: 'ok',
    answer: [id + 1],
    index: id + 1,
    error: '',
    ...rest,
  };
}

/** The data of a collection when only `l0` and the counter were changed. */
function dataOf(list: readonly string[], counter = 0): unknown {
  return [[list, [], [], []], counter, [100, 100, 100, 100]];
}

/** A run in which two values were appended, and nobody knows what became of a third one. */
function goodRun(): Recorder {
  const recorder = new Recorder(path, RUN);
  recorder.operation(append(0, 'v0'));
  recorder.operation(append(2, 'v2', { end: Infinity, outcome: 'unknown', answer: null, index: 0 }));
  recorder.operation(append(1, 'v1'));
  recorder.fault({ name: 'kill', detail: 'node 1', begin: 1, end: 2 });
  recorder.final({ collection: 'c0', node: 'node 1', data: dataOf(['v0', 'v1', 'v2']), rest: '{}' });
  recorder.final({ collection: 'c0', node: 'node 2', data: dataOf(['v0', 'v1', 'v2']), rest: '{}' });
  return recorder;
}

describe('the record of a run', () => {
  test('is read as it was written', async () => {
    const recorder = goodRun();
    recorder.finding('something');
    await recorder.close();
    const { run, operations, faults, finals, findings } = await readRecord(path);
    expect({ run, operations, faults, finals, findings }).toEqual({
      run: RUN,
      operations: recorder.operations,
      faults: recorder.faults,
      finals: recorder.finals,
      findings: ['something'],
    });
    expect(operations[1]?.end).toBe(Infinity);
  });

  test('a file that is no record is refused', async () => {
    for (const text of ['{"kind":"operation"}\n', '{}\n', '[1]\n', 'nonsense\n', '']) {
      writeFileSync(path, text);
      await expect(readRecord(path)).rejects.toThrow(RecordError);
    }
    await expect(readRecord(join(folder, 'none'))).rejects.toThrow(RecordError);
  });

  test('a record that could not be written is told', async () => {
    const recorder = new Recorder(join(folder, 'no such folder', 'file'), RUN);
    await expect(recorder.close()).rejects.toThrow(RecordError);
  });

  test('a record of an orderly world has nothing wrong, read again or not', async () => {
    const recorder = goodRun();
    await recorder.close();
    const good = { problems: [], undecided: [] };
    expect(check(recorder)).toEqual(good);
    expect(check(await readRecord(path))).toEqual(good);
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(7);
  });
});

describe('faults of a run', () => {
  const wrong: readonly (readonly [string, (recorder: Recorder) => void, RegExp])[] = [
    ['a finding', (recorder) => recorder.finding('node 1 ended'), /node 1 ended/],
    ['a lost change', (recorder) => recorder.operation(append(3, 'v3')), /v3 was acknowledged and is lost/],
    [
      'nodes that differ',
      (recorder) => recorder.final({ collection: 'c0', node: 'node 3', data: dataOf(['v0']), rest: '{}' }),
      /c0 differs at node 1 and node 3/,
    ],
    [
      'nodes that differ in what is not checked else',
      (recorder) =>
        recorder.final({
          collection: 'c0',
          node: 'node 3',
          data: dataOf(['v0', 'v1', 'v2']),
          rest: '{"a":1}',
        }),
      /c0 differs at node 1 and node 3/,
    ],
    [
      'a collection that nobody read in the end',
      (recorder) => recorder.operation(append(3, 'v3', { collection: 'c1' })),
      /nobody knows what c1 holds/,
    ],
    [
      'a stale read',
      (recorder) =>
        recorder.operation(append(4, '', { action: { kind: 'read', lists: ['l0'] }, answer: [['v0']] })),
      /c0: list l0: .* before operation 4/,
    ],
  ];
  for (const [name, spoil, message] of wrong) {
    test(name, async () => {
      const recorder: Recorder & Record = goodRun();
      spoil(recorder);
      await recorder.close();
      const { problems } = check(await readRecord(path));
      expect(problems.join('\n')).toMatch(message);
    });
  }
});
