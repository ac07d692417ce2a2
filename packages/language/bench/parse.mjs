// Time of parsing and analysing texts that were never seen before: node packages/language/bench/parse.mjs
import { analyse, parse } from '../dist/index.js';

const pure = { changes: 'none', nse: false, unlessDirect: false, pure: true };
const rules = { func: () => pure, method: () => pure, checkRegex: () => null };

const line = (i) =>
  `  x${i} = .data.get('k${i}', {a: ${i}, b: [1, 2, 'three']}); if (x${i} > 2) { return x${i}.map(|v| v * 2 + ${i}); };\n`;
const TEXTS = {
  '1 + 1;': (n) => `${n % 9} + 1;`,
  '40 characters': (n) => `.users.filter(|u| u.age > ${10 + (n % 80)}).len() + ${n % 9}`,
  'procedure of 2 kB': (n) =>
    `|a, b| {\n${Array.from({ length: 22 }, (_, i) => line(i + (n % 10))).join('')}}`,
};

for (const [name, textOf] of Object.entries(TEXTS)) {
  const texts = Array.from({ length: 500 }, (_, n) => textOf(n));
  const rounds = Math.ceil(3e6 / (texts[0].length * texts.length));
  let best = { parse: Infinity, both: Infinity };
  for (let attempt = 0; attempt < 7; attempt++) {
    best = {
      parse: Math.min(
        best.parse,
        time(rounds, texts, (text) => parse(text)),
      ),
      both: Math.min(
        best.both,
        time(rounds, texts, (text) => analyse(parse(text), rules)),
      ),
    };
  }
  const { parse: parsing, both } = best;
  console.log(
    `${name} (${texts[0].length}): parse ${parsing.toFixed(2)} µs, with analysis ${both.toFixed(2)} µs`,
  );
}

/** Microseconds for each text. */
function time(rounds, texts, run) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < rounds; i++) for (const text of texts) run(text);
  return Number(process.hrtime.bigint() - start) / 1e3 / (rounds * texts.length);
}
