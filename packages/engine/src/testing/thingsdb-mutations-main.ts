/** npm run mutations [-- --runs N --seed N] */
import { parseArgs } from 'node:util';
import { importMutations } from './thingsdb-mutations.js';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});
const [runs, seed] = [Number(values.runs), Number(values.seed)];
if (!Number.isSafeInteger(runs) || !Number.isSafeInteger(seed)) {
  console.error(
    'npm run mutations [-- --runs 100000 --seed 1]: damaged dumps of ThingsDB, each of which is imported',
  );
  process.exit(2);
}
const { refused, accepted, finding } = importMutations(seed, runs);
console.log(`seed ${seed}: ${refused} refused, ${accepted} taken`);
if (finding !== null) {
  console.error(finding);
  process.exit(1);
}
