/**
 * npm run bench [-- http|native|requests|append|echo|lang|texts|types|rooms|size|cluster|idle|snapshot ... OPTIONS]
 */
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { NodeProcess } from '../harness/node-process.js';
import { benchRequests, requestsText } from './against.js';
import { type AppendResult, measureAppends } from './append.js';
import { benchCluster } from './cluster/cluster.js';
import { benchIdle, idleText } from './cluster/idle.js';
import { clusterText } from './cluster/text.js';
import { benchNewTexts, benchPrograms, langText } from './lang.js';
import { benchNative, nativeText } from './native.js';
import { benchNativeRooms, nativeRoomsText } from './native-rooms.js';
import { benchRooms, roomsText } from './rooms.js';
import { type BenchOptions, benchEcho, benchNode, type Row } from './run.js';
import { comparedScenarios, requestOf, scenarios, titleOf } from './scenarios.js';
import { measureSize, type SizeOptions, sizeText } from './size.js';
import { benchSnapshot, errorsOf } from './snapshot/snapshot.js';
import { snapshotText } from './snapshot/text.js';
import { percent, table, timeText } from './table.js';
import { benchTexts, textsText } from './texts.js';
import { benchTypes, typesText } from './types.js';
import { thingsDbProgram } from './yardsticks/thingsdb.js';

const allParts: readonly string[] = [
  'append',
  'echo',
  'http',
  'native',
  'requests',
  'lang',
  'texts',
  'types',
  'rooms',
  'size',
  'cluster',
  'idle',
  'snapshot',
];

const help = `npm run bench [-- PARTS... OPTIONS]

PARTS: append (synced appends to a file), echo (what the load generator reaches against a bare HTTP server), http (scenarios
on a real node, each in turns with the echo), native (one query by every door of a node, with 16 requests in flight on each connection, and what idle
connections and those in rooms cost), requests (processor time that requests of many kinds cost this build, and with
--against in turns what they cost another one, with --echo a bare server that parses, checks and answers, and where the variable
ALTHING_BENCH_THINGSDB names a program of ThingsDB, that: the way to see what a change brings), lang (programs of the language, each in turns with the same in plain
JavaScript, in this process), texts (processor time of query texts that were never seen before, by stages; with --against in turns what another build takes
for them), types (instances of types beside plain things, in time and memory, in both tiers), rooms (events to many listeners of one room), size (starts, memory and checkpoints with many things, and a collection that is ten times
as large as the memory for it), cluster (one node, three nodes and three nodes of etcd in turns, and what clients notice
when leaders are killed or hand over), idle (processor time that three nodes take while nobody asks them anything, beside three nodes
of etcd and, with --against, of another build), snapshot (a large state on its way to a follower that has nothing, what it costs, and what
other clients notice; with --against of another build's nodes, too). Default: append and http.

  --seconds N       length of one measurement (default 1)
  --rounds N        measurements of each scenario, of which the median counts (default 3; for lang, requests and idle 12, for texts 20, for types 200, for snapshot 1)
  --heat N          seconds that each load of cluster runs before it is measured (default 3)
  --connections L   numbers of connections (default 1,16,64; for cluster 64,1, in this order, as the first one heats the next, too; for requests 64; for native 16; a list for http, echo, cluster and requests)
  --against DIR     folder of another built checkout that requests, texts, cluster, idle and snapshot compare this one with
  --bare            cluster measures three nodes of a bare path, too, in place of one node: HTTP, a log, two followers and
                    nothing else, in one thread and in two; lang the bare path of a stored push: what is left to gain on this machine
  --echo            requests also of a bare server that parses, checks and answers
  --only TEXT       only scenarios and programs, and rates of cluster, whose title contains TEXT; for requests one of several with | between them
  --workers N       processes that make load (default 1)
  --things N        things that size stores (default 1000000), or that types works on (default 2000)
  --cache-mb N      memory for the large collection of size (default 64)
  --kills N         leaders that cluster kills, and that it lets hand over (default 20; 0 for none)
  --listeners N     connections in the room of rooms (default 10000)
  --idle N          idle connections that native opens (default 10000; 0 for none)
  --megabytes N     size of the state of snapshot (default 1000)
  --per-s N         writes, and reads, that clients of snapshot send to each of two nodes a second (default 20)
  --profile DIR     where snapshot lets all threads of its nodes write profiles of their processor time (--cpu-prof)
  --in-rooms N      connections in rooms at three nodes that native opens (default 5000; 0 for none)
  --storage DIR     where the node and the appends keep their files (default: the folder of temporary files)
  --json            figures as JSON`;

