/** Acts of clients, and the query code of each. */
import type { SessionAsk } from '@althing/engine';
import { stepsOf } from './check-futures.js';
import type { Action } from './history.js';
import type { Draw } from './random.js';

export const LISTS = ['l0', 'l1', 'l2', 'l3'] as const;
export const REGISTERS = ['r0', 'r1', 'r2'] as const;
export const ACCOUNTS = ['a0', 'a1', 'a2', 'a3'] as const;
export const BALANCE = 100;
/** Things that change together, of a size that a small cache can't hold. */
const TILES = 60;
const TILE_TEXT = 'x'.repeat(400);
/** Name of the room of each collection in which its counter is told. */
export const ROOM = 'counter';
/** The name of the room of a collection for the witness: its scope, as events name it. */
export function roomOf(collection: string): string {
  return `@collection:${collection}`;
}

/** Name of a module that every node has, and the code that makes it. */
const MODULE = 'Module';
export const NEW_MODULE = `if (!has_module('${MODULE}')) new_module('${MODULE}', 'x'); nil;`;

export const ADMIN = 'admin';
export const GUEST = 'guest';
/** The collection that the guest visits. */
export const VISITED = 'stuff';

/** The numbers of what a run makes at most. No session expires: clocks are wrong for less, and a jump of one makes a renewal. */
export const QUOTAS = {
  tokensPerUser: 10,
  users: 100,
  collections: 100,
  procedures: 100,
  tasks: 500,
  sessions: { idleMs: 3 * 86_400_000, maxMs: 30 * 86_400_000 },
};

export const COLLECTIONS = [VISITED, 'more'] as const;

/** Makes what a collection begins with; does nothing when it is there. */
export const SET_UP = [
  "if (!.has('n')) {",
  ...LISTS.map((list) => `.set('${list}', []);`),
  ...REGISTERS.map((register) => `.set('${register}', 0);`),
  ".set('bank', {",
  ...ACCOUNTS.map((account) => `${account}: ${BALANCE},`),
  '});',
  ".set('n', 0);",
  ".set('runs', []);",
  ".set('boxes', {});",
  ".set('steps', []);",
  ".set('vault', {});",
  `.set('tiles', range(${TILES}).map(|| {n: 0, text: '${TILE_TEXT}'}));`,
  "new_procedure('add', |v| { .l3.push(v); [.l3.len()]; });",
  '};',
  'nil;',
].join(' ');

/** Everything that the checks look at, read at once. */
export const READ_ALL = `[[${LISTS.map((list) => `.${list}`).join(', ')}], .n, [${ACCOUNTS.map(
  (account) => `.bank.${account}`,
).join(', ')}], .runs, .steps, ${inVault('is_nil(box.m.until)')}.map(|box| box.name)];`;

/** The counter in what `READ_ALL` reads. */
export function counterIn(all: unknown): number {
  return Array.isArray(all) ? Number(all[1]) : Number.NaN;
}

/** The number of things that are to expire. */
export const COUNT_MORTALS = `${inVault('!is_nil(box.m.until)')}.len();`;

/** Boxes whose things are still there. Each thing is in one of its own, so that it has to be searched for. */
function inVault(condition: string): string {
  return `.vault.values().filter(|box| box.has('m') && ${condition})`;
}

/**
 * Draws the next thing that a client does.
 *
 * @param now Unix seconds
 * @param hasModules whether the nodes have the module that some futures ask
 */
