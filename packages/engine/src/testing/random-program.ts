/**
 * Random programs of the language, for tests that compare two ways of running them or look for crashes. They are made
 * along the grammar and mostly fit together: an expression is made for the type that its place wants, with now and then
 * one of another type. What they say makes no sense, on purpose.
 */
import type { Entry } from '../run/builtin.js';
import { tagName } from '../value/value.js';

const TYPES = [
  'int',
  'str',
  'bool',
  'float',
  'list',
  'thing',
  'set',
  'closure',
  'nil',
  'bytes',
  'datetime',
  'regex',
  'error',
  'task',
] as const;
type Type = (typeof TYPES)[number];

/** Constants at the edges of what a type can hold, and plain ones. */
const LITERALS: Readonly<Record<Type, readonly string[]>> = {
  int: [
    ...['0', '1', '2', '3', '7', '10', '100', '(-1)', '(-2)', '(-7)', '1000', '63', '64', '65', '2147483647'],
    ...['(-2147483648)', '4294967296', '9007199254740991', '9007199254740993', '(-9007199254740991)'],
    ...[
      '4503599627370496',
      '9223372036854775807',
      '(-9223372036854775808)',
      'INT_MAX',
      'INT_MIN',
      '0',
      '1',
      '2',
      '3',
    ],
  ],
  str: [
    ...[
      "''",
      "'a'",
      "'b'",
      "'abc'",
      "'k1'",
      "'k2'",
      "'k3'",
      '"x y z"',
      "'é🙂'",
      "'12'",
      "'-3.5'",
      '`t`',
      "'%Y'",
    ],
    ...["'UTC'", "'days'", "'str'", "'[]'", "'year'", "'[1, {}]'"],
  ],
  bool: ['true', 'false'],
  float: [
    '0.0',
    '-0.0',
    '1.5',
    '(-2.25)',
    '1.0e+300',
    '1.0e-300',
    'inf',
    '(-inf)',
    'nan',
    '9007199254740993.0',
    'MATH_PI',
  ],
  list: ['[]', '[1, 2, 3]', "['a', 'b']", '[[], [1, [2]]]', '[nil, 1.5, {}]', '[3, 1, 2, 1]'],
  thing: ['{}', '{k1: 1}', "{k1: 'a', k2: [1, {}], k3: nil}", 'thing()', 'root()'],
  set: ['set()', 'set({})', 'set({k1: 1}, {k2: 2})'],
  closure: ['|| 1', '|x| x', '|x, y| y', '|x, y, z| [x, y, z]', '|x| { y = x; return y; }', 'closure()'],
  nil: ['nil'],
  bytes: ["bytes('ab')", 'bytes()', "base64_decode('AP/+')"],
  datetime: ["datetime('2024-02-29')", 'datetime(0)', 'timeval(2147483648)', "timeval('1969-12-31')"],
  regex: ['/a/', '/[a-z]+/g', '/(k)(\\d)?/i', '/(?<n>x*)/'],
  error: ["err(-60, 'e')", 'value_err()', 'try(1 / 0)'],
  // Only existing ones: making one is a change, which programs with these in their variables need not be.
  task: ['(tasks() || [nil])[0]', '(tasks() || [nil])[-1]'],
};

/** Variables that hold values of a type, mostly; `.v` and the like are properties of the root. */
const PLACES: Readonly<Record<Type, readonly string[]>> = {
  int: ['i1', 'i2', 'i3', '.i', '.t.k1'],
  str: ['s1', 's2', '.s'],
  bool: ['b1', '.b'],
  float: ['d1', '.d'],
  list: ['l1', 'l2', '.l', '.t.k2'],
  thing: ['t1', 't2', '.t', '.t.t'],
  set: ['m1', '.m', '.t.m'],
  closure: ['f1', 'f2', '.f'],
  nil: ['n1'],
  bytes: ['y1', '.y'],
  datetime: ['w1', '.w'],
  regex: ['r1', '.r'],
  error: ['e1', '.e'],
  task: ['a1', '.a'],
};