/** How long events come to connections in rooms. */
const ROOMS_MS = 10_000;

/** How long clients are watched before a state is sent. */
const SNAPSHOT_CALM_MS = 8000;

/** How long idle clusters run before they are watched. */
const IDLE_SETTLE_MS = 15_000;

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      heat: { type: 'string', default: '3' },
      connections: { type: 'string' },
      against: { type: 'string' },
      bare: { type: 'boolean', default: false },
      echo: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      workers: { type: 'string', default: '1' },
      things: { type: 'string' },
      'cache-mb': { type: 'string', default: '64' },
      kills: { type: 'string', default: '20' },
      listeners: { type: 'string', default: '10000' },
      idle: { type: 'string', default: '10000' },
      megabytes: { type: 'string', default: '1000' },
      'per-s': { type: 'string', default: '20' },
      profile: { type: 'string' },
      'in-rooms': { type: 'string', default: '5000' },
      storage: { type: 'string', default: tmpdir() },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const unknown = positionals.find((part) => !allParts.includes(part));
  if (values.help || unknown !== undefined) {
    console.log(unknown === undefined ? help : `there is no part ${unknown}\n\n${help}`);
    return unknown === undefined ? 0 : 1;
  }
  const parts = positionals.length > 0 ? positionals : ['append', 'http'];
  const options: BenchOptions = {
    connections: (values.connections ?? (parts.includes('cluster') ? '64,1' : '1,16,64'))
      .split(',')
      .map((text) => positive(text, '--connections')),
    durationMs: 1000 * positive(values.seconds ?? '1', '--seconds'),
    warmupMs: 300,
    rounds: positive(values.rounds ?? '3', '--rounds'),
    workers: positive(values.workers, '--workers'),
  };
  if (parts.includes('size')) {
    const sizes: SizeOptions = {
      things: Math.round(positive(values.things ?? '1000000', '--things', 1e8)),
      cacheMb: Math.round(positive(values['cache-mb'], '--cache-mb')),
      starts: 5,
      storage: values.storage,
      progress: (text) => console.error(text),
    };
    const figures = await measureSize(sizes);
    console.log(values.json ? JSON.stringify(figures, undefined, 2) : sizeText(sizes, figures));
    if (parts.length === 1) return figures.checkpoint.errors > 0 ? 1 : 0;
  }
  if (parts.includes('native')) {
    const figures = await benchNative({
      connections: Math.round(positive(values.connections ?? '16', '--connections')),
      inFlight: 16,
      durationMs: options.durationMs,
      warmupMs: options.warmupMs,
      rounds: options.rounds,
      idle: values.idle === '0' ? 0 : Math.round(positive(values.idle, '--idle')),
      storage: values.storage,
    });
    console.log(values.json ? JSON.stringify(figures, undefined, 2) : nativeText(figures));
    const inRooms = values['in-rooms'] === '0' ? 0 : Math.round(positive(values['in-rooms'], '--in-rooms'));
    const rooms =
      inRooms === 0
        ? null
        : await benchNativeRooms({ listeners: inRooms, durationMs: ROOMS_MS, storage: values.storage });
    if (rooms !== null)
      console.log(values.json ? JSON.stringify(rooms, undefined, 2) : `\n${nativeRoomsText(rooms)}`);
    const isWhole = rooms === null || rooms.heard === rooms.expected;
    if (parts.length === 1)
      return isWhole && figures.rows.every(({ problem }) => problem === undefined) ? 0 : 1;
  }
  if (parts.includes('rooms')) {
    const listeners = Math.round(positive(values.listeners, '--listeners', 1e6));
    const figures = await benchRooms({ listeners, emits: 500 });
    console.log(values.json ? JSON.stringify(figures, undefined, 2) : roomsText(figures));
    if (parts.length === 1) return figures.heard === listeners * figures.emits ? 0 : 1;
  }
  if (parts.includes('cluster')) {
    const figures = await benchCluster({
      ...options,
      against: values.against,
      withBare: values.bare,
      heatMs: 1000 * positive(values.heat, '--heat'),
      only: values.only,
      kills: values.kills === '0' ? 0 : Math.round(positive(values.kills, '--kills', 1000)),
      storage: values.storage,
      progress: (text) => console.error(text),
    });
    console.log(values.json ? JSON.stringify(figures, undefined, 2) : clusterText(figures));
    const isWrong = figures.failovers.problems.length > 0 || figures.rates.some(({ errors }) => errors > 0);
    if (parts.length === 1) return isWrong ? 1 : 0;
  }
  if (parts.includes('idle')) {
    const rows = await benchIdle({
      against: values.against,
      settleMs: IDLE_SETTLE_MS,
      windowMs: 1000 * positive(values.seconds ?? '5', '--seconds'),
      rounds: Math.round(positive(values.rounds ?? '12', '--rounds')),
      storage: values.storage,
    });
    console.log(values.json ? JSON.stringify(rows, undefined, 2) : idleText(rows));
    if (parts.length === 1) return 0;
  }
  if (parts.includes('snapshot')) {
    const builds = values.against === undefined ? [undefined] : [undefined, values.against];
    let errors = 0;
    for (const of of builds) {
      const figures = await benchSnapshot({
        of,
        megabytes: Math.round(positive(values.megabytes, '--megabytes', 100_000)),
        rounds: Math.round(positive(values.rounds ?? '1', '--rounds', 100)),
        perS: positive(values['per-s'], '--per-s', 1000),
        calmMs: SNAPSHOT_CALM_MS,
        storage: values.storage,
        profile: values.profile,
        progress: (text) => console.error(text),
      });
      console.log(values.json ? JSON.stringify(figures, undefined, 2) : snapshotText(figures, of));
      errors += errorsOf(figures);
    }
    if (parts.length === 1) return errors > 0 ? 1 : 0;
  }
  if (parts.includes('requests')) {
    const compared = await benchRequests(
      comparedScenarios.filter((scenario) =>
        values.only.split('|').some((text) => titleOf(scenario).includes(text)),
      ),
      {
        against: values.against,
        echo: values.echo,
        thingsDb: thingsDbProgram(),
        connections: values.connections === undefined ? [64] : options.connections,
        durationMs: 1000 * positive(values.seconds ?? '0.4', '--seconds'),
        rounds: Math.round(positive(values.rounds ?? '12', '--rounds')),
        workers: options.workers,
        storage: values.storage,
      },
      (row) => console.error(requestsText([row])),
    );
    console.log(values.json ? JSON.stringify(compared, undefined, 2) : requestsText(compared));
    if (parts.length === 1) return compared.some(({ errors }) => errors > 0) ? 1 : 0;
  }
  if (parts.includes('texts')) {
    const figures = await benchTexts(
      {
        against: values.against,
        rounds: Math.round(positive(values.rounds ?? '20', '--rounds')),
        only: values.only,
      },
      (row) => console.error(textsText([row])),
    );
    console.log(values.json ? JSON.stringify(figures, undefined, 2) : textsText(figures));
    if (parts.length === 1) return 0;
  }
  if (parts.includes('types')) {
    const figures = benchTypes({
      rounds: Math.round(positive(values.rounds ?? '200', '--rounds')),
      things: Math.round(positive(values.things ?? '2000', '--things')),
      only: values.only,
    });
    console.log(values.json ? JSON.stringify(figures, undefined, 2) : typesText(figures));
    if (parts.length === 1) return 0;
  }
  const appends = parts.includes('append') ? measureAppends(values.storage, 2 * options.durationMs) : [];
  const rows: Row[] = [];
  if (parts.includes('echo')) rows.push(...(await echoRows(options)));
  if (parts.includes('http')) rows.push(...(await httpRows(options, values.only, values.storage)));
  const langRounds = Math.round(positive(values.rounds ?? '12', '--rounds'));
  const lang = parts.includes('lang')
    ? benchPrograms({ rounds: langRounds, only: values.only, withBare: values.bare })
    : [];
  const newTexts = parts.includes('lang') && values.only === '' ? benchNewTexts(langRounds) : [];
  if (values.json) console.log(JSON.stringify({ appends, rows, lang, newTexts }, undefined, 2));
  else console.log(text(appends, rows));
  if (parts.includes('lang') && !values.json) console.log(langText(lang, newTexts));
  return rows.some((row) => row.errors > 0) ? 1 : 0;
}

