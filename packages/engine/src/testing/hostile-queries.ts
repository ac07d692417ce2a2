/** Queries that go on for ever with as few looks at the clock, and as much to take back, as somebody can make them. */

/** Queries that take all that they can get: a description, and the code. */
export const HOSTILE_QUERIES: readonly (readonly [string, string])[] = [
  ['a pattern that backtracks', `${text(18)} ${forever('try(/(x+x+)+y/.test(s));')}`],
  ['a pattern that scans', `${text(22)} ${forever('try(/[^a]y/.test(s));')}`],
  ['patterns that are compiled', forever("regex('(a?){1000}');")],
  ['patterns that are too large', forever("try(regex('((((a{50}){50}){50}){20})'));")],
  ['unions of sets', `${sets()} ${forever('a | b;')}`],
  ['differences of sets', `${sets()} ${forever('a ^ b; a - b;')}`],
  ['sets of a list', `l = range(60000).map(|k| {}); ${forever('set(l);')}`],
  ['lists of a set', `l = set(range(60000).map(|k| {})); ${forever('list(l);')}`],
  ['sets that are copied', `a = set(range(60000).map(|k| {})); ${forever('a.copy();')}`],
  ['items that are compared', `l = range(90000); ${forever('l.unique();')}`],
  ['tuples that are taken apart', `l = range(90000).map(|k| [k]); ${forever('l.flat();')}`],
  ['long texts that are joined and looked at', `${text(23)} ${forever("t = s + 'a'; t.starts_with('xa');")}`],
  ['long texts that are joined and indexed', `${text(23)} ${forever("(s + 'a')[5];")}`],
  ['long texts that are compared', `${text(23)} t = s + 'a'; u = s + 'b'; ${forever('t < u;')}`],
  ['texts that are searched', `${text(18)} ${forever("s.contains('xxxxxxxxxxxxxxxxy');")}`],
  ['random texts', forever('randstr(1000);')],
  ['closures with patterns', forever("closure('|x| /(a?){1000}/');")],
  ['closures that are compiled', forever("closure('|x| x + 1 + 2 + 3 * 4');")],
  ['dates', forever("datetime('2024-01-01T00:00:00Z').format('%Y-%m-%d %H:%M:%S %Z');")],
  [
    'many properties',
    `t = {}; for (k in range(3000)) {t.set('k' + str(k), k)}; ${forever('u = {}; u.assign(t);')}`,
  ],
  ['properties that change', forever('.x = j;')],
  [
    'properties that are new',
    forever("for (k in range(1000)) {.set('k' + str(i) + '.' + str(j) + '.' + str(k), {})};"),
  ],
  ['items that are appended', `.l = range(9); ${forever('.l = []; for (k in range(90000)) {.l.push(k)};')}`],
  ['items that are inserted', `.l = range(90000); ${forever('.l.unshift(j); .l.pop();')}`],
  ['items that are taken from the front', `.l = range(90000); ${forever('.l.shift(); .l.push(1);')}`],
  ['large lists of things', forever('.l = range(10000).map(|k| {a: {}});')],
  [
    'sets that change',
    `.s = set(range(20000).map(|k| {})); t = set(range(20000).map(|k| {})); ${forever('.s |= t; .s -= t;')}`,
  ],
  [
    'a type that gets wide',
    `set_type('W', {a: 'int'}); ${forever("mod_type('W', 'add', 'f' + str(i) + 'x' + str(j), 'int');").replace('range(100000)', 'range(900)')}`,
  ],
  [
    'a field that is renamed',
    `set_type('W', {a: 'int'}); ${forever("mod_type('W', 'ren', 'a', 'b'); mod_type('W', 'ren', 'b', 'a');")}`,
  ],
  ['types that come and go', forever("new_type('T'); del_type('T');")],
  ['procedures that come and go', forever("new_procedure('p', |x| x + 1); del_procedure('p');")],
  ['a result that is many things', forever('1;').replace('1;', 'json_dump(range(90000).map(|k| {a: k}));')],
];

function forever(body: string): string {
  return `for (i in range(100000)) {for (j in range(100000)) {${body}}}`;
}

/** A variable `s` of 2^doublings characters. */
function text(doublings: number): string {
  return `s = 'x'; for (k in range(${doublings})) {s = s + s};`;
}

function sets(): string {
  return 'a = set(range(60000).map(|k| {})); b = set(range(60000).map(|k| {}));';
}
