/**
 * Query texts that no server has seen before: they differ in names, in literals and in what stands where, so that nothing but
 * reading them helps. The number of a text gives its words and its structure, and two numbers never give the same text.
 */
import { Draw } from '../simulation/random.js';

/** About how long texts are that are measured, in characters. */
export const TEXT_LENGTHS: readonly number[] = [40, 400, 4000];

/** In what texts of one kind differ: all but `structure` have the same form each time. */
export type TextKind = 'names' | 'literals' | 'structure';

export const TEXT_KINDS: readonly TextKind[] = ['names', 'literals', 'structure'];

/** The collection that texts read; they change nothing. */
export const TEXTS_SETUP =
  ".users = range(10).map(|i| {key: i, name: `user {i}`, age: 20 + i, tags: ['a', 'b']}); .total = 10; nil;";

/**
 * A text of about so many characters (3/10 more or less), different for each number.
 *
 * @param number at most 2^31 - 1
 */
export function newText(kind: TextKind, length: number, number: number): string {
  const words = new Words(kind, number);
  let text = '';
  for (let n = 0; ; n++) {
    const statement = statementOf(words, n, length - text.length);
    text += text === '' ? statement : ` ${statement}`;
    if (text.length >= 0.9 * length || length - text.length < SHORTEST) return text;
  }
}

/** Characters that no statement is shorter than. */
const SHORTEST = 10;

/** Names, literals and choices of one text. */
class Words {
  private readonly draw: Draw;
  private readonly tail: string;
  private names = 0;

  constructor(
    readonly kind: TextKind,
    private readonly number: number,
  ) {
    // The parts that stay the same in a kind are drawn from the same stream each time.
    this.draw = new Draw(kind === 'structure' ? number : 1, 'texts');
    this.tail = number.toString(36);
  }

  /** A name: a new one in each text, but where only literals differ. */
  name(): string {
    this.names += 1;
    return this.kind === 'literals' ? `value${this.names}` : `v${this.names}_${this.tail}`;
  }

  /** An int; it has the number of the text in it where literals differ. */
  int(): string {
    const int = this.draw.int(1, 999);
    return String(this.kind === 'names' ? int : this.number * 1000 + int);
  }

  str(): string {
    const word = STRINGS[this.draw.int(0, STRINGS.length - 1)] ?? '';
    return this.kind === 'names' ? `'${word}'` : `'${word} ${this.tail}'`;
  }

  /** The next of several forms: the first ones in turn, unless structures differ. */
  choose(count: number, n: number): number {
    return this.kind === 'structure' ? this.draw.int(0, count - 1) : n % count;
  }
}

const STRINGS = ['red', 'green', 'a longer text', 'x'];

/** The next statement of a text, of at most about `room` characters. */
function statementOf(words: Words, n: number, room: number): string {
  const forms = room < 60 ? SHORT : FORMS;
  const form = forms[words.choose(forms.length, n)];
  if (form === undefined) throw new Error('there is no such form');
  const text = form(words);
  if (text.length <= 1.1 * room) return text;
  // The rest is filled up with one sum.
  let sum = `${words.name()} = ${words.int()}`;
  while (sum.length < 0.9 * room - 1) sum += ` + ${words.int()}`;
  return `${sum};`;
}

type Form = (words: Words) => string;

const SHORT: readonly Form[] = [
  (w) => {
    const u = letter(w);
    return `.users.find(|${u}| ${u}.key < ${w.int()}).age;`;
  },
  (w) => `${w.name()} = .users[1].age * 2 + ${w.int()};`,
  (w) => `${w.name()} = {a: .total, b: ${w.str()}};`,
  (w) => `.users.len() > ${w.int()} ? 1 : .total;`,
];

/** A short name that stands twice would be new in each text as well, and too long. */
function letter(words: Words): string {
  return words.kind === 'literals' ? 'u' : words.name();
}

const FORMS: readonly Form[] = [
  (w) => {
    const u = letter(w);
    return `.users.filter(|${u}| ${u}.age > ${w.int()} && ${u}.name != ${w.str()}).map(|${u}| ${u}.age + 1);`;
  },
  (w) => {
    const x = w.name();
    return `${x} = [${w.int()}, ${w.int()}, {a: ${w.str()}, b: nil}]; ${x}.push(${x}.len() * 2);`;
  },
  (w) => {
    const x = w.name();
    return `${x} = ${w.int()}; if (${x} % 2 == 0) { ${x} += .total; } else { ${x} -= 1; };`;
  },
  (w) => {
    const [x, i] = [w.name(), w.name()];
    return `${x} = 0; for (${i} in range(3)) { ${x} += ${i} * ${w.int()}; };`;
  },
  (w) => {
    const [f, a, b] = [w.name(), w.name(), w.name()];
    return `${f} = |${a}, ${b}| ${a} * (${b} + ${w.int()}); ${f}(${w.int()}, 2);`;
  },
  (w) => {
    const x = w.name();
    return `${x} = .users[0].name.upper() + ${w.str()}; \`{${x}} is {.users[1].age}\`.starts_with(${w.str()});`;
  },
  (w) => `/* ${w.str()} */ try(.users[2].tags[0].contains(${w.str()}) || !is_nil(${w.int()}));`,
  (w) => `{name: ${w.str()}, size: ${w.int()} / 3.5, list: [1, true, ${w.str()}][1:]}.keys();`,
];
