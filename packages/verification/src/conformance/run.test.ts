import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import type { Format } from '../harness/node-client.js';
import { type CaseFile, CaseFileError, parseCases } from './cases.js';
import { type KnownFailures, parseKnown, reasonFor, strayEntries } from './known.js';
import { FreshLane, type Lane, SharedLane } from './lanes.js';
import { type Report, report } from './report.js';
import { runJobs } from './run.js';
import { type CaseResult, skipReason } from './run-case.js';

const options = {
  command: [process.execPath, fileURLToPath(new URL('../harness/fake-node.js', import.meta.url))] as const,
};

function fileOf(cases: readonly unknown[]): CaseFile {
  return { name: 'some', cases: parseCases('some', JSON.stringify({ area: 'some', cases })) };
}

async function resultsOf(
  cases: readonly unknown[],
  format: Format = 'msgpack',
  lane?: Lane,
): Promise<CaseResult[]> {
  const file = fileOf(cases);
  const lanes = [lane ?? new SharedLane(options, format)];
  const { results, complaints } = await runJobs([{ cases: file.cases, lanes }]);
  expect(complaints).toEqual([]);
  return file.cases.map((item) => results.get(item) ?? { kind: 'skipped', why: 'not run' });
}

describe('cases', () => {
  test.each<Format>(['msgpack', 'json'])('pass and fail over %s as their steps come out', async (format) => {
    const who = `Basic ${Buffer.from('a:b').toString('base64')}`;
    const results = await resultsOf(
      [
        {
          name: 'value',
          steps: [{ code: 'value', vars: { value: { $float: 1.0 } }, expect: { $float: 1 } }],
        },
        { name: 'type', steps: [{ code: 'value', vars: { value: 1 }, expect: { $float: 1 } }] },
        { name: 'state', steps: [{ code: 'count', expect: 1 }, { sleep: 0 }, { code: 'count', expect: 2 }] },
        { name: 'state is new', steps: [{ code: 'count', expect: 1 }] },
        { name: 'run', steps: [{ run: 'p', args: [1, 'x'], expect: ['p', [1, 'x']] }] },
        { name: 'error', steps: [{ code: 'raise -54 x', error: { code: -54, name: 'lookup_err' } }] },
        {
          name: 'other error',
          steps: [{ code: 'raise -54 x', error: { code: -55, name: 'forbidden_err' } }],
        },
        {
          name: 'text',
          steps: [{ code: 'raise -100 stop', error: { code: -100, name: 'x', message: 'stop' } }],
        },
        { name: 'no error', steps: [{ code: 'count', error: { code: -55, name: 'forbidden_err' } }] },
        { name: 'error instead', steps: [{ code: 'raise -55 no', ignore: true }] },
        { name: 'ignored', steps: [{ code: 'count', ignore: true }] },
        {
          name: 'as',
          steps: [{ scope: '@:x', as: { basic: ['a', 'b'] }, code: 'who', expect: `${who} //x` }],
        },
        {
          name: 'bad login',
          steps: [{ as: { token: 'wrong' }, code: 'who', error: { code: -56, name: 'auth_err' } }],
        },
        {
          name: 'save',
          steps: [
            { code: 'value', vars: { value: 'secret' }, save: 'it', ignore: true },
            { code: 'value', vars: { value: ['$it', '$that'] }, expect: ['secret', '$that'] },
            { code: 'who', as: { token: '$it' }, expect: 'Bearer secret //stuff' },
          ],
        },
      ],
      format,
    );

    const passed = results.map((result) => result.kind === 'passed');
    const failing = [1, 6, 8, 9];
    expect(passed).toEqual(results.map((_, index) => !failing.includes(index)));
    expect(results[1]).toEqual({
      kind: 'failed',
      step: 'step 1 of 1: //stuff value',
      expected: '1.0',
      actual: '1   (1 instead of 1.0)',
      isBroken: false,
    });
    expect(results[8]).toMatchObject({ expected: 'error -55 forbidden_err', actual: '1' });
  });

  test('a node that crashes fails the case, with its last words, and is replaced', async () => {
    const results = await resultsOf([
      { name: 'crash', steps: [{ code: 'crash', expect: 1 }] },
      { name: 'garbage', steps: [{ code: 'garbage', expect: 1 }] },
      { name: 'long form', steps: [{ code: 'long', expect: 1 }] },
      { name: 'good', steps: [{ code: 'count', expect: 1 }] },
    ]);

    expect(results.map((result) => result.kind)).toEqual(['failed', 'failed', 'failed', 'passed']);
    expect(results[0]).toMatchObject({ actual: expect.stringContaining('crashing as told') });
    expect(results[1]).toMatchObject({ actual: expect.stringContaining('a byte that begins no value') });
    expect(results[2]).toMatchObject({ actual: expect.stringContaining('not in the shortest form: cc01') });
  });

  test('each fresh case has a node of its own', async () => {
    const cases = [1, 2, 3].map((n) => ({
      name: `${n}`,
      fresh: true,
      steps: [{ code: 'count', expect: 1 }],
    }));
    const results = await resultsOf(cases, 'msgpack', new FreshLane(options, 'msgpack', cases.length));
    expect(results.map((result) => result.kind)).toEqual(['passed', 'passed', 'passed']);
  });

  test('a case that can not be done is skipped', () => {
    const file = fileOf([
      { name: 'socket', needs: ['socket'], steps: [{ client: 'b', join: [1], expect: null }] },
      { name: 'unknown need', needs: ['wings'], steps: [{ code: '1', expect: 1 }] },
      { name: 'sleep', needs: ['sleep'], steps: [{ sleep: 1 }, { code: '1', expect: 1 }] },
      { name: 'client', steps: [{ client: 'b', code: '1', expect: 1 }] },
      { name: 'bytes', steps: [{ code: '1', expect: [{ $bytes: 'YQ==' }] }] },
      { name: 'nan', steps: [{ code: '1', vars: { a: { $float: 'nan' } }, expect: 1 }] },
    ]);
    const why = (format: Format) => file.cases.map((item) => skipReason(item, format));

    expect(why('msgpack')).toEqual([
      undefined,
      'needs wings',
      undefined,
      'does not say that it needs a socket',
      undefined,
      undefined,
    ]);
    expect(why('json')[0]).toBe('needs socket');
    expect(why('json').slice(4)).toEqual(["JSON can't carry its values", "JSON can't carry its values"]);
  });

  test.each([
    ['{"cases": 1}', 'a list was expected'],
    ['{"cases": [{"name": "a", "steps": [{"code": 1}]}]}', 'some: a: a string was expected'],
    ['{"cases": [{"name": "a", "steps": []}, {"name": "a", "steps": []}]}', 'two cases have the same name'],
  ])('a wrong file is refused: %s', (text, message) => {
    expect(() => parseCases('some', text)).toThrow(message);
    expect(() => parseCases('some', text)).toThrow(CaseFileError);
  });
});

