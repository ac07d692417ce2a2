/**
 * Statements that write to instances by every way there is, and change their types and enums: for random tests.
 */

import {
  COMPOUND,
  DEFINED,
  DEFS,
  ENUMS,
  FITTING,
  INDEXED,
  ITEMS,
  KEYS,
  LISTS,
  MEMBERS,
  MEMBERS_OF_SETS,
  NAMES,
  OPS,
  P_PLACES,
  PLACES,
  VALUES,
} from './type-words.js';

/** Picks one of several: what the statement is made of is decided outside. */
export type Pick = (from: readonly string[]) => string;

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
const INDEX_FLAGS = ['0', 'NO_CASE', 'UNIQUE', 'UNIQUE | NO_CASE'];
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
  (pick) =>
    half(
      pick,
      () => `mod_type('P', 'strict', ${pick(['true', 'false'])}); .l.push(new('P', {${pick(FITTING)}}))`,
      () => `try(mod_type('P', 'strict', true)); .l.push(P{${pick(KEYS)}: ${pick(VALUES)}, nope: nil})`,
    ),
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
  // A value that a client sent, stored and then changed by the name that it came under, and the other way round.
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
  // Indexes, and writes to what they have.
  (pick) => `new_index('P', '${pick(['j', 'k'])}', [${pick(INDEXED)}], ${pick(INDEX_FLAGS)})`,
  (pick) =>
    `try(new_index('P', 'j', ['${pick(['u', 'o', 'q', 'en', 'w'])}', 's'], ${pick(INDEX_FLAGS)})); ${pick(P_PLACES)}.${pick(FITTING).replace(':', ' =')}`,
  (pick) =>
    `try(new_index('P', 'j', ['o'], UNIQUE)); .l.push(P{o: ${pick(['nil', '.a', '.b'])}}, P{o: ${pick(['nil', '.a', 'P{}'])}})`,
  (pick) =>
    `try(new_index('P', 'j', ['s'], UNIQUE | NO_CASE)); .a.s = 'aB'; ${pick(['.b', '.l[0]', '.a'])}.s = '${pick(['Ab', 'ab', 'aC'])}'`,
  (pick) =>
    `try(new_index('P', 'j', ['${pick(['u', 'i'])}'])); each_by('P', 'j', nil, {limit: 9}, |p| p.${pick(['u', 'i'])} = ${pick(['1', '7', 'p.u'])})`,
  (pick) =>
    `try(new_index('P', 'j', [${pick(INDEXED)}])); ${pick(["rename_index('P', 'j', 'k')", "del_index('P', 'j')"])}`,
];