export function drawAction(draw: Draw, nextValue: () => string, now: number, hasModules: boolean): Action {
  const kind = draw.weighted([
    ['append', 6],
    ['append_and_fail', 0.5],
    ['read', 5],
    ['increment', 2],
    ['swap', 2],
    ['get', 2],
    ['move', 2],
    ['balances', 1.5],
    ['sweep', 1],
    ['look', 1],
    ['task', 1],
    ['recalled_task', 0.3],
    ['future', 1],
    ['mortal', 0.7],
    ['reprieve', 0.3],
    ['other', 2.5],
    ['dry_run', 1],
  ] as const);
  switch (kind) {
    case 'append': {
      const lists = draw.chance(0.4) ? ['l0', 'l1'] : [draw.pick(LISTS)];
      return { kind, lists, value: nextValue() };
    }
    case 'append_and_fail':
      return { kind, list: draw.pick(LISTS), value: nextValue() };
    case 'dry_run':
      return { kind, list: draw.pick(LISTS), value: nextValue(), explains: draw.chance(0.5) };
    case 'read':
      return { kind, lists: draw.chance(0.5) ? ['l0', 'l1'] : [draw.pick(LISTS)] };
    case 'increment':
      return { kind, tag: nextValue() };
    case 'swap':
      return { kind, register: draw.pick(REGISTERS), expected: draw.int(0, 3), value: draw.int(0, 3) };
    case 'get':
      return { kind, register: draw.pick(REGISTERS) };
    case 'move': {
      const [from, to] = draw.shuffled(ACCOUNTS) as [string, string];
      return { kind, from, to, amount: draw.int(1, 9) };
    }
    case 'task':
      return { kind, value: nextValue(), startAt: now + draw.int(0, 2), runs: draw.int(1, 3) };
    case 'recalled_task':
      return { kind, value: nextValue(), startAt: now + draw.int(0, 2), deletes: draw.chance(0.5) };
    case 'future':
      return { kind, value: nextValue(), fails: draw.chance(0.3), asks: draw.chance(0.4) && hasModules };
    case 'mortal':
      return { kind, value: nextValue(), until: draw.chance(0.3) ? null : now + draw.int(0, 3) };
    case 'balances':
    case 'sweep':
    case 'look':
    case 'reprieve':
      return { kind };
    default:
      return { kind: 'other' };
  }
}