async function echoRows(options: BenchOptions): Promise<Row[]> {
  const [scenario] = scenarios;
  if (scenario === undefined) return [];
  return benchEcho(requestOf(scenario, { basic: ['admin', 'pass'] }), options);
}

async function httpRows(options: BenchOptions, only: string, storage: string): Promise<Row[]> {
  const wanted = scenarios.filter((scenario) => titleOf(scenario).includes(only));
  const node = await NodeProcess.start({ storage });
  try {
    return await benchNode(node, wanted, options, (row) => {
      console.error(`${row.name}, ${row.connections}: ${row.ratePerS.toFixed(0)}/s`);
    });
  } finally {
    await node.stop();
  }
}

function positive(text: string, option: string, below = 1e6): number {
  const value = Number(text);
  if (value > 0 && value < below) return value;
  throw new Error(`${option} ${text}: must be a number above 0`);
}

function text(appends: readonly AppendResult[], rows: readonly Row[]): string {
  const parts: string[] = [];
  if (appends.length > 0) {
    parts.push(
      table([
        ['', 'per s', 'p50', 'p99'],
        ...appends.map((row) => [
          row.name,
          row.ratePerS.toFixed(0),
          timeText(row.p50Ms),
          timeText(row.p99Ms),
        ]),
      ]),
    );
  }
  if (rows.length > 0) {
    const headings = [
      '',
      'connections',
      'per s',
      'p50',
      'p99',
      'of echo',
      'target',
      'of append',
      'server CPU',
      'generator CPU',
    ];
    const appendPerS = appends.find((row) => row.name.includes('preallocated'))?.ratePerS;
    parts.push(table([headings, ...rows.map((row) => cells(row, appendPerS))]));
  }
  for (const row of rows) {
    if (row.errors > 0)
      parts.push(`${row.name}, ${row.connections}: ${row.errors} errors, such as: ${row.lastError}`);
  }
  return parts.join('\n\n');
}

function cells(row: Row, appendPerS: number | undefined): string[] {
  return [
    row.name,
    String(row.connections),
    row.ratePerS.toFixed(0),
    timeText(row.p50Ms),
    timeText(row.p99Ms),
    percent(row.shareOfEcho),
    row.targetShare === undefined ? '' : percent(row.targetShare),
    row.changes && appendPerS !== undefined ? percent(row.ratePerS / appendPerS) : '',
    row.serverUs === undefined ? '' : `${row.serverUs.toFixed(1)} µs`,
    `${row.generatorUs.toFixed(1)} µs`,
  ];
}
