/** Parts of statements on types, instances and enums: the collection that they begin with, values, places, definitions. */
import { Float } from '../value/scalars.js';
import type { Plain } from './harness.js';

export const SETUP = `
  set_enum('E', {A: 1, B: 2, C: 3, m: |e| e.value()}); set_enum('F', {X: {k: 1}, Y: {}});
  new_type('P'); new_type('Q');
  set_type('Q', {n: 'pint', p: 'P?', ps: '{P}', me: 'Q?'});
  set_type('P', {
    i: 'int<0:9>', u: 'uint', s: 'str<1:4:ab>', e: 'email', x: 'any', f: 'number', l: '[uint]', m: '[str?]', t: 'thing',
    r: 'thing<int>', q: 'Q?', qs: '{Q}', o: 'P?', w: '/^a*$/', d: 'datetime?',
    en: 'E', eb: 'E{B}', eq: 'E?', es: '[E]', ea: 'enum', el: '[enum]', ef: 'F?', et: 'thing<E>', up: |p, v| p.u = v,
  });
  mod_type('P', 'rel', 'q', 'ps'); mod_type('Q', 'rel', 'p', 'qs'); mod_type('Q', 'rel', 'me', 'me');
  .a = P{}; .b = P{u: 1, l: [1, 2]}; .c = Q{}; .d = Q{n: 3}; .e = {}; .l = [P{}, Q{}]; .g = {}.restrict('P');
  .h = {}.restrict('E'); .b.es.push(E{A}, E{C}); .a.ea = F{Y};
`;

/** Values as they are written in a query, good and bad ones for most properties. */
export const WRITTEN = [
  '0',
  '1',
  '-1',
  '10',
  '3.5',
  '"a"',
  '""',
  '"aaaaa"',
  '"x@y.zz"',
  'nil',
  'true',
  '[]',
  '[1, 2]',
  '[-1]',
  '["a", nil]',
  '[1, "a"]',
  '{}',
  '{k: 1}',
  '{k: "a"}',
  '.a',
  '.b',
  '.c',
  '.d',
  '.e',
  'P{}',
  'Q{}',
  'P{i: 3}',
  'set()',
  'set(.a)',
  'set(.c, .d)',
  'set(Q{})',
  'set(.b, P{})',
  '.a.l',
  '.b.t',
  '.b.qs',
  'datetime(5)',
  '.a.wrap("Q")',
  '|x| x + 1',
  '.c.p',
  '.d.ps',
  '.b.q',
  'E{A}',
  'E{B}',
  'E{C}',
  'E()',
  'F{X}',
  'F{Y}.value()',
  '[E{A}, E{C}]',
  '[E{B}, F{X}]',
  '{k: E{C}}',
  '.a.en',
  '.b.es',
  '.b.es[0]',
  'P{es: [E{A}], eq: E{C}}',
];

/** Variables that a client sends. */
export const SENT: Readonly<Record<string, Plain>> = {
  vi: 7,
  vj: -1,
  vk: 2n ** 60n,
  vf: new Float(2.5),
  vs: 'ab',
  vn: null,
  vb: Uint8Array.of(1, 200),
  vl: [1, 2],
  vm: ['a', null],
  vp: [],
  vx: [[1, 'a'], { k: 1 }],
  vt: {},
  vu: { k: 1 },
  vv: { k: 'a', j: { i: 3 } },
  vw: { i: 3, u: 1, l: [1], m: ['x'], t: { k: [1] }, r: { k: 2 } },
  vy: { i: 10, l: [-1], r: { k: 'a' } },
  vz: [{ n: 1 }, { n: 0 }],
};
export const NAMES = Object.keys(SENT);
export const VALUES = [...WRITTEN, ...NAMES];
export const LISTS = ['l', 'm', 'es', 'el'];
export const PLACES = ['.a', '.b', '.c', '.d', '.l[0]', '.l[1]', 'P{}'];
export const KEYS = [
  'i',
  'u',
  's',
  'e',
  'x',
  'f',
  'l',
  'm',
  't',
  'r',
  'q',
  'qs',
  'o',
  'w',
  'd',
  'n',
  'p',
  'ps',
  'me',
  'z',
  'en',
  'eb',
  'eq',
  'es',
  'ea',
  'el',
  'ef',
  'et',
];
/** Properties of an index of `P`. */
export const INDEXED = [
  "'i'",
  "'u', 's'",
  "'s'",
  "'e'",
  "'f'",
  "'t'",
  "'q', 'u'",
  "'o'",
  "'w'",
  "'d', 'o'",
  "'en'",
  "'eq', 'i'",
  "'ea'",
  "'z'",
];
/** Properties of `P` with values that fit as long as their definitions are the first ones; most random pairs do not. */
export const FITTING = [
  'u: vi',
  'i: vi',
  's: vs',
  'f: vf',
  'x: vx',
  'x: vb',
  'x: [E{A}, vv]',
  'l: vl',
  'm: vm',
  't: vv',
  'r: vu',
  'en: E{A}',
  'en: E{C}',
  'eq: E{C}',
  'eq: nil',
  'ea: F{X}',
  'ef: F{Y}',
  'es: [E{C}, E{C}]',
  'es: .b.es',
  'el: [F{X}, E{B}]',
  'el: vp',
  'et: {k: E{C}}',
  'o: .a',
];
export const MEMBERS = ['A', 'B', 'C', 'D', 'X', 'Y', 'm'];
export const ENUMS = ['E', 'F', 'G'];
export const OPS = ['=', '+=', '-=', '*=', '|=', '&=', '^='];
export const DEFS = [
  'int',
  'uint',
  'int?',
  'str',
  'any',
  'number',
  '[]',
  '[int]',
  '[any]',
  'thing',
  'P?',
  'Q?',
  '{Q}',
  'float',
  'thing<int>',
  'raw',
  'E',
  'E?',
  'E{B}',
  '[E]',
  'enum',
  'F{X}',
  'thing<E>',
];

/** Compound assignments that can be made as long as the definitions are the first ones. */
export const COMPOUND = [
  '.a i += 1',
  '.b i |= 4',
  '.b u *= 3',
  '.a u += vi',
  '.a f -= vf',
  '.b f += 0.5',
  '.a s += "b"',
  '.a qs |= set(Q{})',
  '.a qs ^= set(.c)',
  '.b qs -= set(.c)',
  '.c ps |= set(.b)',
  '.c ps &= set(.a)',
];

/** Lists with an item that each of them takes. */
export const ITEMS = [
  '.a.l 3',
  '.b.l vi',
  '.b.m "q"',
  '.a.m nil',
  '.b.es E{C}',
  '.a.es E{B}',
  '.b.el F{X}',
  '.a.el E{A}',
];

/** Sets with a member that each of them takes. */
export const MEMBERS_OF_SETS = ['.a.qs .c', '.b.qs Q{n:2}', '.b.qs .d', '.c.ps .a', '.d.ps P{}', '.d.ps .b'];

/** Definitions, each with a value that fits. */
export const DEFINED = [
  'int 3',
  'str? vs',
  'any vv',
  '[int] vl',
  'thing vu',
  'E E{C}',
  '[E] .b.es',
  'P? .a',
  'number vf',
];

/** Things whose properties may be written. */
export const P_PLACES = ['.a', '.b', '.l[0]'];