/** The code for an action, or words where it is none; a number makes the others differ. */
export function codeOf(action: Action, number: number): string {
  switch (action.kind) {
    case 'append': {
      const { lists, value } = action;
      const pushes = lists.map((list) => `.${list}.push('${value}');`).join(' ');
      return `${pushes} [${lists.map((list) => `.${list}.len()`).join(', ')}];`;
    }
    case 'append_and_fail':
      return `.${action.list}.push('${action.value}'); raise('on purpose');`;
    case 'dry_run':
      return `${otherCode(number)} .${action.list}.push('${action.value}'); .${action.list};`;
    case 'read':
      return `[${action.lists.map((list) => `.${list}`).join(', ')}];`;
    case 'increment':
      // Whoever listens is told the number.
      return `.n += 1; try(if (!.has('room')) { .set('room', room()); .room.set_name('${ROOM}'); }); try(.room.emit('n', .n, '${action.tag}')); .n;`;
    case 'swap': {
      const { register, expected, value } = action;
      return `if (.${register} == ${expected}) { .${register} = ${value}; true; } else { false; };`;
    }
    case 'get':
      return `.${action.register};`;
    case 'move': {
      const { from, to, amount } = action;
      return `.bank.${from} -= ${amount}; .bank.${to} += ${amount}; nil;`;
    }
    case 'balances':
      return `[${ACCOUNTS.map((account) => `.bank.${account}`).join(', ')}];`;
    case 'sweep':
      return '.tiles.map(|tile| tile.n += 1);';
    case 'look':
      return '.tiles.map(|tile| tile.n);';
    case 'task': {
      const { value, startAt, runs } = action;
      // The next start follows from this one: clocks are set by hours. The runs are counted in a thing that the task has among its
      // arguments; each second run finds it where it is stored, and must find the same one.
      const count = `(if (n % 2 == 0) .boxes.get(v) else box).n += 1; .runs.push(\`{v} {box.n}\`);`;
      const next = `if (n < ${runs}) task(timeval(int(t.at()) + 1), t.closure(), [v, n + 1, box]) else .boxes.del(v);`;
      return `b = {n: 0}; .boxes.set('${value}', b); task(timeval(${startAt}), |t, v, n, box| { ${count} ${next} }, ['${value}', 1, b]); nil;`;
    }
    case 'recalled_task': {
      const { value, startAt, deletes } = action;
      const recall = `v = '${value}'; .boxes.get(v).task.${deletes ? 'del' : 'cancel'}(); .boxes.del(v);`;
      const victim = `task(timeval(${startAt}), |t, v| .runs.push(v + ' was recalled'), ['${value}'])`;
      return `task(timeval(${startAt}), || { ${recall} }); .boxes.set('${value}', {task: ${victim}}); nil;`;
    }
    case 'future': {
      const { value, fails, asks } = action;
      const [query, future] = stepsOf(value).map((step) => `.steps.push('${step}');`);
      const end = fails ? "raise('on purpose');" : '.steps.len();';
      // While the module has not answered, the thing that the future holds must be the one that is stored.
      const held = `held.n += 1; if (.boxes.get('${value}').n == 2) { ${future} }; .boxes.del('${value}'); ${end}`;
      if (asks)
        return `${query} box = {n: 1}; .boxes.set('${value}', box); ${MODULE}({}, box).then(|_, held| { ${held} });`;
      return `${query} future(|| { ${future} ${end} });`;
    }
    case 'mortal': {
      const { value, until } = action;
      const type = "try({ set_type('M', {until: 'int?'}); mod_type('M', 'ttl', 'until'); })";
      return `if (!has_type('M')) ${type}; made = has_type('M'); if (made) .vault.set('${value}', {name: '${value}', m: new('M', {until: ${until ?? 'nil'}})}); made;`;
    }
    case 'reprieve':
      return `found = ${inVault('!is_nil(box.m.until)')}; if (found.len() > 0) { found[0].m.until = nil; found[0].name; } else nil;`;
    case 'allow':
      // Limits of users are a part of the root scope as rights are. They are high enough here.
      return `grant('@:${VISITED}', '${GUEST}', QUERY); try(set_limit('${GUEST}', {duration: 900, share: 1, rate: 100000})); nil;`;
    case 'forbid':
      return `revoke('@:${VISITED}', '${GUEST}', QUERY); try(set_limit('${GUEST}', nil)); nil;`;
    case 'admit':
      return `grant('@:${action.collection}', '${GUEST}', JOIN); nil;`;
    case 'expel':
      return `revoke('@:${action.collection}', '${GUEST}', JOIN); nil;`;
    case 'visit':
      return '.n;';
    case 'session':
      return `${action.act} session ${action.session}`;
    case 'other':
      return otherCode(number);
  }
}

function otherCode(number: number): string {
  return OTHERS[number % OTHERS.length]?.(number % 23) ?? 'nil;';
}

/** The next thing that is done with sessions, of which `begun` were begun before. */
export function drawSession(draw: Draw, begun: number): Action {
  const act =
    draw.weighted([
      ['begin', begun === 0 ? 1 : 0.2],
      ['renew', begun === 0 ? 0 : 0.5],
      ['end', begun === 0 ? 0 : 0.3],
    ] as const) ?? 'begin';
  // Also one that was ended: it must stay so.
  const session = act === 'begin' ? begun : draw.int(Math.max(0, begun - 3), begun - 1);
  return { kind: 'session', act, session };
}

/** The request to a node for an act on a session. */
export function sessionAskOf(
  { act, session }: Extract<Action, { readonly kind: 'session' }>,
  proof: Uint8Array,
): SessionAsk {
  const hash = new Uint8Array(32);
  new DataView(hash.buffer).setUint32(0, session);
  return act === 'begin' ? { act, hash, proof, readOnly: session % 2 === 0 } : { act, hash };
}

/** A type with an index and instances, unless they are there: most of what is done with it would fail otherwise. */
const INDEXED =
  "if (!has_type('K')) { set_type('K', {k: 'int', s: 'str?', o: 'thing?'}); new_index('K', 'k', ['k', 's']); .set('ks', []); }; try(if (.ks.len() < 30) .ks.extend(range(30).map(|i| K{k: i % 7, s: str(i) + str(.ks.len())})));";

