/** The requests of a crowd: all kinds of them, whose code takes from nothing to more time than a query may have. */
import { PackageType, type WireValue } from '@althing/client';
import type { Draw } from '../simulation/random.js';
import type { Sent } from './caller.js';

export const USERS = 12;
const PROGRAMS = 10;

/** The collection that all work in, as packages name it. */
const SCOPE = '@collection:stuff';

/** Work of about `n` looks at the clock, each of which stands for a millisecond. */
const WORK = 'for (i in range(n)) { for (j in range(330)) { x = j; }; };';

/** More rounds than any query has time for. */
const ENDLESS = 100_000;

/** The requests that a client may send, by their kinds; `n` is how long they take, and `unique` a number that no other one has. */
const KINDS = {
  'new text': (n, _program, unique) => query(`x = ${unique}; ${WORK} x;`, n),
  'known text': (n, program) => query(knownText(program), n),
  procedure: (n, program) => [PackageType.RUN, SCOPE, `p${program}`, [BigInt(n)]],
  change: (n, program) => query(`x = 0; ${WORK} .x${program} = x;`, n),
  'change at once': (_n, program, unique) => query(`.x${program} = ${unique};`, 0),
  'change that fails': (n, program) => query(`.x${program} = 1; ${WORK} raise('on purpose');`, n),
  read: (n, program) => query(`x = .x${program}; ${WORK} x;`, n),
  future: (n) => query(`future(|n| { ${WORK} });`, n),
  'many futures': (n) => query(`range(20).each(|k| future(|n| { ${WORK} }));`, n),
  'future that changes': (n, program) => query(`future(|n| { ${WORK} .x${program} = n; });`, n),
  'late future': (n) => query(`future(nil, n).then(|_none, n| { ${WORK} });`, n),
  chain: (n) => query(`future(|n| { ${WORK} future(|n| { ${WORK} future(|n| { ${WORK} }); }); });`, n),
  task: (n) => query(`task(datetime(), |t, n| { ${WORK} }, [n]); nil;`, n),
  'task that comes again': (n) =>
    query(
      `task(datetime(), |t, n, k| { ${WORK} if (k > 0) task(datetime(), t.closure(), [n, k - 1]); }, [n, 3]); nil;`,
      n,
    ),
  'long text': (n, _program, unique) => query(`x = ${unique}; /* ${'-'.repeat(200_000)} */ ${WORK}`, n),
  'large variables': (n) => query('x.len();', n, { x: list(n, 1000) }),
  'large body': (n) => query('x.len();', 0, { x: 'x'.repeat(Math.min(n, 9000) * 100) }),
  'large change': (n, program) =>
    query(`.x${program} = x.len();`, 0, { x: 'x'.repeat(Math.min(n, 9000) * 100) }),
  'large answer': (n) => query('range(n * 30).map(|i| [i, str(i)]);', Math.min(n, 3000)),
  'large value': (n, program) => query(`.l${program} = range(n * 100);`, Math.min(n, 1000)),
  'large set': (n, program) => query(`.s${program} = set(range(n).map(|i| {i: i}));`, Math.min(n, 3000)),
  types: (n, program) =>
    query(`try(mod_type('Q', 'add', 'f${program}', 'int')); mod_type('Q', 'mod', 'n', 'int', |q| n);`, n),
  instances: (n) => query("type_all('Q').filter(|q| q.n > n).len();", n),
  sort: (n) => query('range(n * 100).sort(|a, b| b - a).len();', Math.min(n, 1000)),
  pattern: (n) =>
    query(
      "x = range(n).map(|| 'ab').join(''); range(n).each(|| x.replace(/(a.)+c/, 'x')); nil;",
      Math.min(n, 3000),
    ),
  emit: (n, _program, unique) =>
    query(
      `x = range(n).map(|| '${'x'.repeat(300)}').join(''); .room.emit('event', x, 'e${unique}'); nil;`,
      Math.min(n, 3000),
    ),
  join: () => [PackageType.JOIN, SCOPE, 'room'],
  json: (n) => query('x = range(n * 100); json_load(json_dump(x)).len();', Math.min(n, 1000)),
  users: (_n, program, unique) => [
    PackageType.QUERY,
    '@thingsdb',
    `try(new_user('v${program}')); try(del_user('v${unique % PROGRAMS}')); nil;`,
  ],
  password: (_n, program, unique) => [
    PackageType.QUERY,
    '@thingsdb',
    `try(new_user('w${program}')); set_password('w${program}', 'secret ${unique}');`,
  ],
  collections: (_n, program) => [
    PackageType.QUERY,
    '@thingsdb',
    `try(new_collection('c${program}')); try(rename_collection('c${program}', 'd${program}')); try(del_collection('d${program}')); nil;`,
  ],
  'root work': (n, _program, unique) => [
    PackageType.QUERY,
    '@thingsdb',
    `x = ${unique}; ${WORK} users_info().len();`,
    map({ n: BigInt(n) }),
  ],
} as const satisfies Readonly<Record<string, (n: number, program: number, unique: number) => Sent>>;

