/**
 * Statements that write to instances by every way there is, and change their types and enums: for random tests.
 *
 * Long because: it is a list that is chosen from.
 */
import { Float } from '../value/scalars.js';
import type { Plain } from './harness.js';

/** Picks one of several: what the statement is made of is decided outside. */
export type Pick = (from: readonly string[]) => string;

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
const WRITTEN = [
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
const VALUES = [...WRITTEN, ...NAMES];
const LISTS = ['l', 'm', 'es', 'el'];
const PLACES = ['.a', '.b', '.c', '.d', '.l[0]', '.l[1]', 'P{}'];
const KEYS = [
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
/** Properties of `P` with values that fit as long as their definitions are the first ones; most random pairs do not. */
const FITTING = [
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
const MEMBERS = ['A', 'B', 'C', 'D', 'X', 'Y', 'm'];
const ENUMS = ['E', 'F', 'G'];
const OPS = ['=', '+=', '-=', '*=', '|=', '&=', '^='];
const DEFS = [
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
const COMPOUND = [
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
const ITEMS = [
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
const MEMBERS_OF_SETS = ['.a.qs .c', '.b.qs Q{n:2}', '.b.qs .d', '.c.ps .a', '.d.ps P{}', '.d.ps .b'];

/** Definitions, each with a value that fits. */
const DEFINED = [
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
const P_PLACES = ['.a', '.b', '.l[0]'];

/** Half of the choices fit, so that each kind of statement succeeds often; the others are anything. */
function half(pick: Pick, fitting: () => string, anything: () => string): string {
  return pick(['fitting', 'anything']) === 'fitting' ? fitting() : anything();
}

/** A place, a property of it, and a value. */
function property(pick: Pick, make: (place: string, key: string, value: string) => string): string {
  return half(
    pick,
    () => {
      const [key = '', value = ''] = pick(FITTING).split(': ');
      return make(pick(P_PLACES), key, value);
    },
    () => make(pick(PLACES), pick(KEYS), pick(VALUES)),
  );
}

/** A list and two items. */
function list(pick: Pick, make: (place: string, item: string, other: string) => string): string {
  return half(
    pick,
    () => {
      const [place = '', item = ''] = pick(ITEMS).split(' ');
      return make(place, item, item);
    },
    () => make(`${pick(PLACES)}.${pick(LISTS)}`, pick(VALUES), pick(VALUES)),
  );
}

/** A set and two members. */
function set(pick: Pick, make: (place: string, member: string, other: string) => string): string {
  return half(
    pick,
    () => {
      const [place = '', member = ''] = pick(MEMBERS_OF_SETS).split(' ');
      return make(place, member, member);
    },
    () => make(`${pick(PLACES)}.${pick(['qs', 'ps'])}`, pick(VALUES), pick(VALUES)),
  );
}

/** A place, a property, an operator and a value. */
function compound(
  pick: Pick,
  make: (place: string, key: string, op: string, value: string) => string,
): string {
  return half(
    pick,
    () => {
      const [place = '', key = '', op = '', value = ''] = pick(COMPOUND).split(' ');
      return make(place, key, op, value);
    },
    () => make(pick(PLACES), pick(KEYS), pick(OPS), pick(VALUES)),
  );
}

/** A definition and a value. */
function defined(pick: Pick, make: (definition: string, value: string) => string): string {
  return half(
    pick,
    () => {
      const [definition = '', value = ''] = pick(DEFINED).split(' ');
      return make(definition, value);
    },
    () => make(pick(DEFS), pick(VALUES)),
  );
}

/** A name under which a client sent a thing, mostly. */
function sentThing(pick: Pick): string {
  return half(
    pick,
    () => pick(['vt', 'vu', 'vv', 'vw']),
    () => pick(NAMES),
  );
}

/** A value for members of an enum, or for anything. */
function memberValue(pick: Pick): string {
  return half(
    pick,
    () => pick(['vi', '4', '12', '99']),
    () => pick(VALUES),
  );
}

const ADD_Z = `try(mod_type('P', 'add', 'z', 'int'))`;
const SET_Z = `try({set_type('Z', {a: 'int', b: '[str]', c: 'P?'}); .z = Z{a: 1, b: ['x']}})`;
const SET_G = `try(set_enum('G', {X: 1, Y: 2}))`;

/** Statements, made of a few choices. */
export const STATEMENTS: readonly ((pick: Pick) => string)[] = [
  (pick) => compound(pick, (place, key, op, value) => `${place}.${key} ${op} ${value}`),
  (pick) => property(pick, (place, key, value) => `${place}.${key} = ${value}`),
  (pick) => compound(pick, (place, key, op, value) => `${place}['${key}'] ${op} ${value}`),
  (pick) => property(pick, (place, key, value) => `${place}.set('${key}', ${value})`),
  (pick) =>
    property(
      pick,
      (place, key, value) =>
        `${place}.assign({${key}: ${value}, ${pick(['u', 'i'])}: ${pick(['1', 'vi', 'nil'])}})`,
    ),
  (pick) => `${pick(PLACES)}.assign(${pick(PLACES)})`,
  (pick) => list(pick, (place, item, other) => `${place}.push(${item}, ${other})`),
  (pick) => list(pick, (place, item) => `${place}.splice(0, 1, ${item})`),
  (pick) => list(pick, (place, item) => `${place}.extend([${item}])`),
  (pick) => list(pick, (place, item) => `${place}.fill(${item})`),
  (pick) => list(pick, (place, item) => `${place}[0:1] = [${item}]`),
  (pick) =>
    half(
      pick,
      () => `.b.l[${pick(['0', '1'])}] ${pick(['+=', '*=', '|='])} ${pick(['1', 'vi'])}`,
      () => `${pick(PLACES)}.${pick(LISTS)}[0] ${pick(OPS)} ${pick(VALUES)}`,
    ),
  (pick) => list(pick, (place, item) => `wse(); x = ${place}; x.unshift(${item}); x.pop()`),
  (pick) => set(pick, (place, member, other) => `${place}.add(${member}, ${other})`),
  (pick) => `${pick(PLACES)}.${pick(['qs', 'ps'])}.remove(${pick(VALUES)})`,
  (pick) => `${pick(PLACES)}.${pick(['qs', 'ps'])}.clear()`,
  (pick) =>
    half(
      pick,
      () => `.a.r = {k: 2}; .a.r.k ${pick(['+=', '-=', '='])} ${pick(['1', 'vi'])}`,
      () => `${pick(PLACES)}.r.${pick(['k', 'j'])} ${pick(OPS)} ${pick(VALUES)}`,
    ),
  (pick) =>
    `.g.${pick(['k', 'j'])} = ${half(
      pick,
      () => pick(['.a', '.b', 'P{}']),
      () => pick(VALUES),
    )}`,
  (pick) => `.e.${pick(KEYS)} = ${pick(VALUES)}`,
  () => `.e.to_type('P')`,
  () =>
    `try(.e.to_type('P')); try(.z.to_thing()); .e = {}; set_type('Y', {a: 'int'}); .e = Y{}; .e.to_thing(); del_type('Y')`,
  () => `.e = {}`,
  (pick) => `.l.push(${pick(PLACES)}.dup(2))`,
  (pick) => property(pick, (_, key, value) => `.l.push(new('P', {${key}: ${value}}))`),
  (pick) => `.l.push(Q{${pick(KEYS)}: ${pick(VALUES)}})`,
  (pick) => `[{${pick(KEYS)}: ${pick(VALUES)}}].map_type('P').each(|p| .l.push(p))`,
  () => `.l.shift()`,
  (pick) => `{ .del('${pick(['a', 'b', 'c'])}'); .a = P{}; .b = P{}; .c = Q{}; }`,
  (pick) =>
    `wse(); .a.up(${half(
      pick,
      () => pick(['3', 'vi']),
      () => pick(VALUES),
    )})`,
  (pick) => `mod_type('P', 'add', 'z', '${pick(DEFS)}')`,
  (pick) => defined(pick, (definition, value) => `mod_type('P', 'add', 'z', '${definition}', ${value})`),
  (pick) => defined(pick, (definition, value) => `mod_type('P', 'add', 'z', '${definition}', |p| ${value})`),
  (pick) => `mod_type('P', 'del', '${pick(KEYS)}')`,
  () => `${ADD_Z}; mod_type('P', 'del', 'z')`,
  (pick) =>
    half(
      pick,
      () => `mod_type('P', 'ren', '${pick(['w', 'd', 'x'])}', 'y'); try(mod_type('P', 'ren', 'y', 'w'))`,
      () => `mod_type('P', 'ren', '${pick(KEYS)}', '${pick(KEYS)}')`,
    ),
  (pick) =>
    `${ADD_Z}; mod_type('P', 'mod', '${pick(['z', ...KEYS])}', '${pick(['any', 'int?', 'number', ...DEFS])}')`,
  (pick) =>
    defined(
      pick,
      (definition, value) =>
        `${ADD_Z}; mod_type('P', 'mod', '${pick(['z', 'x', 'd', 'w', ...KEYS.slice(0, 3)])}', '${definition}', |p| ${value})`,
    ),
  (pick) => property(pick, (_, key, value) => `mod_type('P', 'all', |p| p.${key} = ${value})`),
  (pick) => `mod_type('Q', 'rel', '${pick(['p', 'me', 'ps'])}', nil)`,
  (pick) =>
    half(
      pick,
      () => `try(mod_type('Q', 'rel', 'me', nil)); mod_type('Q', 'rel', 'me', 'me')`,
      () => `mod_type('Q', 'rel', '${pick(['p', 'me', 'ps'])}', '${pick(['q', 'qs', 'me'])}')`,
    ),
  (pick) => `rename_type('P', '${pick(['P2', 'Q'])}')`,
  () => `try(rename_type('P', 'P2')); rename_type('P2', 'P')`,
  () => `${SET_Z}; del_type('Z')`,
  (pick) =>
    `set_type('Z', {a: 'int', b: '[str]', c: 'P?'}); .z = Z{a: 1, b: ['x'], c: ${half(
      pick,
      () => pick(['.a', 'nil', 'P{}']),
      () => pick(VALUES),
    )}}`,
  (pick) =>
    half(
      pick,
      () => `${SET_Z}; .z.${pick(['a = vi', 'b = [vs]', 'c = .b'])}`,
      () => `.z.${pick(['a', 'b', 'c'])} = ${pick(VALUES)}`,
    ),
  (pick) => list(pick, (place, item) => `${place}.push(${item})`),
  (pick) => list(pick, (place, item, other) => `${place}.unshift(${item}, ${other})`),
  (pick) => `${pick(PLACES)}.${pick(LISTS)}.remove(|x| x == ${pick(VALUES)})`,
  (pick) => list(pick, (place, item) => `${place}[${pick(['0:0', '1:', ':2', ':'])}] = [${item}, ${item}]`),
  (pick) => `${pick(['.a', '.b', '.l[0]'])}.${pick(FITTING).replace(':', ' =')}`,
  (pick) => `${pick(['.a', '.b'])}.assign({${pick(FITTING)}, ${pick(FITTING)}})`,
  (pick) => `.l.unshift(new('P', {${pick(FITTING)}, ${pick(FITTING)}}))`,
  (pick) => `.l.unshift(P{${pick(FITTING)}, ${pick(FITTING)}})`,
  (pick) => `.e = {${pick(FITTING)}}; .e.to_type('P')`,
  (pick) => `.b.${pick(['es', 'el'])}.push(${pick(['E{A}', 'E{C}'])})`,
  (pick) => `.b.${pick(['es', 'el'])}.extend([E{A}, E{C}])`,
  (pick) => `.b.${pick(['es', 'el'])}[0:1] = [E{C}, E{A}]`,
  (pick) => `.b.${pick(['es', 'el'])}.splice(0, 1, ${pick(['E{A}', 'E{C}'])}, E{B})`,
  // What a client sent, stored and then changed by the name that it came under, and the other way round.
  (pick) =>
    half(
      pick,
      () => `wse(); x = vl; ${pick(P_PLACES)}.l = x; x.push(${pick(['1', '-1', 'vs'])}); x.push(3)`,
      () => `wse(); x = ${pick(NAMES)}; ${pick(PLACES)}.${pick(KEYS)} = x; x.push(${pick(VALUES)})`,
    ),
  (pick) =>
    half(
      pick,
      () => `x = vl; x.push(${pick(['1', 'vi'])}); ${pick(P_PLACES)}.${pick(['l', 'x'])} = x`,
      () => `x = ${pick(NAMES)}; x.push(${pick(VALUES)}); ${pick(PLACES)}.${pick(KEYS)} = x`,
    ),
  (pick) =>
    `wse(); x = ${sentThing(pick)}; ${half(
      pick,
      () => `${pick(P_PLACES)}.${pick(['t', 'x'])}`,
      () => `${pick(PLACES)}.${pick(KEYS)}`,
    )} = x; x.${pick(['k', 'j'])} = ${pick(VALUES)}`,
  (pick) =>
    property(pick, (_, key, value) => `x = ${sentThing(pick)}; x.${key} = ${value}; .l.push(new('P', x))`),
  (pick) =>
    half(
      pick,
      () => `${pick(P_PLACES)}.assign(vw)`,
      () => `${pick(PLACES)}.assign(${pick(NAMES)})`,
    ),
  (pick) => `.l.push(new('${pick(['P', 'Q'])}', ${pick(NAMES)}))`,
  (pick) => `.l.push(P{${pick(KEYS)}: ${pick(NAMES)}})`,
  (pick) =>
    `.e = ${half(
      pick,
      () => pick(['vt', 'vw']),
      () => pick(NAMES),
    )}; .e.to_type('P')`,
  (pick) =>
    half(
      pick,
      () => `${pick(['.a', '.b'])}.qs = set(new('Q', ${pick(['vt', 'vu'])}))`,
      () => `${pick(PLACES)}.${pick(['qs', 'ps'])} = set(${pick(NAMES)})`,
    ),
  (pick) =>
    half(
      pick,
      () => `${pick(['.a', '.b'])}.qs = set([vt, vu].map_type('Q'))`,
      () => `${pick(PLACES)}.${pick(['qs', 'ps'])} = set(vz.map_type('${pick(['P', 'Q'])}'))`,
    ),
  (pick) =>
    half(
      pick,
      () => `[vw, ${pick(['vt', 'vu'])}].map_type('P').each(|p| .l.push(p))`,
      () => `${pick(NAMES)}.map_type('P').each(|p| .l.push(p))`,
    ),
  (pick) =>
    half(
      pick,
      () => `.${pick(['g.k = .a', 'h.k = E{B}', 'g.j = P{}'])}`,
      () => `.${pick(['g', 'h'])}.k = ${pick(VALUES)}`,
    ),
  (pick) =>
    `.h.assign({k: ${half(
      pick,
      () => pick(['E{A}', '.a.en']),
      () => pick(VALUES),
    )}})`,
  (pick) => `.h.restrict('${pick(ENUMS)}')`,
  () => `.h = {}.restrict('E')`,
  (pick) =>
    half(
      pick,
      () => `${pick(P_PLACES)}.et.${pick(['k', 'j'])} = ${pick(['E{A}', 'E{C}'])}`,
      () => `${pick(PLACES)}.et.${pick(['k', 'j'])} = ${pick(VALUES)}`,
    ),
  (pick) =>
    half(
      pick,
      () => `set_enum('G', ${pick(['{X: vi, Y: 9}', '{X: vs, Y: "q"}', '{X: vv, Y: {}}'])}); .a.ea = G{X}`,
      () => `set_enum('G', {X: ${pick(VALUES)}, Y: ${pick(VALUES)}}); .a.ea = G{X}`,
    ),
  (pick) =>
    half(
      pick,
      () => `mod_enum('E', 'add', 'D', ${pick(['vi', '4', '12'])})`,
      () => `mod_enum('${pick(ENUMS)}', 'add', '${pick(MEMBERS)}', ${pick(VALUES)})`,
    ),
  (pick) => `mod_enum('${pick(ENUMS)}', 'add', '${pick(MEMBERS)}', {})`,
  (pick) => `mod_enum('E', 'add', 'D', 4); ${pick(PLACES)}.${pick(['en', 'eq', 'ea'])} = E{D}`,
  (pick) => `mod_enum('${pick(ENUMS)}', 'def', '${pick(MEMBERS)}')`,
  (pick) =>
    half(
      pick,
      () => `try(mod_enum('F', 'add', 'Z', {})); mod_enum('F', 'del', '${pick(['Z', 'X'])}')`,
      () => `mod_enum('${pick(ENUMS)}', 'del', '${pick(MEMBERS)}')`,
    ),
  (pick) =>
    half(
      pick,
      () => `mod_enum('E', 'mod', '${pick(['A', 'B', 'C'])}', ${memberValue(pick)})`,
      () => `mod_enum('${pick(ENUMS)}', 'mod', '${pick(MEMBERS)}', ${pick(VALUES)})`,
    ),
  (pick) =>
    half(
      pick,
      () =>
        `mod_enum('${pick(['E', 'F'])}', 'ren', '${pick(['A', 'X'])}', 'N'); try(mod_enum('E', 'ren', 'N', 'A')); try(mod_enum('F', 'ren', 'N', 'X'))`,
      () => `mod_enum('${pick(ENUMS)}', 'ren', '${pick(MEMBERS)}', '${pick(MEMBERS)}')`,
    ),
  (pick) =>
    `x = E{${pick(['A', 'B', 'C', ...MEMBERS])}}; try(mod_enum('E', 'del', '${pick(MEMBERS)}')); .a.${half(
      pick,
      () => pick(['en', 'eq', 'ea']),
      () => pick(KEYS),
    )} = x`,
  (pick) => `x = [E{C}]; .b.es = []; try(mod_enum('E', 'del', 'C')); ${pick(PLACES)}.${pick(LISTS)} = x`,
  (pick) => `rename_enum('${pick(ENUMS)}', '${pick(['E', 'E2', 'P'])}')`,
  () => `try(rename_enum('E', 'E2')); rename_enum('E2', 'E')`,
  (pick) =>
    half(
      pick,
      () => `${SET_G}; del_enum('G')`,
      () => `del_enum('${pick(ENUMS)}')`,
    ),
  () => `${SET_G}; .a.ea = G{X}; .b.el = [G{Y}]; .a.ea = E{A}; .b.el = []; del_enum('G')`,
  // A member that only a variable holds.
  () => `mod_enum('E', 'add', 'D', 8); x = [E{D}]; try(mod_enum('E', 'del', 'D')); .a.ea = x[0]; .b.el = x`,
  () => `set_enum('G', {X: vs, Y: 'c'}); .e.z = G{X}; .h.restrict('G'); .e.z = nil; del_enum('G')`,
  (pick) => `mod_enum('E', 'mod', '${pick(MEMBERS)}', ${pick(['4', '5', '6'])})`,
  () =>
    `mod_enum('E', 'add', 'D', vi); x = E{D}; .b.es.push(x); .b.es = []; x = nil; mod_enum('E', 'del', 'D')`,
  (pick) => `x = vl; .${pick(['a', 'b'])}.l = x; x.push(${pick(['-1', '1', 'vj'])}); .e.l = x`,
  (pick) => `x = vw; .l.unshift(new('P', x)); x.l.push(vj); x.t.k.push(vi); .${pick(['a', 'e'])}.t = x`,
  (pick) =>
    `x = ${pick(['vz', '[vt, vu]', '[vv]'])}.map_type('Q'); .${pick(['a', 'b'])}.qs = set(x); .${pick(['a', 'b'])}.qs |= set(x)`,
  (pick) => `set_enum('G', {X: vi, Y: 2}); .b.el.push(G{Y}); .h.restrict('${pick(ENUMS)}')`,
  () => `.h.k = E{C}`,
  (pick) => `F{X}.value().k = ${pick(['E{A}', 'vv', '.a'])}`,
  (pick) =>
    half(
      pick,
      () => `F{${pick(['X', 'Y'])}}.value().k = ${pick(VALUES)}`,
      () => `${pick(ENUMS)}{${pick(MEMBERS)}}.value().k = ${pick(VALUES)}`,
    ),
  (pick) =>
    `try(${pick(PLACES)}.${pick(KEYS)} = ${pick(VALUES)}); try(mod_type('P', 'mod', 'z', 'int', |p| 5))`,
];
