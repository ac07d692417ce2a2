import { describe, expect, test } from '@jest/globals';
import { parsePattern } from './parser.js';
import { ReferenceLimit, referenceMatch } from './reference-matcher.js';
import {
  Budget,
  type Match,
  Regex,
  RegexBudgetError,
  RegexSyntaxError,
  STEP_LIMIT,
  Subject,
} from './regex.js';
import { Random } from './testing.js';

const seed = Number(process.env.ALTHING_TEST_SEED);
const ALWAYS = -1;
const NEVER = Infinity;
/** Enough for nearly every random pattern without a memory of states, and soon over for the others. */
const PLAIN_STEPS = 1_000_000;

function boundsOf(match: Match | null, groupCount: number): number[] | null {
  if (match === null) return null;
  const bounds: number[] = [];
  for (let group = 0; group <= groupCount; group++)
    bounds.push(match.groupStart(group), match.groupEnd(group));
  return bounds;
}

/** The bounds of all matches, each searched from the end of the one before. */
function allBounds(regex: Regex, subject: Subject, steps = STEP_LIMIT): (number[] | null)[] {
  const budget = new Budget(steps);
  const all: (number[] | null)[] = [];
  for (let position = 0; ; ) {
    const match = regex.exec(subject, position, budget);
    all.push(boundsOf(match, regex.groupCount));
    if (match === null || match.end === position) return all;
    position = match.end;
  }
}

/** Random patterns of nearly all constructs. Some refer to groups that don't exist, or have other faults. */
class PatternMaker {
  #groups = 0;

  constructor(
    readonly random: Random,
    readonly kind: 'all' | 'no references' | 'nothing much',
  ) {}

  make(): string {
    this.#groups = 0;
    return this.#alternatives(3);
  }

  #alternatives(depth: number): string {
    let text = this.#sequence(depth);
    while (this.random.below(3) === 0) text += `|${this.random.below(6) === 0 ? '' : this.#sequence(depth)}`;
    return text;
  }

  #sequence(depth: number): string {
    let text = '';
    for (let i = this.random.below(4); i >= 0; i--) {
      text += this.#atom(depth);
      if (this.random.below(3) === 0) text += this.random.pick(QUANTIFIERS);
    }
    return text;
  }

  #atom(depth: number): string {
    const { random } = this;
    if (this.kind === 'nothing much') {
      if (depth === 0 || random.below(10) < 4) {
        return random.pick(['a', 'b', 'a', '', 'a?', '(?:|a)', '(?:a|)', 'b*', '(?=b)', '\\b']);
      }
      return `${random.pick(['(', '(?:', '(?:', '(?>'])}${this.#alternatives(depth - 1)})`;
    }
    const choice = random.below(28);
    if (choice < 10) return random.pick(['a', 'b', 'c', 'ab', 'B', '1', ' ', 'é', '🙂']);
    if (choice < 14) return random.pick(SETS);
    if (choice < 16) return random.pick(ASSERTIONS);
    if (depth === 0) return random.pick(['a', 'b', 'c']);
    if (choice < 20) {
      this.#groups++;
      return `(${this.#alternatives(depth - 1)})`;
    }
    if (choice < 23) return `(?:${this.#alternatives(depth - 1)})`;
    if (choice < 24) return `${random.pick(['(?>', '(?i:'])}${this.#alternatives(depth - 1)})`;
    if (choice < 25) return `${random.pick(['(?=', '(?!'])}${this.#alternatives(depth - 1)})`;
    if (choice < 26)
      return `${random.pick(['(?<=', '(?<!'])}${random.pick(['a', 'ab|c', '^', 'b|', '[ab]', '(?=a)b'])})`;
    if (choice < 27 && this.kind === 'all')
      return `\\${1 + random.below(Math.max(1, Math.min(9, this.#groups)))}`;
    return random.pick(['\\K', 'a', '(?i)', '(?s)']);
  }
}

const SETS = [
  '.',
  '\\d',
  '\\w',
  '\\s',
  '\\W',
  '\\h',
  '\\p{L}',
  '\\R',
  '[ab]',
  '[^a]',
  '[a-c]',
  '[^\\w]',
  '[[:alpha:]é]',
];
const ASSERTIONS = ['^', '$', '\\b', '\\B', '\\A', '\\z', '\\Z', '\\G', '', '(?m)', '(?-i)'];
const QUANTIFIERS = [
  ...[
    '*',
    '+',
    '?',
    '*?',
    '+?',
    '??',
    '{2}',
    '{1,2}',
    '{0,2}?',
    '{2,}',
    '*+',
    '++',
    '?+',
    '{1,}?',
    '{2,3}+',
    '{0}',
  ],
];
const LETTERS = ['a', 'a', 'b', 'b', 'c', 'B', '1', ' ', '\n', 'é', '🙂', 'ab', '\r'];

function makeText(random: Random): string {
  let text = '';
  for (let i = random.below(9); i > 0; i--) text += random.pick(LETTERS);
  return text;
}

