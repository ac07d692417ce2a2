/** Statements that change large and small values in every way there is: for random tests of what is stored of them. */

export const SETUP = `
  set_type('T', {n: 'int', l: '[int]', s: '{T}', o: 'T?', x: 'any'}); set_enum('E', {A: {k: 0}, B: {k: 1}});
  .big = {}; range(1400).each(|i| .big.set('k' + str(i), i)); .list = range(1300); .text = 'x';
  .objs = range(1100).map(|i| {i: i}); .set = set(); .ts = range(40).map(|i| T{n: i}); .small = {a: 1, l: [1, 2], s: set()};
  .big.set('l', range(1100)); .big.set('s', set(.objs[0])); .objs[2].l = range(1030); .objs[3].k3 = L; .ts[0].x = {}; .other = .big;
  new_index('T', 'n', ['n', 'o']); mod_type('T', 'add', 'f0', 'int', 5); new_procedure('p0', |a| a);
  set_type('W', {n: 'int', x: 'any', o: 'T?'}, WPO); .room = room(); .rooms = [room(), .room]; .task = task(FAR, |t, a| a.n, [.ts[0]]);
`.replaceAll('FAR', "datetime().move('years', 5)");

/** Variables of every query. */
export const VARS = { L: 'x'.repeat(20_000), M: 'y'.repeat(20_000), B: new Uint8Array(20_000).fill(7) };

/** Picks a number from 0 up to, not including, a limit. */
export type Pick = (limit: number) => number;

const BIGS = ['.big', '.big', '.big', '.other', '.small', '.objs[3]', '.ts[0].x'];
const LISTS = ['.list', '.list', '.big.l', '.big.k7', '.small.l', '.objs', '.ts', '.ts[1].l', '.objs[2].l'];
const LETTING_GO = [
  "mod_type('T', 'mod', 'f1', 'str', |t| L)",
  "mod_type('T', 'add', 'f2', 'thing')",
  "mod_type('U', 'add', 'z', 'T?')",
  "mod_type('U', 'wpo', true)",
  "mod_type('U', 'all', |u| u.n = 3)",
  "mod_enum('E', 'del', 'B')",
  "[type_count('T'), type_all('U').len()]",
];
const VALUES = [
  '1',
  '"s"',
  'L',
  'M',
  'B',
  '[]',
  'range(1500)',
  '[1, [2, 3]]',
  '{}',
  '{y: {z: L}}',
  '.small',
  '.big',
  '.objs[5]',
  'set()',
  'set(.objs[1], .objs[2])',
  'T{n: 1}',
  '.ts[0]',
  'E{B}',
  'range(900).map(|| {})',
  '[L, M, L]',
  'nil',
  '.list',
  '.objs',
  '.ts',
  'room()',
  '.room',
  '[room(), room()]',
  '{r: room()}',
  '.task',
  'task(datetime(), |t| nil)',
  ".ts[1].wrap('W')",
  '[E{A}, E{C}]',
  '/x/i',
  '1.5',
];

/** Definitions with a value of each kind that an instance may have: flat ones, and those that refer to things, rooms, members and tasks. */
const ADDED = [
  "'int', 5",
  "'str', L",
  "'str', 'text'",
  "'[any]'",
  "'[any]', [{}, [1]]",
  "'[int]', range(1200)",
  "'any', []",
  "'any', {}",
  "'any', T{n: 3}",
  "'any', .objs[6]",
  "'any', E{B}",
  "'any', room()",
  "'any', task(datetime(), |t| nil)",
  "'any', ['a', E{A}]",
  "'any', .ts[0].wrap('W')",
  "'{}'",
  "'{T}', set(.ts[0], T{})",
  "'room'",
  "'room?'",
  "'task'",
  "'thing'",
  "'thing', {a: {b: 1}}",
  "'T?', .ts[3]",
  "'E'",
  "'E{B}'",
  "'bytes', B",
  "'float'",
  "'datetime'",
  "'closure'",
  "'int', |t| t.n",
  "'any', |t| t.n % 5 == 4 ? raise('no') : {n: t.n}",
  "'str', |t| t.n % 7 == 6 ? 5 : L",
  "'room', |t| t.n % 3 == 2 ? nil : room()",
];

