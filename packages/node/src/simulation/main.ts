/** `npm run simulate`: simulated lives of clusters. */
import { simulate } from './simulate.js';

async function main(): Promise<void> {
  const [first, last, verbose] = process.argv.slice(2);
  const from = Number(first ?? 1);
  const to = Number(last ?? from);
  const began = performance.now();
  let events = 0;
  let operations = 0;
  let acknowledged = 0;
  let failed = 0;
  for (let seed = from; seed <= to; seed++) {
    try {
      const log = verbose === undefined ? {} : { log: (line: string) => console.log(line) };
      const report = await simulate({ seed, ...log });
      events += report.events;
      operations += report.operations;
      acknowledged += report.acknowledged;
      if (from === to) console.log(report);
    } catch (error) {
      failed += 1;
      console.log(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`);
      if (from === to || failed === 1) console.log(error);
    }
  }
  const seconds = (performance.now() - began) / 1000;
  console.log({ seeds: to - from + 1, failed, events, operations, acknowledged, seconds });
}

await main();