const INDEXING: readonly ((number: number) => string)[] = [
  (n) => `range(${n % 9}).each(|i| .ks.push(K{k: i, s: ${n % 3 === 0 ? 'nil' : `'${n % 5}' + str(i)`}}));`,
  (n) =>
    `try(del_index('K', 'i${n % 3}')); new_index('K', 'i${n % 3}', [${["'s'", "'o', 'k'", "'k'"][n % 3]}], ${['0', 'UNIQUE', 'NO_CASE', 'UNIQUE | NO_CASE'][n % 4]});`,
  (n) =>
    `${n % 4 === 0 ? `del_index('K', 'i${n % 3}');` : `rename_index('K', 'i${n % 3}', 'i${(n + 1) % 3}');`}`,
  (n) => `.ks[${n}].s = '${n % 5}'; .ks[${n % 6}].o = .ks[${n % 4}]; .ks.push(K{k: ${n}, s: '${n % 4}'});`,
  (n) =>
    `each_by('K', 'k', ${n % 7}, |x| { x.k += ${1 + (n % 3)}; .ks.remove(|y| y == x && x.k % 2 == 0); });`,
  (n) => `x = .ks[${n}]; if (type(x) == 'K') x.to_thing() else x.to_type('K');`,
  (n) => `.ks.splice(${n % 5}, ${n % 4}); .ks.filter(|x| type(x) == 'K')[0].assign({k: ${n}, s: '${n}'});`,
];

/** A type with instances for jobs, whose work is checked (`job-bugs.ts`), unless they are there. Some change each time, perhaps behind their turn. */
const FILL_JOBS = [
  "if (!has_type('J')) { set_type('J', {n: 'int', gone: 'bool', turns: 'int', m: 'int', w: 'int'}); .set('jobs', set()); .set('held', range(9).map(|i| {i:})); };",
  'if (.jobs.len() < 200) range(100).each(|i| .jobs.add(J{n: i, gone: i % 3 == 0}));',
  '.jobs.each(|j| if (j.n < 9) { j.m += 1; j.w = is_str(j.w) ? str(j.m) : j.m; });',
].join(' ');

