/** npm run fuzz [-- --for 60s --seed N] */
import { parseArgs } from 'node:util';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Finding, fuzz } from './fuzz.js';

const { values } = parseArgs({
  options: { for: { type: 'string', default: '60s' }, seed: { type: 'string' } },
});
const match = /^(\d+)(s|m|h)$/.exec(values.for);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
if (match === null || !Number.isInteger(seed)) {
  console.error('npm run fuzz [-- --for 60s|10m|1h --seed N]: random programs on a leader and a follower');
  process.exit(2);
}
const seconds = Number(match[1]) * { s: 1, m: 60, h: 3600 }[match[2] as 's' | 'm' | 'h'];

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

console.log(`seed ${seed}, for ${values.for}`);
const began = performance.now();
const report = fuzz(
  seed,
  () => performance.now() - began < seconds * 1000,
  () => {
    collectGarbage();
    return getHeapStatistics().used_heap_size;
  },
);
const { programs, succeeded, changes, finding } = report;
console.log(
  `${programs} programs in ${((performance.now() - began) / 1000).toFixed(0)} s, of which ${succeeded} succeeded and ${changes} made a change`,
);
if (finding !== null) {
  console.log(textOf(finding));
  process.exitCode = 1;
}

function textOf({ wrong, options, programs }: Finding): string {
  const texts = programs.map(
    ({ scope, statements }) => `--- in the scope ${scope}\n${statements.join(';\n')}`,
  );
  return [`FOUND, seed ${seed}, world ${JSON.stringify(options)}: ${wrong}`, ...texts].join('\n');
}
