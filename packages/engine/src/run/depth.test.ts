/**
 * Programs that are nested deeply: what the limits allow must run on the stack that Node.js gives by default, and what they
 * don't must end with an error of the language.
 */

import { setFlagsFromString } from 'node:v8';
import { NESTING_MAX } from '@althing/language';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { errorName } from '../error.js';
import { Harness } from '../testing/harness.js';
import { DEPTH_MAX } from './limits.js';

/** Constructs as the text before and after what is nested, and how many statements of the parser one level has. */
const CONSTRUCTS: readonly (readonly [name: string, before: string, after: string, statements: number])[] = [
  ['parentheses', '(', ')', 1],
  ['lists', '[', ']', 1],
  ['things', '{a: ', '}', 1],
  ['templates', '`{', '}`', 1],
  ['blocks', '{ 1; ', ' }', 1],
  ['ifs', 'if (true) ', '', 1],
  ['else branches', 'if (false) 1 else ', '', 1],
  ['ternaries', 'true ? (', ') : 2', 2],
  ['prefixes', '!(', ')', 1],
  ['additions', '1 == (', ')', 1],
  ['every level of operators', '(0 || 1 && 0 == 0 | 1 ^ 1 & 1 << 1 + 1 * ', ')', 1],
  ['every level of operators to the left', '(', ' * 1 + 1 << 1 & 1 ^ 1 | 1 == 1 && 1 || 1)', 1],
  ['assignments', '(x = ', ')', 2],
  ['properties', '{a: ', '}.a', 1],
  ['loops', 'for (i in [1]) ', '', 1],
  ['loops with blocks', 'for (i in [1]) { 1; ', ' }', 2],
  ['loops as operands', '[for (k in [1]) ', ']', 2],
  ['calls', 'wse(', ')', 1],
  ['calls with many arguments', 'set([], ', ')', 1],
  ['try', 'try(', ')', 1],
  ['calls of closures', 'f(', ')', 1],
  ['methods', '[1].push(', ')', 1],
  ['methods with many arguments', '[1].splice(0, 0, ', ')', 1],
  ['methods of properties', '(t.f(', '))', 2],
  ['callbacks of lists', '[1].map(|x| ', ')', 2],
  ['callbacks of things', '{a: 1}.each(|x| ', ')', 2],
  ['callbacks of sets', 'set({}).some(|x| ', ')', 2],
  ['callbacks of texts', "'a'.replace('a', |x| ", " || 'b')", 2],
  ['reductions', '[1, 2].reduce(|x, y| ', ')', 2],
  ['closures', '|x| ', '', 1],
  ['indexes', 'a[', ' || 0]', 1],
  ['returns', 'return (', ')', 2],
];

const PREAMBLE = 'a = [0]; x = 1; f = |x| x; t = {f: |x| x}; ';

function nested(before: string, after: string, levels: number, inmost = '1'): string {
  return `${PREAMBLE}${before.repeat(levels)}${inmost}${after.repeat(levels)}`;
}

/** Calls `work` below some frames, as a request finds the stack. */
function below<T>(frames: number, work: () => T): T {
  return frames === 0 ? work() : below(frames - 1, work);
}

describe.each([
  ['in the first tier', Number.POSITIVE_INFINITY, false],
  ['in the second tier', 1, false],
  ['when explained', 1, 'explain'],
] as const)('%s', (_, hotRuns, dryRun) => {
  test.each(CONSTRUCTS)(
    '%s nested as deeply as the parser allows end well',
    (_name, before, after, statements) => {
      const harness = new Harness({ limits: { durationMs: 60_000 } });
      harness.engine.runtime.hotRuns = hotRuns;
      const levels = Math.floor((NESTING_MAX - 2) / statements);
      for (let round = 0; round < 2; round++) {
        const outcome = below(100, () => harness.outcome(nested(before, after, levels), { dryRun }));
        // Refusals come from the types, or from the guard of the stack.
        const error = outcome.kind === 'error' ? errorName(outcome.error.code) : 'none';
        expect(['none', 'type_err', 'value_err', 'lookup_err', 'operation_err']).toContain(error);
      }
    },
  );
});

test.each([
  'every level of operators',
  'every level of operators to the left',
  'callbacks of lists',
  'loops',
  'methods',
  'things',
  'lists',
])('%s nested as deeply as the parser allows run', (wanted) => {
  const [, before, after, statements] = CONSTRUCTS.find(([name]) => name === wanted) ?? ['', '', '', 1];
  const harness = new Harness({ limits: { durationMs: 60_000 } });
  const code = nested(before, after, Math.floor((NESTING_MAX - 2) / statements));
  const outcome = below(100, () => harness.outcome(code));
  expect(outcome.kind === 'error' ? outcome.error.message : '').toBe('');
});

describe('no construct takes more of the stack than its height says', () => {
  // Compilers make frames smaller whenever they get to it: both sides are measured as the interpreter lays them out.
  const compilers = ['opt', ...(Number(process.versions.v8.split('.')[0]) >= 12 ? ['maglev'] : [])];
  beforeAll(() => {
    for (const compiler of compilers) setFlagsFromString(`--no-${compiler}`);
  });
  afterAll(() => {
    for (const compiler of compilers) setFlagsFromString(`--${compiler}`);
  });

  let count = 0;
  const probe = (): void => {
    count += 1;
    probe();
  };
  /** The number of frames of `probe` that the stack has room for. */
  const room = (): number => {
    count = 0;
    try {
      probe();
    } catch {
      return count;
    }
    return 0;
  };
  /** Bytes of one frame; a little too much, since something lies below this already. */
  const frameBytes = (984 * 1024) / room();

  const cases = ([false, 'explain'] as const).flatMap((dryRun) =>
    CONSTRUCTS.filter(([name]) => name !== 'closures').map(
      ([name, before, after]) =>
        [`${name}${dryRun === false ? '' : ', explained'}`, before, after, dryRun] as const,
    ),
  );

  test.each(cases)('%s', (_, before, after, dryRun) => {
    const harness = new Harness({ limits: { durationMs: 60_000 } });
    const { runtime } = harness.engine;
    runtime.hotRuns = Number.POSITIVE_INFINITY;
    let left = 0;
    let height = 0;
    runtime.environment.log = () => {
      left = room();
      height = runtime.depth;
    };
    const measure = (levels: number): { readonly left: number; readonly height: number } => {
      left = 0;
      harness.outcome(nested(before, after, levels, "log('')"), { dryRun });
      expect(left).toBeGreaterThan(0);
      return { left, height };
    };
    const shallow = measure(5);
    const deep = measure(45);
    const bytes = (shallow.left - deep.left) * frameBytes;
    const said = (deep.height - shallow.height) * ((984 * 1024) / 2 / DEPTH_MAX);
    expect(bytes).toBeLessThanOrEqual(1.2 * said);
  });
});

test('closures that call each other without end are stopped', () => {
  const names = Array.from({ length: 300 }, (_, i) => `f${i}`);
  const code = names.map((name, i) => `${name} = |x| [x, f${(i + 1) % 300}(x + 1)].len()`).join(';');
  expect(below(100, () => new Harness().error(`${code}; f0(1)`))).toBe('operation_err');
});