/** Changes that may fail, since others were faster, or that always do in their middle: they are undone as a whole then. */
const ATTEMPTS: readonly ((number: number) => string)[] = [
  // Changes of a type and its instances that fail are undone; the next change of the type is another one.
  (n) =>
    `mod_type('T${n % 3}', 'add', 'f${n % 4}', '${['int', 'str', '[int]', 'thing'][n % 4]}'); .t${n}.each(|t| t.a += 1); raise('on purpose');`,
  (n) =>
    `mod_type('T${n % 3}', 'add', 'f${n % 4}', '${n % 2 === 0 ? 'room' : '{T0}'}'); .set('v${n}', new('T${n % 3}', {})); 1 / 0;`,
  // Enums.
  (n) =>
    `try(set_enum('E${n % 2}', {A: {v: 0}, B: {v: ${n}}})); try(set_enum('N${n % 2}', {A: 1, B: 2})); nil;`,
  (n) => `.set('e${n}', [enum('N${n % 2}', 1), {m: E${n % 2}{B}}]); nil;`,
  (n) => `E${n % 2}{A}.value().set('up', .e${n}[1]); nil;`,
  (n) => `mod_enum('N${n % 2}', 'add', 'M${n % 5}', ${n + 10}); ${n % 3 === 0 ? '1 / 0;' : 'nil;'}`,
  (n) => `mod_enum('N${n % 2}', 'mod', 'M${n % 5}', ${n + 40}); .set('e${n}', N${n % 2}{M${n % 5}}); nil;`,
  (n) =>
    `mod_enum('N${n % 2}', '${n % 3 === 0 ? 'del' : 'ren'}', 'M${n % 5}'${n % 3 === 0 ? '' : `, 'R${n % 4}'`}); nil;`,
  // Indexes: two things are done, and each may fail; a part of these changes is undone as a whole.
  ...INDEXING.map(
    (code, i) => (n: number) =>
      `${INDEXED} try({ ${code(n)} }); try({ ${INDEXING[(i + n + 1) % INDEXING.length]?.(n + 3)} }); ${n % 4 === 0 ? '1 / 0;' : 'nil;'}`,
  ),
  // Things that expire, in the root and in others.
  (n) =>
    `set_type('X', {until: 'int?', n: 'int'}); mod_type('X', 'ttl', 'until'); .set('xs', set()); .set('x', {n: ${n}}); nil;`,
  (n) =>
    `.xs.add(X{until: int(now()) + ${n % 4}, n: ${n}}); .x.set('x${n % 3}', ${n % 2 === 0 ? '.xs.one()' : '[1, [.xs.one(), 2]]'}); nil;`,
  (n) =>
    `.xs.each(|x| x.until = ${n % 2 === 0 ? 'nil' : `int(now()) + ${n % 3}`}); ${n % 5 === 0 ? '1 / 0;' : 'nil;'}`,
  (n) => `mod_type('X', 'ttl', ${n % 3 === 0 ? 'nil' : "'until'"}); nil;`,
  // Jobs, and what refers to the instances that they remove.
  (n) =>
    `${FILL_JOBS} x = .jobs.one(); .held[${n % 9}].set('k${n % 2}', ${n % 3 === 0 ? '[1, [x, 2]]' : 'x'}); .held[${n % 5}].set('s', set(.jobs)); nil;`,
  () => `${FILL_JOBS} del_instances('J', |j| j.gone); nil;`,
  (n) =>
    `${FILL_JOBS} mod_type('J', 'all', |j| { j.turns += 1; ${n % 5 === 0 ? '1 / (j.n - 30);' : ''} }, {background: true}); nil;`,
  (n) =>
    `${FILL_JOBS} mod_type('J', 'mod', 'w', ${n % 2 === 0 ? "'str', |j| str(j.m)" : `'int', |j| ${n % 7 === 0 ? 'j.m / (j.n - 30) * 0 + ' : ''}j.m`}, {background: true}); nil;`,
  (n) =>
    `${FILL_JOBS} .jobs.each(|j| if (j.n % 4 == ${n % 4}) { j.m += 1; j.w = is_str(j.w) ? str(j.m) : j.m; }); ${n % 9 === 0 ? '1 / 0;' : 'nil;'}`,
  (n) =>
    `f = 'f${n % 3}'; try(mod_type('J', 'del', f)); mod_type('J', 'add', f, 'str', |j| 'text' + str(j.n), {background: true}); nil;`,
  (n) =>
    `try(.jobs.each(|j| if (j.n % 4 == ${n % 4} && j.f${n % 3} != nil) j.f${n % 3} += '.')); ${n % 9 === 0 ? '1 / 0;' : 'nil;'}`,
  (n) =>
    `del_instances('J', |j| j.gone); ${n % 2 === 0 ? '.jobs.clear();' : ''} ${n % 6 === 0 ? '1 / 0;' : 'nil;'}`,
  (n) =>
    `${n % 3 === 0 ? 'cancel_job(jobs_info()[-1].id)' : "del_instances('J', |j| 1 / (j.n - 3) == 5 && j.gone)"}; nil;`,
  // Relations.
  () =>
    "new_type('Q'); set_type('P', {q: 'Q?', qs: '{Q}', one: 'P?'}); set_type('Q', {p: 'P?', ps: '{P}'}); mod_type('P', 'rel', 'q', 'ps'); mod_type('P', 'rel', 'qs', 'p'); mod_type('P', 'rel', 'one', 'one'); nil;",
  (n) => `.set('p${n % 4}', new('P', {})); .set('q${n % 4}', new('Q', {})); .p${n % 4}.q = .q${n % 4}; nil;`,
  (n) => `.p${n % 4}.qs.add(.q${n % 3}, new('Q', {})); .q${n % 4}.ps.add(.p${n % 3}); nil;`,
  (n) => `.p${n % 4}.one = .p${n % 3}; .q${n % 4}.ps.${n % 2 === 0 ? 'clear()' : `remove(.p${n % 3})`}; nil;`,
  (n) => `.p${n % 4}.qs = .p${n % 3}.qs; .p${n % 4}.q = nil; if (.has('p${n % 2}')) .del('p${n % 2}'); nil;`,
  (n) =>
    `mod_type('P', 'rel', '${['q', 'qs', 'one'][n % 3]}', ${n % 2 === 0 ? 'nil' : `'${['ps', 'p', 'one'][n % 3]}'`}); nil;`,
];