/** Definitions of properties that are filled in the background, with what gives their values. */
const FILLED = [
  "'int', |t| t.n",
  "'str', |t| L + t.n",
  "'str?', |t| t.n % 3 == 0 ? nil : 'of ' + str(t.n)",
  "'int', |t| is_nil(t.o) ? t.n : t.o.n + 1",
  "'[any]', |t| [{}, t.n]",
  "'thing?', |t| {n: t.n}",
  "'T?', |t| t",
  "'int', |t| 1 / (t.n - 7)",
];

/** Definitions that properties get in the background, with what gives their values. */
const SUCCEEDING = [
  "'int', |t| t.n",
  "'str?', |t| t.n % 3 == 0 ? nil : 'is ' + str(t.n)",
  "'str', |t| t.n % 2 == 0 ? str(t.n) : range(5000).map(|| 'large').join('')",
  "'float', |t| float(t.n)",
  "'int', |t| 1 / (t.n - 7)",
];

const INDEXED = [
  "['n']",
  "['o']",
  "['o', 'n']",
  "['n', 'o']",
  "['f0']",
  "['f1', 'n']",
  "['t']",
  "['t', 'n']",
  "['f2']",
];

/** Moments that are over when a life has lasted a while. */
const SOON = ['int(now())', 'int(now()) + 10', 'int(now()) + 40', '10000000000'];

/** Ways to go on from a thing `t` of a circle that begins with `c`, by another one, the last value. */
const CIRCLES = [
  't.next = {all: [t, c, i], s: set(c, .ts[i]), x: T{n: i, x: c}}; t.next',
  't.x = T{n: i, o: .ts[i]}; t.x.s.add(.ts[i]); t.x',
  "if (!has_type('G')) set_type('G', {o: 'thing'}); t.x = {g: G{o: t}, h: G{o: c}}; t.x",
  't.x = {l: range(1100), r: room()}; t.x.l.push([c, [t]]); t.x',
];

const ROOMS = ['.room', '.room', '.rooms[0]', '.rooms[1]', '.small.r', '.ts[1].x', 'room()'];
const TASKS = ['.task', '.task', '.tasks[0]', '.small.t', 'tasks().choice()'];
const SETS = ['.set', '.set', '.ts[2].s', '.big.s', '.small.s'];

const key = (pick: Pick): string =>
  pick(3) === 0 ? (['l', 's', 'k7', 'k0', 'k1399', 'z'][pick(6)] as string) : `k${pick(1500)}`;
const of = (pick: Pick, from: readonly string[]): string => from[pick(from.length)] as string;

