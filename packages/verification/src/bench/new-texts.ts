/** Query texts that no server has seen before: names, literals, and what stands where differ with their number, and two numbers never give the same. */
import { Draw } from '../simulation/random.js';

/** About how long texts are that are measured, in characters. */
export const TEXT_LENGTHS: readonly number[] = [40, 400, 4000];

/** The collection that texts read; they change nothing. */
export const TEXTS_SETUP =
  ".users = range(10).map(|i| {key: i, name: `user {i}`, age: 20 + i, tags: ['a', 'b']}); .total = 10; nil;";

/** Characters that no statement is shorter than. */
const SHORTEST = 10;

/**
 * A text of about so many characters (3/10 more or less), different for each number.
 *
 * @param number at most 2^31 - 1
 */
export function newText(length: number, number: number): string {
  const draw = new Draw(number, 'texts');
  const tail = number.toString(36);
  const int = (): string => String(number * 1000 + draw.int(1, 999));
  let text = '';
  for (let n = 1; length - text.length >= SHORTEST; n++) {
    const room = length - text.length;
    const statement = draw.pick(FORMS)(`v${n}_${tail}`, int(), `'${draw.pick(STRINGS)} ${tail}'`);
    let sum = `v${n}_${tail} = ${int()}`;
    // The rest is filled up with one sum.
    while (statement.length > 1.1 * room && sum.length < 0.8 * room - 1) sum += ` + ${int()}`;
    text += statement.length > 1.1 * room ? `${sum};` : `${statement} `;
  }
  return text.trimEnd();
}

const STRINGS = ['red', 'green', 'a longer text', 'x'];

/** Statements, with a name, an int and a str of their own. */
const FORMS: readonly ((name: string, int: string, str: string) => string)[] = [
  (v, int) => `${v} = .users[1].age * 2 + ${int};`,
  (v, _, str) => `${v} = {a: .total, b: ${str}};`,
  (_, int) => `.users.len() > ${int} ? 1 : .total;`,
  (v, int) => `.users.find(|${v}| ${v}.key < ${int}).age;`,
  (v, int, str) => `.users.filter(|${v}| ${v}.age > ${int} && ${v}.name != ${str}).map(|${v}| ${v}.age + 1);`,
  (v, int, str) => `${v} = [${int}, 7, {a: ${str}, b: nil}]; ${v}.push(${v}.len() * 2);`,
  (v, int) => `${v} = ${int}; if (${v} % 2 == 0) { ${v} += .total; } else { ${v} -= 1; };`,
  (v, int) => `${v} = 0; for (i${v} in range(3)) { ${v} += i${v} * ${int}; };`,
  (v, int) => `${v} = |a${v}, b| a${v} * (b + ${int}); ${v}(${int}, 2);`,
  (v, _, str) => `${v} = .users[0].name.upper() + ${str}; \`{${v}} is {.users[1].age}\`.starts_with(${str});`,
  (_, int, str) => `/* ${str} */ try(.users[2].tags[0].contains(${str}) || !is_nil(${int}));`,
  (_, int, str) => `{name: ${str}, size: ${int} / 3.5, list: [1, true, ${str}][1:]}.keys();`,
];