const OTHERS: readonly ((number: number) => string)[] = [
  ...ATTEMPTS.map((code) => (n: number) => attempt(code(n))),
  (n) => `.set('j${n}', {a: {b: [1, 2.5, 'text ${n}']}, s: set({}, {})}); nil;`,
  (n) => `.set('j${n}', {x: {}}); .j${n}.x.set('up', .j${n}); nil;`,
  (n) => `if (.has('j${n}')) .del('j${n}'); nil;`,
  // A list of more than 1,024 items is stored in several records.
  (n) => `.set('big', range(${n * 110})); nil;`,
  (n) => `.set('wide', {}); range(${n * 60}).each(|i| .wide.set('k' + str(i), [i])); nil;`,
  (n) => `.set('many', set()); range(${n * 4}).each(|i| .many.add({i: i})); nil;`,
  (n) => `if (!has_procedure('p${n}')) new_procedure('p${n}', || ${n}); nil;`,
  (n) => `try(set_procedure('p${n}', |a: '${n % 2 === 0 ? 'int' : `T${n % 3}?`}'| a)); nil;`,
  (n) => `try(set_procedure('p${n}', || ${n}, {duration: ${100 + n}})); nil;`,
  (n) => `if (has_procedure('p${n}')) del_procedure('p${n}'); nil;`,
  (n) => `if (.has('big') && .big.len() > ${n}) .big.splice(${n}, 3); nil;`,
  (n) =>
    `i = load_info('l${n % 3}'); try(advance_load('l${n % 3}', 's', is_nil(i) ? 0 : i.rows, ${n}, [])); ${n % 7 === 0 ? `try(del_load('l${n % 2}'));` : ''} nil;`,
  // Types: where another client was faster, they are refused.
  (n) => `try(set_type('T${n % 3}', {a: 'int', l: '[str]', to: 'T${n % 3}?'})); nil;`,
  (n) => `.set('t${n}', try(new('T${n % 3}', {a: ${n}, l: ['x']}))); nil;`,
  (n) => `.set('t${n}', range(3).map(|i| try(new('T${n % 3}', {a: i})))); nil;`,
  (n) => `try(mod_type('T${n % 3}', 'add', 'f${n % 4}', '${n % 2 === 0 ? 'str' : 'thing'}')); nil;`,
  (n) =>
    `try(mod_type('T${n % 3}', 'ren', 'f${n % 4}', 'g${n % 4}')); try(mod_type('T${n % 3}', 'del', 'g${n % 4}')); nil;`,
  (n) => `try(mod_type('T${n % 3}', 'mod', 'a', 'int', |t| t.a + ${n})); nil;`,
  (n) => `if (.has('t${n}')) { try(.t${n}.to = .t${n}); try(.t${n}.l.push('y')); }; nil;`,
  (n) => `${n % 5 === 0 ? `try(del_type('T${n % 3}'));` : ''} nil;`,
];

/** The code of an attempt, whose error says that it is no fault. */
function attempt(code: string): string {
  return `failed = try({ ${code} nil; }); if (is_err(failed)) raise(\`on purpose: {failed.msg()}\`); nil;`;
}
