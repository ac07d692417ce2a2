import { describe, expect, test } from '@jest/globals';
import { parse, parseClosure } from './parse.js';
import { closureDoc, prettySource, quoteStr, shapeOf } from './pretty.js';

const pretty = (text: string, indent?: number): string => prettySource(parseClosure(text), text, indent);

describe('prettySource', () => {
  test.each([
    ['||nil', '|| nil'],
    ['|a,b|a+b*(a-b)', '|a, b| a + b * (a - b)'],
    ['|x|{x=1;return x}', '|x| {\n\tx = 1;\n\treturn x;\n}'],
    ['|x|if(x)1 else{2}', '|x| if (x) 1 else {\n\t2;\n}'],
    ['|x|[x]', '|x| [x]'],
    ['|x|[x,2]', '|x| [\n\tx,\n\t2,\n]'],
    ['|x|{a:x}', '|x| {a: x}'],
    ['|x|{a:x,b:}', '|x| {\n\ta: x,\n\tb:,\n}'],
    ['|x|[{a:1,b:[2,3]},{}]', '|x| [\n\t{\n\t\ta: 1,\n\t\tb: [\n\t\t\t2,\n\t\t\t3,\n\t\t],\n\t},\n\t{},\n]'],
    ['|x|P{a:1,b:2}', '|x| P{\n\ta: 1,\n\tb: 2,\n}'],
    ['|x|&{a:1}', '|x| &{a: 1}'],
    ['|x|Color{RED}', '|x| Color{RED}'],
    ['|x|Color{||x}', '|x| Color{|| x}'],
    ['|x|for(a,b in x){if(a)break;continue}', '|x| for (a, b in x) {\n\tif (a) break;\n\tcontinue;\n}'],
    ['|x|!x', '|x| !x'],
    ['|x|- 5 .y+-5+- -x', '|x| - 5 .y + -5 + --x'],
    ['|x|x?1:2', '|x| x ? 1 : 2'],
    ['|x|.a.b(x)[0][1:]', '|x| .a.b(x)[0][1:]'],
    ['|x|x[::2][]', '|x| x[::2][:]'],
    ['|x|x..len()', '|x| x..len()'],
    ['|x|7 .y', '|x| 7 .y'],
    ['|x|{/* gone */x;}', '|x| {\n\tx;\n}'],
    ['|x|`t {x+1} u`', '|x| `t {x+1} u`'],
    ["|x|'a  ''b'+\"c\"", "|x| 'a  ''b' + \"c\""],
    ['|x|/re/i', '|x| /re/i'],
    ['|x|return x,2,NO_IDS', '|x| return x, 2, NO_IDS'],
    ['|x|x[0]=1', '|x| x[0] = 1'],
    ['|x|x[1:2]=[]', '|x| x[1:2] = []'],
    ['|x|.n+=1', '|x| .n += 1'],
    ['|x|.map(|y|y)', '|x| .map(|y| y)'],
    ['|x|f(/a\\/\n,b/c)', '|x| f(/a\\/\n, b / c)'],
    ['|x|{return / a;\nb/c}', '|x| {\n\treturn /\n\ta;\n\tb / c;\n}'],
    ['|x|a&&b||c', '|x| a && b || c'],
    ['|x|f(1,|y|y,0x1F)', '|x| f(1, |y| y, 0x1F)'],
  ])('%s', (text, expected) => {
    expect(pretty(text)).toBe(expected);
  });

  test('breaks a ternary that is longer than 40 characters', () => {
    const text = '|x|x.is_something()?"the first value":"the other value"';
    expect(pretty(text)).toBe('|x| x.is_something()\n\t? "the first value"\n\t: "the other value"');
  });

  test('breaks a long chain behind its first link', () => {
    const text = '|x|.users.filter(|u|u.is_active).map(|u|u.name)[0].len()';
    expect(pretty(text)).toBe('|x| .users\n\t.filter(|u| u.is_active)\n\t.map(|u| u.name)[0]\n\t.len()');
    expect(pretty('|x|.users.filter(|u|u.is_active_and_known)')).toBe(
      '|x| .users.filter(|u| u.is_active_and_known)',
    );
  });

  test('indents what stands inside something else', () => {
    expect(pretty('|x|{x}', 1)).toBe('|x| {\n\t\tx;\n\t}');
  });

  test('prints any statement', () => {
    const [statement] = parse('x=1').statements;
    if (statement === undefined) throw new Error('no statement');
    expect(prettySource(statement, 'x=1')).toBe('x = 1');
  });
});

describe('closureDoc', () => {
  test.each([
    ["|x| {'my doc'; x}", 'my doc'],
    ['|x| {/* c */ "it""s"; x}', 'it"s'],
    ["|x| {'only'}", 'only'],
    ["|x| 'no block'", ''],
    ["|x| {x; 'late'}", ''],
    ["|x| {('in parentheses'); x}", ''],
    ["|x| {'a' + 'b'; x}", ''],
    ['|x| {`template`; x}', ''],
  ])('%s', (text, doc) => {
    expect(closureDoc(parseClosure(text))).toBe(doc);
  });
});

describe('quoteStr', () => {
  test.each([
    ['plain', "'plain'"],
    ["it's", '"it\'s"'],
    ['say "x"', '\'say "x"\''],
    [`both ' and "`, `'both '' and "'`],
    ['', "''"],
  ])('%s', (value, text) => {
    expect(quoteStr(value)).toBe(text);
    expect(parse(text).statements[0]).toMatchObject({ kind: 'str', value });
  });
});

describe('shapeOf', () => {
  const shape = (text: string, lengthMax = 1000): string => shapeOf(parse(text), lengthMax);

  test.each([
    ["x = 12; y = 'a' + 1.5 // comment", 'x = ?; y = ? + ?'],
    ['.users.filter(|u| u.age > 18)[0].name', '.users.filter(|u| u.age > ?)[?].name'],
    ['[1, 2, 3]', '[?]'],
    ['[1, x, 2, "b", true]', '[?, x, ?, true]'],
    ["{name: 'Iris', age: 6, tags: []}", '{name: ?, age: ?, tags: []}'],
    ['T{id: 1}; &{a: nil}; Color{RED}', 'T{id: ?}; &{a: nil}; Color{RED}'],
    ['`plain`; `hello {name}, {1 + x}`', '?; `?{name}?{? + x}`'],
    ['/secret/i.test(x)', '?.test(x)'],
    ['-5 + - x', '? + -x'],
    ['if (x) { .a = 1; .b = 2; } else { return 3, 2 }', 'if (x) { .a = ?; .b = ?; } else { return ?, ?; }'],
    ['|a, b| a + b', '|a, b| a + b'],
    [
      '.users.filter(|u|u.is_active).map(|u|u.name)[0].len()',
      '.users.filter(|u| u.is_active).map(|u| u.name)[?].len()',
    ],
    ['', ''],
  ])('the shape of %s', (text, expected) => {
    expect(shape(text)).toBe(expected);
  });

  test('is the same for programs that differ in literals and white space alone', () => {
    expect(shape(".x=[1,2];.y='a'")).toBe(shape('.x  =  [7]; /* b */ .y = "a longer text"'));
  });

  test('ends where it gets too long, without a look at what is behind', () => {
    expect(shape('x = y + z;'.repeat(500), 20)).toBe('x = y + z; x = y + z...');
  });
});
