import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { createDeriver } from '../generator/derive.mjs';
import { GRAMMAR } from '../generator/generate.mjs';
import type { Closure } from './ast.js';
import { compactClosure, compactSource } from './compact.js';
import { LanguageError } from './error.js';
import { parse, parseClosure } from './parse.js';
import { prettySource } from './pretty.js';
import { VALID } from './testing/corpus.js';
import { difference, withoutPlaces } from './testing/equal.js';
import { createRandom } from './testing/random.js';

const compact = (text: string): string => compactSource(text, 0, text.length);

/** The closures that stand as statements of the texts, each with its text. */
function closuresIn(texts: readonly string[]): { closure: Closure; text: string }[] {
  return texts.flatMap((text) => {
    try {
      // Any query is the body of a closure once it is a block.
      const wrapped = `|| {${text}\n}`;
      return [{ closure: parseClosure(wrapped), text: wrapped }];
    } catch (error) {
      if (error instanceof LanguageError) return [];
      throw error;
    }
  });
}

describe('compactSource', () => {
  test.each([
    ['|a, b|   a  + b', '|a,b|a+b'],
    ['|x| /* plus */ x // done\n + 1', '|x|x+1'],
    ['|a| if (a) return 1 else return  2', '|a|if(a)return 1 else return 2'],
    ['|a| if (a) {1} else {2}', '|a|if(a){1} else {2}'],
    ['|a| if (a) {1}else{2}', '|a|if(a){1}else{2}'],
    ['|a| return(a)', '|a|return(a)'],
    ['|a| return /* c */ a', '|a|return a'],
    ["|a| 'a  b' + `c  {a}  d` + /e  f/", "|a|'a  b'+`c  {a}  d`+/e  f/"],
    ['|t, x| { x + 1; }', '|t,x|{x+1;}'],
    ['|x| {"doc"; x; }', '|x|{"doc";x;}'],
    ['|l| for (x, i in l) { x . y [ 0 ] = i }', '|l|for(x,i in l){x.y[0]=i}'],
    ['| a | | b | a', '|a||b|a'],
    ['|| t. return ()', '||t.return()'],
    ['|| {else : 1, in : 2}', '||{else:1,in:2}'],
    ['|| {\n.f = || {\nnil;\n}\n.f;\n}', '||{.f=||{nil;};.f;}'],
    ['|| {f = |x| {x} // ; c\n\n f(1)}', '||{f=|x|{x};f(1)}'],
    ['|| {f = |x| {x};\n f(1)}', '||{f=|x|{x};f(1)}'],
    ['|| {a = |x| {\nb = |y| {y}\n [1]}\n nil}', '||{a=|x|{b=|y|{y};[1]};nil}'],
  ])('%s', (text, expected) => {
    expect(compact(text)).toBe(expected);
  });

  test.each([
    ['|| 7 .len()', '||7 .len()'],
    ['|| 1.5 ..x', '||1.5 ..x'],
    ['|| inf .x', '||inf .x'],
    ['|| - 5 .x', '||- 5 .x'],
    ['|| a - 5', '||a-5'],
    ['|| a - -1 + +b', '||a--1++b'],
    ['|| a / /re/ / b', '||a/ /re//b'],
    ['|| a | |x| x', '||a| |x|x'],
    ['|| a || |x| x', '||a|||x|x'],
    ['|| a & &{b: 1}', '||a& &{b:1}'],
    ['|| return & {a}', '||return & {a}'],
    ['|| for (x in in_list) 1', '||for(x in in_list)1'],
    // A regex that only the end of its line ends, and a slash that would else begin one.
    ['|| {/a\\/i;  \n  /b/}', '||{/a\\/i;\n/b/}'],
    ['|| {return / a;\n b / c}', '||{return /a;\nb/c}'],
  ])('keeps what the text would read differently without: %s', (text, expected) => {
    expect(compact(text)).toBe(expected);
  });

  test('takes a closure out of a longer text', () => {
    const source = 'f = |x|  x ; g';
    expect(compactSource(source, 4, 10)).toBe('|x|x');
    const [statement] = parse(source).statements;
    if (statement?.kind !== 'assign' || statement.value.kind !== 'closure') throw new Error('no closure');
    expect(compactClosure(statement.value, source)).toBe('|x|x');
  });

  test('refuses what is no closure', () => {
    expect(() => compact('1 + 1')).toThrow(LanguageError);
  });
});

describe('both forms of a text', () => {
  const seed = Number(process.env.ALTHING_TEST_SEED);
  const derive = createDeriver(readFileSync(GRAMMAR, 'utf8'));
  const random = createRandom(seed);
  const texts = [...VALID, ...Array.from({ length: 800 }, (_, i) => derive(random, 30 + (i % 100)))];
  const closures = closuresIn(texts);

  /** Templates keep their text, and the places in it, so places are not compared. */
  const changed = (form: (closure: Closure, text: string) => string): string[] =>
    closures.flatMap(({ closure, text }) => {
      const printed = form(closure, text);
      const again = parseClosure(printed);
      const found = difference(withoutPlaces(again), withoutPlaces(closure));
      const settled = form(again, printed) === printed;
      if (found === null && settled) return [];
      return [
        `seed ${seed}: ${JSON.stringify(text)} became ${JSON.stringify(printed)}: ${found ?? 'not settled'}`,
      ];
    });

  test('are numerous', () => {
    expect(closures.length).toBeGreaterThan(400);
  });

  test('compact: means the same, and is its own compact form', () => {
    expect(changed(compactClosure)).toEqual([]);
  });

  test('pretty: means the same', () => {
    const found = closures.flatMap(({ closure, text }) => {
      const printed = prettySource(closure, text);
      const reason = difference(withoutPlaces(parseClosure(printed)), withoutPlaces(closure));
      return reason === null
        ? []
        : [`seed ${seed}: ${JSON.stringify(text)} became ${JSON.stringify(printed)}: ${reason}`];
    });
    expect(found).toEqual([]);
  });
});
