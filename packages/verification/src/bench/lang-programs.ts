/**
 * Programs that `npm run bench -- lang` measures: those of the language beside what a JavaScript programmer would write for the
 * same task. Both give the same result.
 */

export interface LangProgram {
  readonly name: string;
  /** Run before the first round. */
  readonly setup?: string;
  readonly code: string;
  /** True if each round begins with an empty collection, on which `setup` is run. */
  readonly fresh?: boolean;
  readonly plain: () => unknown;
  /** At most this many times what plain JavaScript takes. */
  readonly target: number;
}

const MANY = 100_000;

/** The same pseudo-random ints in both worlds: a linear congruential generator (Lehmer, 48271 mod 2^31 - 1). */
function randomInts(): number[] {
  const ints: number[] = [];
  let state = 1;
  for (let i = 0; i < MANY; i++) {
    state = (state * 48271) % 2147483647;
    ints.push(state);
  }
  return ints;
}

const RANDOM_INTS = `.ints = []; state = 1; for (i in range(${MANY})) { state = state * 48271 % 2147483647; .ints.push(state); }`;
const ints = randomInts();

interface Person {
  name: string;
  age: number;
}

const PEOPLE = `.people = range(${MANY}).map(|i| {name: \`name {i}\`, age: i * 7919 % 100});`;
const TYPED_PEOPLE = `
  try(set_type('Person', {name: 'str<0:40>', age: 'int<0:100>'}));
  .people = range(${MANY}).map(|i| Person{name: \`name {i}\`, age: i * 7919 % 100});`;
const people: Person[] = Array.from({ length: MANY }, (_, i) => ({
  name: `name ${i}`,
  age: (i * 7919) % 100,
}));

/** Where the stored programs put what they make. */
const store: { things: Person[] } = { things: [] };

export const langPrograms: readonly LangProgram[] = [
  {
    name: 'additions in a loop, a million',
    code: `sum = 0; for (i in range(10)) for (j in range(${MANY})) sum += j; sum;`,
    plain: () => {
      let sum = 0;
      for (let i = 0; i < 10; i++) for (let j = 0; j < MANY; j++) sum += j;
      return sum;
    },
    target: 20,
  },
  {
    name: 'loop with a branch, a million',
    code: `n = 0; for (i in range(10)) for (j in range(${MANY})) { if (j % 3 == 0) { n += j; } else { n -= 1; } }; n;`,
    plain: () => {
      let n = 0;
      for (let i = 0; i < 10; i++) {
        for (let j = 0; j < MANY; j++) {
          if (j % 3 === 0) {
            n += j;
          } else {
            n -= 1;
          }
        }
      }
      return n;
    },
    target: 20,
  },
  {
    name: 'recursive closure, fib(22)',
    code: 'fib = |n| n < 2 ? n : fib(n - 1) + fib(n - 2); fib(22);',
    plain: () => {
      const fib = (n: number): number => (n < 2 ? n : fib(n - 1) + fib(n - 2));
      return fib(22);
    },
    target: 4,
  },
  {
    name: 'sort of 100,000 by comparing',
    setup: RANDOM_INTS,
    code: '.ints.sort(|a, b| a - b)[1000];',
    plain: () => ints.toSorted((a, b) => a - b)[1000],
    target: 2,
  },
  {
    name: 'sort of 100,000 by a property',
    setup: PEOPLE,
    code: '.people.sort(|p| p.age)[1000].name;',
    plain: () => people.toSorted((a, b) => a.age - b.age)[1000]?.name,
    target: 2,
  },
  {
    name: 'map, filter, reduce over 100,000',
    setup: RANDOM_INTS,
    code: '.ints.map(|x| x % 1000).filter(|x| x > 500).reduce(|sum, x| sum + x, 0);',
    plain: () =>
      ints
        .map((x) => x % 1000)
        .filter((x) => x > 500)
        .reduce((sum, x) => sum + x, 0),
    target: 2,
  },
  {
    name: 'string of 10,000 pieces',
    code: "s = ''; for (i in range(10000)) s += 'piece '; s.ends_with('piece ') && s.len();",
    plain: () => {
      let s = '';
      for (let i = 0; i < 10_000; i++) s += 'piece ';
      return s.endsWith('piece ') && s.length;
    },
    target: 4,
  },
  {
    name: 'templates, 100,000',
    setup: PEOPLE,
    code: '.people.map(|p| `{p.name} is {p.age} years old`)[1000];',
    plain: () => people.map((p) => `${p.name} is ${p.age} years old`)[1000],
    target: 2,
  },
  ...(['plain things', 'instances of a type'] as const).flatMap((kind): LangProgram[] => [
    {
      name: `reads of 500,000 properties, ${kind}`,
      setup: kind === 'plain things' ? PEOPLE : TYPED_PEOPLE,
      code: 'sum = 0; for (i in range(5)) for (p in .people) sum += p.age; sum;',
      plain: () => {
        let sum = 0;
        for (let i = 0; i < 5; i++) for (const person of people) sum += person.age;
        return sum;
      },
      target: 40,
    },
    {
      name: `writes of 100,000 properties, ${kind}`,
      setup: kind === 'plain things' ? PEOPLE : TYPED_PEOPLE,
      code: 'for (p in .people) p.age = p.age + 100 - 100; .people.len();',
      plain: () => {
        for (const person of people) person.age = person.age + 100 - 100;
        return people.length;
      },
      target: 500,
    },
  ]),
  {
    name: '100,000 things, unstored',
    code: `range(${MANY}).map(|i| {name: 'name', age: i}).len();`,
    plain: () => Array.from({ length: MANY }, (_, i) => ({ name: 'name', age: i })).length,
    target: 10,
  },
  {
    name: '100,000 things, stored one by one',
    setup: '.things = [];',
    code: `for (i in range(${MANY})) .things.push({name: 'name', age: i}); .things.len();`,
    fresh: true,
    plain: () => {
      store.things = [];
      for (let i = 0; i < MANY; i++) store.things.push({ name: 'name', age: i });
      return store.things.length;
    },
    target: 10,
  },
  {
    name: '100,000 things, stored at once',
    setup: '.things = [];',
    code: `.things = range(${MANY}).map(|i| {name: 'name', age: i}); .things.len();`,
    fresh: true,
    plain: () => {
      store.things = Array.from({ length: MANY }, (_, i) => ({ name: 'name', age: i }));
      return store.things.length;
    },
    target: 12,
  },
  {
    name: 'find in 100,000',
    setup: PEOPLE,
    code: ".people.find(|p| p.name == 'name 99999').age;",
    plain: () => people.find((p) => p.name === 'name 99999')?.age,
    target: 3,
  },
];
