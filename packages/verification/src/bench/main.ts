/** `npm run bench`: measures a node, a cluster, the language. */
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { runProgram, UsageError } from '../harness/usage.js';
import { benchClient } from './client.js';
import { benchCluster, clusterText } from './cluster/cluster.js';
import { benchIdle, idleText } from './cluster/idle.js';
import { rowsText } from './contest.js';
import { benchFairness, fairnessText, isFair } from './fairness.js';
import { benchFeed, feedText } from './feed.js';
import { areGood, type Figure, figuresText } from './figures.js';
import { benchPrograms, langText } from './lang.js';
import { benchRequests } from './requests.js';
import { benchRooms, roomsText } from './rooms.js';
import { benchData, dataText } from './scale/data.js';
import { scenarios, titleOf } from './scenarios.js';
import { benchShell } from './shell.js';
import { benchSnapshot, errorsOf, type SnapshotFigures } from './snapshot/snapshot.js';
import { snapshotText } from './snapshot/text.js';

const HELP = `npm run bench [-- PARTS... OPTIONS]

PARTS (default: requests)
  requests    processor time that requests of many kinds cost this build, and in turns what they cost another one (--against);
              named changes (--only named) in turns with the same bytes whose name the node does not know
  client      processor time of a small call of the client library, in turns with bare node:http that sends and takes the same bytes;
              then the shell on a terminal: ready, key to screen, paste, first page
  lang        programs of the language, each in turns with the same in plain JavaScript, in this process
  rooms       events to many listeners of one room
  feed        processor time that followers of changes cost a node, none, one and ten in turns, and how fast one reads what it missed
  cluster     three nodes, one node and three nodes of etcd in turns, and what clients notice when leaders are killed or hand over
  idle        processor time that three nodes take while nobody asks them anything, beside etcd and another build (--against)
  data        a node with a million orders: loading them, building indexes and jobs beside writes, look-ups in memory and after a restart, beside SQLite and
              a bare server that does as much besides its writes
  console     the web console in the installed browser, beside its goals: size, first view, typing, large results, long lists, polling, cost to the API
  fairness    two users who ask in loops, few and many, short and long: what part of the time each gets
  snapshot    a large state on its way to a follower that has nothing, and what other clients notice; of another build, too (--against)

  --seconds N       length of one measurement (default 1; for requests 0.4, for idle 5)
  --rounds N        measurements of each, of which the median counts (default 4; for lang, requests and idle 12, snapshot 1);
                    with an even number each of two that are compared is the first equally often
  --heat N          seconds that each load of cluster runs before it is measured (default 3)
  --connections L   numbers of connections (default 64; for cluster 64,1, as the first heats the next, too)
  --against DIR     folder of another built checkout
  --only TEXT       only what has TEXT in its title; for requests one of several with | between them
  --workers N       processes that make load (default 1)
  --kills N         leaders that cluster kills, and that it lets hand over (default 20; 0 for none)
  --listeners N     connections in the room of rooms (default 10000)
  --orders N        orders of data (default 1000000)
  --megabytes N     size of the state of snapshot (default 1000)
  --per-s N         writes, and reads, that clients of snapshot send to each of two nodes a second (default 20), writes beside the
                    builds of data (default 1000; fewer where the node is not that fast)
  --profile DIR     where snapshot lets all threads of its nodes write profiles of their processor time (--cpu-prof)
  --storage DIR     where nodes keep their files (default: the folder of temporary files)
  --json            figures as JSON
`;