describe('the report', () => {
  const file = fileOf([
    { name: 'good', steps: [] },
    { name: 'bad', steps: [] },
    { name: 'left out', steps: [] },
  ]);
  const failure: CaseResult = { kind: 'failed', step: 'step 1', expected: '1', actual: '2', isBroken: false };
  const results = new Map<(typeof file.cases)[number], CaseResult>();
  for (const item of file.cases) {
    if (item.name === 'good') results.set(item, { kind: 'passed' });
    if (item.name === 'bad') results.set(item, failure);
    if (item.name === 'left out') results.set(item, { kind: 'skipped', why: 'needs socket' });
  }
  const reportWith = (known: string, onlyFailures = false): Report =>
    report([file], results, parseKnown(known), { format: 'msgpack', onlyFailures });

  test('a failure that is not known is told, and counts', () => {
    const { lines, isAsKnown } = reportWith('{}');
    expect(lines).toEqual([
      'some: 1/2 (skipped 1)',
      'FAILED  some: bad\n  step 1\n  expected: 1\n  actual:   2',
      'total: 1/2 (skipped 1)',
      '1 of these came out differently from the list of known failures',
    ]);
    expect(isAsKnown).toBe(false);
  });

  test('a known failure does not count, and is told on demand', () => {
    const known = '{"some": {"bad": "for now"}}';
    expect(reportWith(known)).toEqual({
      lines: [
        'some: 1/2 (skipped 1)',
        'total: 1/2 (skipped 1)',
        'the 1 failures are exactly those that are known',
      ],
      isAsKnown: true,
    });
    expect(reportWith(known, true).lines[1]).toContain('known (for now)  some: bad');
  });

  test('a listed case that passes counts', () => {
    const { lines, isAsKnown } = reportWith('{"some": {"bad": "for now", "good": "once"}}');
    expect(lines.join('\n')).toContain('PASSES NOW  some: good\n  listed as failing because: once');
    expect(isAsKnown).toBe(false);
  });
});

describe('the list of known failures', () => {
  const known: KnownFailures = parseKnown('{"a": {"x": "both"}, "a (json)": {"y": "json only"}}');

  test('may hold for JSON alone', () => {
    expect(reasonFor(known, 'a', 'x', 'msgpack')).toBe('both');
    expect(reasonFor(known, 'a', 'x', 'json')).toBe('both');
    expect(reasonFor(known, 'a', 'y', 'msgpack')).toBeUndefined();
    expect(reasonFor(known, 'a', 'y', 'json')).toBe('json only');
  });

  test('entries without a case are found', () => {
    expect(strayEntries(known, (file, name) => file === 'a' && name === 'y')).toEqual(['a: x']);
  });

  test('a list in another form is refused', () => {
    expect(() => parseKnown('{"a": ["x"]}')).toThrow(CaseFileError);
    expect(() => parseKnown('{"a": {"x": 1}}')).toThrow(CaseFileError);
  });
});