describe(`random patterns (seed ${seed})`, () => {
  test.each(['all', 'no references', 'nothing much'] as const)('%s: all ways of matching agree', (kind) => {
    const random = new Random(seed);
    const maker = new PatternMaker(random, kind);
    let found = 0;
    let tooLong = 0;
    for (let i = 0; i < 1500; i++) {
      const pattern = maker.make();
      const flags = random.pick(['', '', '', 'i', 'm', 's']);
      let plain: Regex;
      try {
        plain = new Regex(pattern, flags, NEVER);
      } catch (error) {
        if (error instanceof RegexSyntaxError) continue;
        throw error;
      }
      const memoising = new Regex(pattern, flags, ALWAYS);
      const parsed = parsePattern(pattern, {
        fold: flags === 'i',
        multiline: flags === 'm',
        dotAll: flags === 's',
        ...{ extended: false, extendedMore: false, noCapture: false, lazy: false, duplicateNames: false },
      });
      for (let k = 0; k < 4; k++) {
        const text = makeText(random);
        const subject = new Subject(text);
        const start = random.below(3) === 0 ? random.below(subject.length + 1) : 0;
        const where = `/${pattern}/${flags} on ${JSON.stringify(text)} from ${start} (seed ${seed})`;
        const codes = Array.from(text, (char) => char.codePointAt(0)!);
        let bounds: number[] | null;
        let all: (number[] | null)[];
        try {
          bounds = boundsOf(plain.exec(subject, start, new Budget(PLAIN_STEPS)), plain.groupCount);
          all = allBounds(plain, subject, PLAIN_STEPS);
        } catch (error) {
          // Without a memory of states some patterns take exponentially long, even on eight characters.
          if (!(error instanceof RegexBudgetError)) throw error;
          tooLong++;
          continue;
        }
        if (bounds !== null) found++;
        let expected = bounds;
        try {
          expected = referenceMatch(parsed.root, plain.groupCount, codes, start, 50_000);
        } catch (error) {
          if (!(error instanceof ReferenceLimit)) throw error;
        }
        expect({ where, bounds }).toEqual({ where, bounds: expected });
        const remembered = boundsOf(memoising.exec(subject, start, new Budget()), plain.groupCount);
        expect({ where, bounds: remembered }).toEqual({ where, bounds });
        expect({ where, all: allBounds(memoising, subject) }).toEqual({ where, all });
      }
    }
    expect(found).toBeGreaterThan(300);
    expect(tooLong).toBeLessThan(300);
  });

  test('random patterns end as in JavaScript where the dialects agree', () => {
    const random = new Random(seed);
    let found = 0;
    for (let i = 0; i < 2000; i++) {
      const pattern = makeCommonPattern(random, 3);
      const flags = random.pick(['', 'i', 's']);
      const regex = new Regex(pattern, flags, random.pick([ALWAYS, NEVER]));
      const native = new RegExp(pattern, `${flags}du`);
      for (let k = 0; k < 4; k++) {
        const text = makeText(random).replaceAll('\r', '-').replaceAll('🙂', 'я');
        const subject = new Subject(text);
        const match = native.exec(text);
        const bounds = boundsOf(regex.exec(subject, 0, new Budget()), regex.groupCount);
        if (bounds !== null) found++;
        const expected = match?.indices?.flatMap((pair) =>
          pair ? pair.map((unit) => [...text.slice(0, unit)].length) : [-1, -1],
        );
        const where = `/${pattern}/${flags} on ${JSON.stringify(text)} (seed ${seed})`;
        expect({ where, bounds }).toEqual({ where, bounds: expected ?? null });
      }
    }
    expect(found).toBeGreaterThan(300);
  });
});

/** A pattern that means the same in JavaScript: what is repeated matches something and has no groups. */
function makeCommonPattern(random: Random, depth: number): string {
  const branches: string[] = [];
  do {
    let branch = '';
    for (let i = random.below(3); i >= 0; i--) {
      const choice = random.below(10);
      if (choice < 5 || depth === 0) {
        branch +=
          makeCommonAtom(random) + random.pick(['', '', '*', '+', '?', '*?', '{2}', '{1,3}', '{2,}?']);
      } else if (choice < 7) {
        branch += `(${makeCommonPattern(random, depth - 1)})`;
      } else if (choice < 8) {
        branch += `(?${random.pick(['=', '!', '<=', '<!'])}${makeCommonAtom(random)})`;
      } else {
        const inner = [makeCommonAtom(random), makeCommonAtom(random) + makeCommonAtom(random)];
        branch += `(?:${inner.join(random.pick(['', '|']))})${random.pick(['*', '+', '{0,2}', '+?'])}`;
      }
    }
    branches.push(branch);
  } while (random.below(3) === 0);
  return branches.join('|');
}

function makeCommonAtom(random: Random): string {
  return random.pick([
    'a',
    'b',
    'c',
    'B',
    '1',
    '.',
    '\\d',
    '\\w',
    '\\W',
    '[ab]',
    '[^a]',
    '[^\\d]',
    '🙂',
    '\\p{L}',
    '\\x61',
    '\\.',
  ]);
}