/** Gives every stored place a value, so that programs find something there. */
export const STORED_PLACES = [
  ".i = 5; .s = 'abc'; .b = true; .d = 1.5; .l = [1, 'a', {k1: 1}, [2]]; .m = set({k1: 1}, {}); .f = |x| x",
  ".y = bytes('ab'); .w = datetime(0); .r = /a/; .e = err()",
  ".t = {k1: 1, k2: [1, 2], k3: 'a', t: {k1: 1}, m: set({})}",
  '.a = task(datetime(2000000000), |t, x, y| x, [.t, [1, {k1: {}}]])',
].join('; ');

const KEYS = ['k1', 'k2', 'k3', 'l', 't', 'i'];

export interface RandomProgramOptions {
  /** Built-in functions that programs call; those of the constructs above come besides. */
  readonly entries: readonly Entry[];
  /** True if programs touch stored data. */
  readonly stored: boolean;
}

export class RandomPrograms {
  private readonly functions: readonly Entry[];
  private readonly methods: ReadonlyMap<string, readonly Entry[]>;
  private readonly stored: boolean;
  private loops = 0;
  private closures = 0;

  constructor(
    private readonly random: () => number,
    { entries, stored }: RandomProgramOptions,
  ) {
    this.stored = stored;
    this.functions = entries.filter(({ on }) => on === null);
    const methods = new Map<string, Entry[]>();
    for (const entry of entries) {
      for (const tag of entry.on ?? []) {
        const type = tagName(tag);
        methods.set(type, [...(methods.get(type) ?? []), entry]);
      }
    }
    this.methods = methods;
  }

  /** A program of some statements, with its variables, and now and then stored places, set beforehand. */
  program(): string {
    return this.statements().join(';\n');
  }

  /** The statements of such a program. */
  statements(): string[] {
    const stored = this.stored && this.chance(0.1) ? [STORED_PLACES] : [];
    const statements = Array.from({ length: 1 + this.below(5) }, () => this.statement(3));
    return [...this.preamble(), ...stored, ...statements];
  }

  /** Statements that give the variables their values. */
  private preamble(): string[] {
    return TYPES.flatMap((type) =>
      PLACES[type]
        .filter((place) => !place.startsWith('.'))
        .map((place) => `${place} = ${this.pick(LITERALS[type])}`),
    );
  }

  private statement(depth: number): string {
    const type = this.type();
    if (depth <= 0) return this.expression(type, 1);
    switch (this.below(14)) {
      case 0:
        return `if (${this.expression('bool', depth)}) ${this.block(depth)}`;
      case 1:
        return `if (${this.expression(type, depth)}) ${this.block(depth)} else ${this.block(depth)}`;
      case 2:
      case 3:
        return this.loop(depth);
      case 4:
        return this.jump(depth);
      case 5:
        return `${this.variable('int')} ${this.pick(['+=', '-=', '*=', '/=', '%=', '&=', '|=', '^='])} ${this.expression('int', depth)}`;
      case 6:
        return `${this.variable(type)} ${this.pick(['+=', '-=', '|='])} ${this.expression(type, depth)}`;
      case 7:
      case 8:
        return `${this.place(type)} = ${this.expression(type, depth)}`;
      case 9:
        return `try(${this.place('list')}[${this.expression('int', 1)}] = ${this.expression(type, depth)})`;
      case 10:
        return `${this.place('thing')}[${this.expression('str', 1)}] = ${this.expression(type, depth)}`;
      case 11:
        return this.expression(type, depth);
      default:
        return `try(${this.expression(type, depth)})`;
    }
  }

  private block(depth: number): string {
    if (this.chance(0.3)) return this.statement(depth - 1);
    const statements = Array.from({ length: 1 + this.below(3) }, () => this.statement(depth - 1));
    return `{ ${statements.join('; ')} }`;
  }

