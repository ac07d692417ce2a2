/** `npm run chaos`: real nodes under real faults, and whether what clients saw can be explained. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SmallDisk } from '../durability/small-disk.js';
import { durationOf, runProgram, seedOf, tellingTime, UsageError, wholeIn } from '../harness/usage.js';
import { check } from './check.js';
import type { FaultKind } from './fault-kind.js';
import { faultKinds } from './faults.js';
import { runLibrary, TRANSPORTS, type TransportName } from './library.js';
import { Namespaces, namespacesProblem, runInside } from './namespaces.js';
import { Proxies } from './proxies.js';
import { type Record, readRecord } from './record.js';
import { report } from './report.js';
import { run } from './run.js';

const HELP = `Real nodes on this machine, clients that read and write all the time, and faults. In the end the nodes are
compared, and the history of what the clients saw is checked: linearizability, lost changes, changes that took effect twice.

  npm run chaos                      10 minutes
  npm run chaos -- --for 90s         as long as wanted (s, m, h)
  npm run chaos -- --nodes 5         1, 3 or 5 nodes (default 3)
  npm run chaos -- --seed 7          the same faults in the same order; what happens then depends on real time, too
  npm run chaos -- --faults a,b      only these faults, of those below
  npm run chaos -- --clients 16      clients that work at the same time (default 8)
  npm run chaos -- --sockets 8       and so many of the native protocol, over TCP and WebSockets, which are in rooms (default 6)
  npm run chaos -- --proxies         proxies between the nodes, also where there could be network namespaces
  npm run chaos -- --keep FOLDER     keeps logs and history there; otherwise they stay only if something is wrong
  npm run chaos -- --check FILE      checks a history again
  npm run chaos -- --library --for 2m    the client library instead, over each transport for so long: 500 changes a second (--rate) while
                                     leaders are killed every 5 s and connections are cut, then a rolling restart; --transports http,tcp,websocket

Faults:
${faultKinds.map(({ name, doc }) => `  ${name.padEnd(16)}${doc}`).join('\n')}

Network namespaces and full disks take root, with iproute2 and nftables; clocks and bad disks a C compiler. What is not possible is left
out, and told.`;

await runProgram(HELP, main);

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      for: { type: 'string', default: '10m' },
      nodes: { type: 'string', default: '3' },
      clients: { type: 'string', default: '8' },
      sockets: { type: 'string', default: '6' },
      seed: { type: 'string' },
      faults: { type: 'string' },
      proxies: { type: 'boolean', default: false },
      keep: { type: 'string' },
      check: { type: 'string' },
      library: { type: 'boolean', default: false },
      rate: { type: 'string', default: '500' },
      transports: { type: 'string', default: TRANSPORTS.join(',') },
      /** Set in the process that this one starts in a network namespace, with the names of the namespaces behind it. */
      inside: { type: 'boolean', default: false },
    },
  });
  if (values.check !== undefined) return tell(await readRecord(values.check));
  const nodes = wholeIn('--nodes', values.nodes, 1, 5);
  if (nodes % 2 === 0) throw new UsageError('--nodes must be 1, 3 or 5');
  const seed = seedOf(values.seed);
  const clients = wholeIn('--clients', values.clients, 1, 100);
  const sockets = wholeIn('--sockets', values.sockets, 0, 100);
  const durationMs = durationOf('--for', values.for);
  const kinds = kindsOf(values.faults);
  const [prefix] = positionals;
  if (values.library) {
    const perSecond = wholeIn('--rate', values.rate, 1, 10_000);
    return playLibrary(durationMs, transportsOf(values.transports), perSecond, seed);
  }
  if (!values.inside && !values.proxies) {
    const problem = namespacesProblem();
    if (problem === null) return runInside(nodes, [fileURLToPath(import.meta.url), ...args, '--inside']);
    console.log(`proxies instead of network namespaces: ${problem}`);
  }
  const folder = resolve(values.keep ?? mkdtempSync(join(tmpdir(), 'althing-chaos-')));
  const network = prefix === undefined ? await Proxies.open(nodes) : new Namespaces(prefix, nodes);
  let isInterrupted = false;
  const interrupt = (): void => {
    isInterrupted = true;
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  console.log(`seed ${seed}, ${nodes} nodes, ${network.title}, data in ${folder}`);
  const record = await run({
    seed,
    durationMs,
    clients,
    sockets,
    network,
    kinds,
    diskProblem: SmallDisk.problem(),
    folder,
    isInterrupted: () => isInterrupted,
    tell: tellingTime(),
  });
  await network.close();
  const code = tell(record);
  if (code !== 0 || values.keep !== undefined) console.log(`history and logs are in ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
  return code;
}

/** The client library under faults; gives the exit code. */
async function playLibrary(
  durationMs: number,
  transports: readonly TransportName[],
  perSecond: number,
  seed: number,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'althing-chaos-'));
  const network = await Proxies.open(3);
  console.log(`seed ${seed}, ${perSecond} changes a second over ${transports.join(', ')}`);
  const tell = (text: string): void => console.log(`  ${text}`);
  const problems = await runLibrary({
    seed,
    durationMs,
    transports,
    perSecond,
    network,
    folder,
    tell,
  });
  await network.close();
  rmSync(folder, { recursive: true, force: true });
  console.log(
    problems.length === 0
      ? 'nothing wrong: nothing lost, nothing made twice, every call settled'
      : problems.join('\n'),
  );
  return problems.length === 0 ? 0 : 1;
}

function transportsOf(text: string): TransportName[] {
  return text.split(',').map((name) => {
    const transport = TRANSPORTS.find((each) => each === name);
    if (transport === undefined) throw new UsageError(`--transports are ${TRANSPORTS.join(', ')}`);
    return transport;
  });
}

/** Checks, and tells what was found; gives the exit code. */
function tell(record: Record): number {
  const checked = check(record);
  console.log(`\n${report(record, checked)}`);
  return checked.problems.length === 0 ? 0 : 1;
}

function kindsOf(text: string | undefined): readonly FaultKind[] {
  if (text === undefined) return faultKinds;
  return text.split(',').map((name) => {
    const kind = faultKinds.find((each) => each.name === name);
    if (kind === undefined) throw new UsageError(`there is no fault ${name}`);
    return kind;
  });
}