export const STATEMENTS: readonly ((pick: Pick) => string)[] = [
  (p) => `${of(p, BIGS)}.set('${key(p)}', ${of(p, VALUES)})`,
  (p) => `${of(p, BIGS)}.set('${key(p)}', ${of(p, VALUES)})`,
  (p) =>
    `${of(p, BIGS)}.set('${of(p, ['l', 'k7', 's'])}', ${of(p, ['range(1500)', 'set()', '[L, M]', 'range(1030)'])})`,
  (p) =>
    `b = ${of(p, BIGS)}; range(${p(1400)}, ${p(1600)}).each(|i| b.set('k' + str(i), ${of(p, ['i', 'L', '[i]', '{}', 'nil'])}))`,
  (p) => `b = ${of(p, BIGS)}; range(${p(400)}).each(|i| b.del('k' + str(i * ${1 + p(5)} + ${p(9)})))`,
  (p) => `${of(p, BIGS)}.del('${key(p)}')`,
  (p) => `i = 0; ${of(p, BIGS)}.remove(|k, v| { i += 1; i % ${2 + p(6)} ${of(p, ['==', '!='])} 0 })`,
  (p) => `i = 0; ${of(p, BIGS)}.remove(|k, v| { i += 1; i ${of(p, ['<', '>'])} ${p(1600)} })`,
  (p) => `${of(p, BIGS)}.clear()`,
  (p) => `${of(p, BIGS)}.ren('${key(p)}', '${key(p)}')`,
  (p) => `${of(p, BIGS)}.assign({k3: ${of(p, VALUES)}, k4: 4, new: L})`,
  (p) => `.${of(p, ['big', 'other', 'small', 'list', 'objs', 'text', 'set', 'x', 'ts'])} = ${of(p, VALUES)}`,
  (p) =>
    `.${of(p, ['other', 'x', 'y'])} = ${of(p, ['.big', '.small', '.objs[7]', '.big.copy()', '.big.dup()', '{}', '.ts[3]'])}`,
  (p) => `.del('${of(p, ['big', 'other', 'small', 'list', 'objs', 'set', 'x', 'y'])}')`,
  (p) => `.ren('${of(p, ['big', 'list', 'text', 'x'])}', '${of(p, ['big', 'list', 'text', 'y'])}')`,
  (p) => `.text = ${of(p, ['L', 'M', 'B', '"s"'])}`,
  (p) => `${of(p, LISTS)}.push(${of(p, VALUES)})`,
  (p) => `${of(p, LISTS)}.extend(range(${p(900)}))`,
  (p) => `${of(p, LISTS)}.splice(${p(1300)}, ${p(700)}, ${of(p, VALUES)}, ${of(p, VALUES)})`,
  (p) => `${of(p, LISTS)}.splice(${p(1300)}, ${p(3)})`,
  (p) => `range(${p(300)}).each(|| ${of(p, LISTS)}.${of(p, ['pop', 'shift'])}())`,
  (p) => `i = 0; ${of(p, LISTS)}.remove(|x| { i += 1; i % ${2 + p(6)} == 0 })`,
  (p) => `${of(p, LISTS)}[${p(1200)}] = ${of(p, VALUES)}`,
  (p) => `${of(p, LISTS)}.${of(p, ['clear()', 'fill(L)', 'fill(0)'])}`,
  (p) => `.objs[${p(1000)}].set('${of(p, ['a', 'l', 'x'])}', ${of(p, VALUES)})`,
  (p) => `.objs = range(${p(1500)}).map(|i| {i: i})`,
  (p) => `.big = {}; range(1400).each(|i| .big.set('k' + str(i), ${of(p, ['i', 'L', '[i]', '{}'])}))`,
  (p) =>
    `${of(p, SETS)}.add(${of(p, ['.objs[1], .objs[2]', '{}', 'T{}', '.ts[1], .ts[2], .ts[5]', '.big'])})`,
  (p) => `range(${p(1000)}).each(|i| ${of(p, SETS)}.add(${of(p, ['.objs[i]', '{}', 'T{n: i}'])}))`,
  (p) => `i = 0; ${of(p, SETS)}.remove(|x| { i += 1; i % ${2 + p(6)} ${of(p, ['==', '!='])} 0 })`,
  (p) => `${of(p, SETS)}.clear()`,
  (p) => `.${of(p, ['set', 'y'])} = set(.objs)`,
  (p) => `.ts = range(${p(1500)}).map(|i| T{n: i, l: [i], x: ${of(p, VALUES)}})`,
  (p) => `.ts[${p(40)}].${of(p, ['x', 'o', 'l', 's', 'n'])} = ${of(p, [...VALUES, '.ts[0]', '.ts[0]'])}`,
  (p) => `mod_type('T', 'add', 'f${p(4)}', ${of(p, ADDED)})`,
  (p) => `mod_type('T', 'add', 'f${p(4)}', ${of(p, ADDED)})`,
  (p) => `.ts.each(|t| { t.n += 1; ${of(p, ['', '', 't.f0', 't.f1', 't.f2 = t.f2', 't.f3 = t.f1'])} })`,
  (p) => `type_all('T').each(|t| { if (t.n % ${2 + p(4)} == 0) t.x = ${of(p, VALUES)} })`,
  (p) => `mod_type('T', 'all', |t| t.n = ${of(p, ['t.n + 1', '0', "t.n > 30 ? 'x' : 1"])})`,
  // A change of a type with changes of its instances, which is often taken back as a whole.
  ...Array.from({ length: 4 }, () => (p: Pick): string => {
    const name = `f${p(4)}`;
    return `mod_type('T', 'add', '${name}', ${of(p, ADDED)}); .ts.each(|t| { t.n += 1; t.${name} })${of(p, ['', "; raise('no')"])}`;
  }),
  (p) => `x = T{n: ${p(9)}}; mod_type('T', 'add', 'f${p(4)}', ${of(p, ADDED)}); ${of(p, LISTS)}.push(x)`,
  (p) =>
    `x = [U{n: 1}, {u: U{n: 2}}]; del_type('U'); ${of(p, ['', "set_type('U', {n: 'int'});"])} .${of(p, ['x', 'y'])} = ${of(p, ['x', 'x[0]', 'x[1]', 'set(x[0])'])}`,
  // A thing that the query lets go of is no instance for the change, and may come back from an unfinished expression.
  (p) =>
    `.x = [${of(p, ['T{n: 1, x: E{B}}', 'U{n: 2}', '{k: [E{A}, E{B}]}'])}]; y = [.del('x'), ${of(p, LETTING_GO)}][0]; ${of(p, ['', '.y = y', '.x = y[0]', '.small.u = y'])}`,
  (p) => `.x = [${of(p, ['T{n: 1}', 'U{n: 2}', 'E{A}'])}, .x]; .x = nil; ${of(p, LETTING_GO)}`,
  (p) =>
    `try(set_type('U', {n: 'int', t: ${of(p, ["{.y = U{}; 'T?'}", "{set_type('U', {n: 'str'}); 'int'}", "'no such type'"])}}))`,
  (p) => `mod_type('T', 'del', 'f${p(4)}')`,
  (p) => `mod_type('T', 'ren', 'f${p(4)}', 'f${p(4)}')`,
  (p) => `mod_enum('E', 'mod', 'B', ${of(p, ['{k: L}', '{k: .objs[4]}', '{}'])})`,
  (p) =>
    `mod_type('T', 'mod', 'f${p(4)}', ${of(p, ["'any'", "'int?', |x| 1", "'str', |x| L", "'[any]', |x| [x.n]"])})`,
  (p) => `set_type('U', {n: 'int', t: 'T?', l: ${of(p, ["'[any]'", "'[int]'", "'{T}'"])}})`,
  () => `del_type('U')`,
  (p) => `.us = range(${p(60)}).map(|i| U{n: i, t: .ts[i % 9]})`,
  (p) => `.us[${p(40)}].${of(p, ['n', 't', 'l'])} = ${of(p, VALUES)}`,
  (p) => `.small.set('${of(p, ['a', 'l', 'u'])}', U{n: ${p(9)}})`,
  (p) =>
    `mod_type('U', '${of(p, ['del', 'ren'])}', '${of(p, ['n', 't', 'l', 'z'])}'${of(p, ['', ", 'z'", ", 'n'"])})`,
  (p) =>
    `mod_type('U', 'add', '${of(p, ['n', 't', 'l', 'z'])}', ${of(p, [...ADDED, "'T?'", "'T?'", "'{T}'"])})`,
  (p) =>
    `mod_type('${of(p, ['T', 'U'])}', 'rel', '${of(p, ['o', 't', 's', 'z'])}', '${of(p, ['o', 't', 's', 'z'])}')`,
  (p) => `.${of(p, ['objs[9]', 'small', 'x', 'y'])}.to_type('${of(p, ['U', 'T'])}')`,
  (p) => `.ts[${p(40)}].assign({n: ${p(9)}})`,
  (p) => `c = {l: range(1100), x: ${of(p, VALUES)}}; c.me = c; .c = c; ${of(p, ["'stays'", ".del('c')"])}`,
  // Garbage that refers to each other, and to what stays.
  ...Array.from(
    { length: 5 },
    () =>
      (p: Pick): string =>
        `c = ${of(p, ['{x: 1}', 'T{n: 1}'])}; z = range(${1 + p(30)}).reduce(|t, i| { ${of(p, CIRCLES)} }, c); z.x = ${of(p, ['c', '[c]', 'c', "c.wrap('W')"])}; .c = c; ${of(p, ['.small.c = z', ".del('c')", ".del('c')", ".del('c')"])}`,
  ),
  (p) => `${of(p, ['.c.me', '.x', '.y'])}.set('me', ${of(p, ['.c', '.x', '.big', '.objs[1]'])})`,
  (p) => `.${of(p, ['room', 'x', 'y', 'small.r'])} = ${of(p, ['room()', '.room', '.rooms[0]', 'nil'])}`,
  (p) =>
    `.rooms.${of(p, ['push(room())', 'push(.room)', 'pop()', 'clear()', 'extend([room(), {r: room()}])'])}`,
  (p) => `${of(p, ROOMS)}.set_name('${of(p, ['a', 'b', 'c'])}')`,
  (p) => `${of(p, ROOMS)}.emit('event', ${of(p, ['1', '.small', 'L'])})`,
  (p) =>
    `.${of(p, ['task', 'x', 'small.t'])} = task(datetime().move('days', ${1 + p(9)}), |t, a, b| a, [${of(p, VALUES)}, ${of(p, VALUES)}])`,
  (p) => `.tasks = range(${1 + p(3)}).map(|i| task(datetime().move('days', i + 1), |t, a| a, [{i: i}]))`,
  (p) => `${of(p, TASKS)}.${of(p, ['del()', 'cancel()', 'set_closure(|t| t)'])}`,
  (p) => `${of(p, TASKS)}.set_args([${of(p, VALUES)}])`,
  (p) => `.del('${of(p, ['room', 'rooms', 'task', 'tasks'])}')`,
  (p) =>
    `mod_enum('E', 'add', '${of(p, ['C', 'D'])}', ${of(p, ['{k: 2}', '{k: .objs[4], r: room()}', '.small'])})`,
  (p) => `mod_enum('E', '${of(p, ['del', 'def'])}', '${of(p, ['A', 'B', 'C', 'D'])}')`,
  (p) => `set_enum('F${p(2)}', {A: ${of(p, ['1', "'a'", '{r: room()}'])}}); .y = [F${p(2)}{A}]`,
  (p) => `del_enum('F${p(2)}')`,
  (p) =>
    `.${of(p, ['x', 'y'])} = ${of(p, ['.ts[2]', '.objs[8]', '{n: 1}'])}.wrap('${of(p, ['W', 'T', 'U'])}')`,
  (p) => `${of(p, ['.x', '.objs[9]', '.c'])}.restrict('${of(p, ['int', 'U', 'any'])}')`,
  (p) => `rename_type('${of(p, ['U', 'V'])}', '${of(p, ['U', 'V'])}')`,
  (p) => `rename_enum('${of(p, ['F0', 'F1'])}', '${of(p, ['F0', 'F1'])}')`,
  (p) => `new_index('${of(p, ['T', 'U'])}', 'i${p(3)}', ${of(p, INDEXED)}${of(p, ['', '', ', UNIQUE'])})`,
  (p) =>
    `new_index('T', 'i${p(3)}', ${of(p, ["['f1']", "['t', 'n']", "['n', 'f0']"])}, ${of(p, ['NO_CASE', 'UNIQUE | NO_CASE'])})`,
  (p) => `new_index('${of(p, ['T', 'U'])}', 'i${p(3)}', ${of(p, INDEXED)}${of(p, ['', '', ', UNIQUE'])})`,
  (p) => `${of(p, ['del_index', 'index_info'])}('${of(p, ['T', 'U'])}', 'i${p(3)}')`,
  (p) => `rename_index('T', 'i${p(3)}', 'i${p(3)}')`,
  (p) =>
    `each_by('T', 'i${p(3)}', ${of(p, ['nil', '1', '.ts[0]'])}, |t| t.n = ${of(p, ['t.n + 50', '7', '0'])})`,
  (p) => `t = one_by('T', 'i${p(3)}', ${of(p, ['1', '.ts[0]', '"text"', 'nil'])}); t.x = ${of(p, VALUES)}`,
  (p) => `.ts[${p(40)}].${of(p, ['n', 'o', 'f0', 'f1'])} = .ts[${p(40)}].${of(p, ['n', 'o', 'f0', 'f1'])}`,
  (p) => `.ts[${p(40)}].assign({n: ${p(9)}, x: T{n: ${p(50)}}})`,
  (p) => `mod_type('T', 'ttl', ${of(p, ["'n'", "'f0'", "'t'", 'nil'])})`,
  (p) =>
    `${of(p, ['', "mod_type('T', 'ttl', 'n');"])} .ts[${p(40)}].n = ${of(p, SOON)}; ${of(p, BIGS)}.set('${key(p)}', .ts[${p(40)}])`,
  (p) =>
    `x = range(${p(30)}).map(|i| T{n: ${of(p, SOON)}, o: .ts[0]}); ${of(p, LISTS)}.push(${of(p, ['x', 'x[0]', '[1, [x[0], 2]]', "x[0].wrap('W')"])}); ${of(p, SETS)}.add(x[0], x[1])`,
  (p) =>
    `del_instances('${of(p, ['T', 'T', 'U'])}', |t, n| t.n % n == ${of(p, ['0', '1', '1 / 0'])}, [${1 + p(6)}])`,
  (p) =>
    `mod_type('${of(p, ['T', 'U'])}', 'all', |t| { t.n ${of(p, ['+= 1', '= 5', '+= 1 / (t.n - 9)'])}; ${of(p, ['', '.small.l = [t]', 't.x = L', '.ts.pop()'])} }, {background: true})`,
  (p) => `mod_type('T', 'add', 'f${p(4)}', ${of(p, FILLED)}, {background: true})`,
  // Read and written before their turn, and given the default.
  (p) =>
    `x = try(.ts.map(|t| t.f${p(4)})); .ts.each(|t| if (t.n % 4 == ${p(4)}) t.f${p(4)} ${of(p, ["= ''", '= 0', '= nil', "+= '.'", '+= 1'])})`,
  (p) =>
    `mod_type('T', 'mod', '${of(p, ['f0', 'f0', 'f1', 'f2', 'n'])}', ${of(p, SUCCEEDING)}, {background: true})`,
  (p) =>
    `if (!has_type('U')) set_type('U', {n: 'int'}); mod_type('U', 'mod', 'n', ${of(p, SUCCEEDING)}, {background: true})`,
  (p) => `cancel_job(jobs_info()[${p(3)}].id)`,
  // No instance of a type that others use becomes a plain thing.
  (p) => `.${of(p, ['objs[9]', 'small', 'x', 'y'])}.${of(p, ['to_thing()', "to_type('U')"])}`,
  (p) =>
    `if (!has_type('U')) set_type('U', {n: 'int'}); try(new_index('U', 'i${p(3)}', ['n'])); .y = U{n: ${p(9)}}; ${of(p, ['.y.n = 7', '.y.to_thing()'])}`,
  (p) => `new_procedure('p${p(3)}', |a| a + ${p(9)})`,
  (p) => `set_procedure('p${p(3)}', |a: '${of(p, ['int', 'U?', '[str]', 'F0'])}'| a)`,
  (p) => `del_procedure('p${p(3)}')`,
  (p) =>
    `i = load_info('l${p(2)}'); advance_load('l${p(2)}', 's', is_nil(i) ? 0 : i.rows, ${2 + p(3)}, [${of(p, ['', '0', '0, 1'])}])`,
  (p) => `del_load('l${p(2)}')`,
  // Types and enums that come and go under many names, whose ids changes that are taken back use, too.
  (p) => newType(p, p(6)),
  (p) => {
    const n = p(6);
    return `${newType(p, n)}; ${of(p, ['.x = ', '.y = ', '.list.push', '.ts[0].x = '])}(${of(p, ['N{}', '[N{}]', 'set(N{})', "{}.wrap('N')", '{n: [N{}]}']).replace('N', `N${n}`)})`;
  },
  (p) =>
    `set_enum('F', {${of(p, ['A: 1, B: 2', "A: 'a', B: 'b'", 'A: {r: room()}, B: {k: [1]}'])}}); .y = [F{B}]`.replaceAll(
      'F',
      `F${2 + p(4)}`,
    ),
  (p) =>
    `mod_type('${of(p, ['T', 'N0', 'N1', 'N2'])}', 'add', 'n${p(3)}', '${of(p, ['N0?', '{N1}', '[N2]', 'thing<N0>', 'F2', '[F3]'])}')`,
  (p) => `x = {}; x.restrict('${of(p, ['N0', 'N1', 'F2', 'F3'])}'); .${of(p, ['x', 'y'])} = x`,
  (p) => `${of(p, ['del_type', 'del_enum'])}('${of(p, ['N0', 'N1', 'N2', 'N3', 'F2', 'F3'])}')`,
];

/** Makes a type of one of six names, with up to three properties. */
const newType = (p: Pick, n: number): string =>
  `try(set_type('N${n}', {${['a', 'b', 'c']
    .slice(0, 1 + p(3))
    .map(
      (name) =>
        `${name}: '${of(p, ['int', 'str', 'any', '[int]', 'room', 'room?', 'thing', '{T}', 'T?', 'E', 'N1?', '[N2]'])}'`,
    )
    .join(', ')}}))`;