  private loop(depth: number): string {
    const over = this.chance(0.4)
      ? `range(${this.below(12)})`
      : this.expression(this.pick(['list', 'set', 'thing', 'list', 'any']), depth - 1);
    const names = this.pick(['i1', 'v', 'i2, i3', 'v, k', 'i1, k, x']);
    this.loops += 1;
    const body = this.block(depth);
    this.loops -= 1;
    return `for (${names} in ${over}) ${body}`;
  }

  private jump(depth: number): string {
    if (this.loops > 0 && this.chance(0.7)) {
      return `if (${this.expression('bool', 1)}) ${this.pick(['break', 'continue'])}`;
    }
    const value = `return ${this.expression(this.type(), depth - 1)}`;
    return this.chance(0.7) ? `if (${this.expression('bool', 1)}) ${value}` : value;
  }

  private expression(wanted: Type | 'any', depth: number): string {
    const type = wanted === 'any' || this.chance(0.02) ? this.type() : wanted;
    if (depth <= 0 || this.chance(0.15)) return this.leaf(type);
    const inner = depth - 1;
    switch (this.below(9)) {
      case 0:
        return this.call(type, inner);
      case 1:
        return `(${this.expression('bool', inner)} ? ${this.expression(type, inner)} : ${this.expression(type, inner)})`;
      case 2:
        return this.methodCall(type, inner);
      case 3:
        return this.functionCall(inner);
      case 4:
        return `(${this.variable(type)} = ${this.expression(type, inner)})`;
      default:
        return this.made(type, inner);
    }
  }

  /** An expression of a construct that gives a value of the type. */
  private made(type: Type, depth: number): string {
    const of = (wanted: Type | 'any'): string => this.expression(wanted, depth);
    switch (type) {
      case 'int':
        return this.pick([
          () =>
            `(${of('int')} ${this.pick(['+', '-', '*', '/', '%', '&', '|', '^', '<<', '>>'])} ${of('int')})`,
          () =>
            `(${of('int')} ${this.pick(['+', '-', '*'])} ${of('int')} ${this.pick(['+', '-'])} ${of('int')})`,
          () => `(${this.pick(['-', '+', '~', '-!', '--'])}${this.leaf('int')})`,
          () => `(${this.variable('int')} ${this.pick(['+=', '-=', '*='])} ${of('int')})`,
          () => `${of('list')}.len()`,
          () => `int(${of('any')})`,
        ])();
      case 'float':
        return this.pick([
          () => `(${of('float')} ${this.pick(['+', '-', '*', '/'])} ${of(this.pick(['float', 'int']))})`,
          () => `float(${of('int')})`,
        ])();
      case 'bool':
        return this.pick([
          () => `(${of('int')} ${this.pick(['<', '>', '<=', '>=', '==', '!='])} ${of('int')})`,
          () => `(${of(this.type())} ${this.pick(['==', '!='])} ${of('any')})`,
          () => `(${of('str')} ${this.pick(['<', '>=', '=='])} ${of('str')})`,
          () => `(!${this.leaf(this.type())})`,
          () =>
            `(${of('bool')} ${this.pick(['&&', '||'])} ${of('any')} ${this.pick(['&&', '||'])} ${of('bool')})`,
          () => `bool(${of('any')})`,
        ])();
      case 'str':
        return this.pick([
          () => `(${of('str')} + ${of('str')})`,
          () => `\`<{${of('any')}}{${of('int')}}>\``,
          () => `str(${of('any')})`,
          () => `${of('str')}[${of('int')}:${of('int')}]`,
        ])();
      case 'list':
        return this.pick([
          () => `[${of('any')}, ${of('any')}, ${of('any')}]`,
          () => `${of('list')}.${this.pick(['map', 'filter'])}(${of('closure')})`,
          () => `${of('list')}[${of('int')}:${of('int')}:${of('int')}]`,
          () => `${of('list')}.sort(${of('closure')})`,
        ])();
      case 'thing':
        return this.pick([
          () => `{${this.pick(KEYS)}: ${of('any')}, ${this.pick(KEYS)}: ${of('any')}}`,
          () => `${of('list')}.find(|x| is_thing(x), {})`,
        ])();
      case 'set':
        return this.pick([
          () => `set(${of('thing')}, ${of('thing')})`,
          () => `(${of('set')} ${this.pick(['|', '&', '-', '^'])} ${of('set')})`,
        ])();
      case 'closure':
        return this.closure(depth);
      case 'error':
        return `try(${of('any')})`;
      default:
        return this.leaf(type);
    }
  }