const OPTIONS = {
  seconds: { type: 'string' },
  rounds: { type: 'string' },
  heat: { type: 'string', default: '3' },
  connections: { type: 'string' },
  against: { type: 'string' },
  only: { type: 'string', default: '' },
  workers: { type: 'string', default: '1' },
  kills: { type: 'string', default: '20' },
  listeners: { type: 'string', default: '10000' },
  orders: { type: 'string', default: '1000000' },
  megabytes: { type: 'string', default: '1000' },
  'per-s': { type: 'string' },
  profile: { type: 'string' },
  storage: { type: 'string', default: tmpdir() },
  json: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>>['values'];

/** The result of a part. */
interface Found {
  readonly figures: unknown;
  readonly text: string;
  /** True if requests failed, or events were lost. */
  readonly isWrong?: boolean;
}

/** Time that clients are watched before a state is sent. */
const SNAPSHOT_CALM_MS = 8000;
/** Time that idle clusters run before they are watched. */
const IDLE_SETTLE_MS = 15_000;
/** Time that connections are under load before a round of `requests` counts, and one of `cluster`. */
const REQUESTS_WARMUP_MS = 50;
const WARMUP_MS = 300;
const EMITS = 500;

const PARTS: Readonly<Record<string, (values: Values) => Found | Promise<Found>>> = {
  requests,
  client: async ({ rounds = '12' }) => {
    const count = whole(rounds, '--rounds');
    const calls = await benchClient(count);
    const shell = await benchShell(count);
    const text = `${figuresText('small call', calls)}\n\n${figuresText('shell', shell)}`;
    return { figures: { calls, shell }, text, isWrong: !areGood([...calls, ...shell]) };
  },
  lang: ({ rounds = '12', only }) => {
    const figures = benchPrograms({ rounds: whole(rounds, '--rounds'), only });
    return { figures, text: langText(figures) };
  },
  rooms: async (values) => {
    const listeners = whole(values.listeners, '--listeners');
    const figures = await benchRooms({ listeners, emits: EMITS });
    return { figures, text: roomsText(figures), isWrong: figures.heard !== listeners * EMITS };
  },
  feed: async (values) => {
    const { storage, rounds = '6' } = values;
    const options = { rounds: whole(rounds, '--rounds'), durationMs: secondsOf(values, '1'), storage };
    const figures = await benchFeed(options);
    return { figures, text: feedText(figures), isWrong: figures.missing > 0 };
  },
  cluster: async (values) => {
    const figures = await benchCluster({
      ...loadOf(values, { rounds: '4', seconds: '1', connections: '64,1' }),
      heatMs: 1000 * positive(values.heat, '--heat'),
      kills: values.kills === '0' ? 0 : whole(values.kills, '--kills'),
      progress: (text) => console.error(text),
    });
    const isWrong = figures.failovers.problems.length > 0 || figures.rates.some(({ errors }) => errors > 0);
    return { figures, text: clusterText(figures), isWrong };
  },
  idle: async (values) => {
    const { against, storage, rounds = '12' } = values;
    const windowMs = secondsOf(values, '5');
    const settleMs = IDLE_SETTLE_MS;
    const options = { against, settleMs, windowMs, rounds: whole(rounds, '--rounds'), storage };
    const figures = await benchIdle(options);
    return { figures, text: idleText(figures) };
  },
  data: async (values) => {
    const figures = await benchData({
      orders: whole(values.orders, '--orders'),
      perS: positive(values['per-s'] ?? '1000', '--per-s'),
      storage: values.storage,
      progress: (text) => console.error(text),
    });
    return { figures, text: dataText(figures), isWrong: figures.problems.length > 0 };
  },
  console: async ({ only, rounds = '5' }) => {
    // Alone it needs a browser.
    const { benchConsole } = await import('./console/console.js');
    const progress = (figure: Figure) => console.error(figuresText('console', [figure]));
    const figures = await benchConsole({ only, rounds: whole(rounds, '--rounds'), progress });
    return { figures, text: figuresText('console', figures), isWrong: !areGood(figures) };
  },
  fairness: async (values) => {
    const figures = await benchFairness(secondsOf(values, '5'));
    return { figures, text: fairnessText(figures), isWrong: !isFair(figures) };
  },
  snapshot: async (values) => {
    const { against, storage, profile, rounds = '1' } = values;
    const figures: SnapshotFigures[] = [];
    const texts: string[] = [];
    for (const of of against === undefined ? [undefined] : [undefined, against]) {
      const found = await benchSnapshot({
        of,
        megabytes: whole(values.megabytes, '--megabytes'),
        rounds: whole(rounds, '--rounds'),
        perS: positive(values['per-s'] ?? '20', '--per-s'),
        calmMs: SNAPSHOT_CALM_MS,
        storage,
        profile,
        progress: (text) => console.error(text),
      });
      figures.push(found);
      texts.push(snapshotText(found, of));
    }
    return { figures, text: texts.join('\n\n'), isWrong: figures.some((each) => errorsOf(each) > 0) };
  },
};

interface Defaults {
  readonly rounds: string;
  readonly seconds: string;
  readonly connections: string;
}

async function requests(values: Values): Promise<Found> {
  const texts = values.only.split('|');
  const wanted = scenarios.filter((scenario) => texts.some((text) => titleOf(scenario).includes(text)));
  const load = loadOf(values, { rounds: '12', seconds: '0.4', connections: '64' });
  const figures = await benchRequests(
    wanted,
    // Time before the figures count: code gets its last form in it.
    { ...load, warmupMs: REQUESTS_WARMUP_MS, heatMs: 2 * load.durationMs },
    (row) => console.error(rowsText([row])),
  );
  return { figures, text: rowsText(figures), isWrong: figures.some(({ errors }) => errors > 0) };
}

function loadOf(values: Values, defaults: Defaults) {
  const { against, only, storage, rounds = defaults.rounds, connections = defaults.connections } = values;
  return {
    against,
    only,
    storage,
    rounds: whole(rounds, '--rounds'),
    connections: connections.split(',').map((text) => whole(text, '--connections')),
    durationMs: secondsOf(values, defaults.seconds),
    warmupMs: WARMUP_MS,
    workers: whole(values.workers, '--workers'),
  };
}

function secondsOf({ seconds }: Values, otherwise: string): number {
  return 1000 * positive(seconds ?? otherwise, '--seconds');
}

function whole(text: string, option: string): number {
  return Math.round(positive(text, option));
}

function positive(text: string, option: string): number {
  const value = Number(text);
  if (value > 0 && value < 1e8) return value;
  throw new UsageError(`${option} ${text}: must be a number above 0`);
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  const names = positionals.length > 0 ? positionals : ['requests'];
  const unknown = names.find((name) => !Object.hasOwn(PARTS, name));
  if (unknown !== undefined) throw new UsageError(`there is no part ${unknown}`);
  let isWrong = false;
  for (const name of names) {
    const found = await PARTS[name]?.(values);
    console.log(values.json ? JSON.stringify(found?.figures, undefined, 2) : `${found?.text}\n`);
    isWrong ||= found?.isWrong === true;
  }
  return isWrong ? 1 : 0;
}

await runProgram(HELP, main);