export type Kind = keyof typeof KINDS;

export const ALL_KINDS: readonly Kind[] = Object.keys(KINDS).filter((name): name is Kind => name in KINDS);

/** A client of the crowd. */
export interface Asker {
  /** Milliseconds until it comes. */
  readonly at: number;
  readonly user: number;
  /** The node that it asks, from 0 on. */
  readonly node: number;
  readonly kind: Kind;
  readonly program: number;
  /** The time it takes, about, in milliseconds. */
  readonly ms: number;
  /** Milliseconds after an answer when it asks again, and how often. */
  readonly againMs: number;
  readonly times: number;
  /** Mean time of a piece of what it sends on its way, in milliseconds. */
  readonly pieceMs: number;
  /** True if it reads no answers. */
  readonly isDeaf: boolean;
  readonly door: Door;
}

/** A door of a node, and the format that is spoken there. */
export type Door = 'native' | 'json' | 'msgpack';

export const DOORS: readonly Door[] = ['native', 'json', 'msgpack'];

/** Draws a crowd: a few kinds, few users or many, all at once or one by one. */
export function drawCrowd(draw: Draw, nodes: number): Asker[] {
  const kinds = draw.chance(0.3) ? ALL_KINDS : draw.shuffled(ALL_KINDS).slice(0, draw.int(1, 3));
  const users = draw.pick([1, 2, USERS, USERS]);
  const atOnce = draw.chance(0.5) ? draw.int(0, 1000) : null;
  const ms = draw.chance(0.3) ? [draw.pick(DURATIONS)] : DURATIONS;
  const crowd = Array.from({ length: draw.int(1, 40) }, () => ({
    at: atOnce ?? draw.int(0, 3000),
    user: draw.int(0, users - 1),
    node: draw.int(0, nodes - 1),
    kind: draw.pick(kinds),
    program: draw.int(0, PROGRAMS - 1),
    ms: draw.pick(ms),
    againMs: draw.pick([1, 50, 500]),
    times: draw.pick([1, 1, 3, 20]),
    pieceMs: draw.pick([0.1, 0.1, 0.1, 30]),
    isDeaf: draw.chance(0.05),
  }));
  return crowd.map((asker) => ({ ...asker, door: draw.pick(DOORS) }));
}

const DURATIONS = [0, 1, 5, 20, 39, 60, 300, 900, ENDLESS, ENDLESS];

export function packageOf({ kind, ms, program }: Asker, unique: number): Sent {
  return KINDS[kind](ms, program, unique);
}

/** Makes the users of the crowd, and one more; answers with a token of each. */
export const NEW_USERS: Sent = [
  PackageType.QUERY,
  '@thingsdb',
  `range(${USERS + 1}).map(|i| { u = 'u' + str(i); new_user(u); grant('@:stuff', u, FULL); grant('@thingsdb', u, FULL); new_token(u); });`,
];

/** Statements that run before the crowd comes, in the collection that every new cluster has. */
export const SET_UP: readonly Sent[] = [
  query(
    "set_type('Q', {n: 'int'}); .all = range(300).map(|i| Q{n: i}); .n0 = 0; .n1 = 0; .set('room', room()); .room.set_name('room'); nil;",
    0,
  ),
  ...Array.from({ length: PROGRAMS }, (_none, program) =>
    query(`.set('x${program}', 0); new_procedure('p${program}', |n| { ${WORK} ${program}; }); nil;`, 0),
  ),
  // They are known to be quick.
  ...Array.from({ length: 3 * PROGRAMS }, (_none, at) => query(knownText(at % PROGRAMS), 1)),
];

function knownText(program: number): string {
  return `x = 'known ${program}'; ${WORK} x;`;
}

function query(code: string, n: number, vars: Readonly<Record<string, WireValue>> = {}): Sent {
  return [PackageType.QUERY, SCOPE, code, map({ n: BigInt(n), ...vars })];
}

function map(values: Readonly<Record<string, WireValue>>): Map<string, WireValue> {
  return new Map(Object.entries(values));
}

function list(length: number, max: number): WireValue[] {
  return Array.from({ length: Math.min(length, max) }, (_none, at) => [BigInt(at), String(at)]);
}