  private closure(depth: number): string {
    // Closures in closures in closures run for too long.
    if (this.closures >= 2) return this.pick(LITERALS.closure);
    this.closures += 1;
    const loops = this.loops;
    this.loops = 0;
    const params = this.pick(['', 'x', 'x', 'i1', 'x, i2', 'i1, i2', 'x, k, z']);
    const body = this.chance(0.5)
      ? this.expression('any', depth)
      : `{ ${this.statement(depth)}; ${this.statement(depth)} }`;
    this.closures -= 1;
    this.loops = loops;
    return `|${params}| ${body}`;
  }

  /** A call of a closure in a variable. */
  private call(type: Type, depth: number): string {
    const name = this.pick(['f1', 'f2']);
    const args = Array.from({ length: this.below(3) }, () =>
      this.expression(this.pick(['int', type]), depth),
    );
    return `${name}(${args.join(', ')})`;
  }

  private methodCall(type: Type, depth: number): string {
    const receiver = this.chance(0.3)
      ? type
      : this.pick(['list', 'thing', 'set', 'str', 'list', 'thing'] as const);
    const entries = this.methods.get(receiver);
    if (entries === undefined) return this.made(type, depth);
    const entry = this.pick(entries);
    const self = this.expression(receiver, depth);
    return `${self.startsWith('|') ? `(${self})` : self}.${entry.name}(${this.args(entry, depth)})`;
  }

  private functionCall(depth: number): string {
    if (this.functions.length === 0) return this.leaf(this.type());
    const entry = this.pick(this.functions);
    return `${entry.name}(${this.args(entry, depth)})`;
  }

  private args(entry: Entry, depth: number): string {
    const { min, params, rest } = entry;
    const most = rest === null ? params.length : params.length + 3;
    let count = min + this.below(most - min + 1);
    if (this.chance(0.02)) count = this.below(4);
    const args: string[] = [];
    for (let i = 0; i < count; i++) {
      const type = (params[i] ?? rest)?.type ?? 'anything';
      args.push(this.expression(this.typeOf(type), depth));
    }
    return args.join(', ');
  }

  /** A type that a parameter takes, from the words for it. */
  private typeOf(words: string): Type | 'any' {
    const types = TYPES.filter((type) => words.includes(type));
    return types.length === 0 ? 'any' : this.pick(types);
  }

  private leaf(type: Type): string {
    return this.chance(0.4) ? this.pick(LITERALS[type]) : this.place(type);
  }

  private place(type: Type): string {
    const places = PLACES[type].filter((place) => this.stored || !place.startsWith('.'));
    return this.pick(places);
  }

  private variable(type: Type): string {
    return this.pick(PLACES[type].filter((place) => !place.startsWith('.')));
  }

  private type(): Type {
    // The first are the most frequent.
    return TYPES[Math.floor(TYPES.length * this.random() * this.random())] as Type;
  }

  private chance(share: number): boolean {
    return this.random() < share;
  }

  private below(count: number): number {
    return Math.floor(this.random() * count);
  }

  private pick<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new Error('there is nothing to choose from');
    return choice;
  }
}
