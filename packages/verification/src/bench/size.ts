/**
 * What size costs: how much later a node with many things is ready, what a loaded thing takes in memory, how long writes
 * take while many things are checkpointed, and a collection that is far larger than the memory for it.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type WireValue, wireMap } from '@althing/client';
import { authorization, type Credentials, NodeClient } from '../harness/node-client.js';
import { NodeProcess } from '../harness/node-process.js';
import { Histogram } from './histogram.js';
import { Load } from './load.js';
import { median, table, timeText } from './table.js';

export interface SizeOptions {
  /** How many things are stored. */
  readonly things: number;
  /** `cache_size_mb` of the node whose collection is ten times as large. */
  readonly cacheMb: number;
  /** Starts that are measured of the empty and of the full node, in turns. */
  readonly starts: number;
  readonly storage: string;
  /** Called with what is done. */
  readonly progress: (text: string) => void;
}

export interface SizeFigures {
  readonly emptyReadyMs: number;
  readonly fullReadyMs: number;
  /** Of the heap, for a thing that is known and loaded. */
  readonly heapBytesPerThing: number;
  /** Of the process. */
  readonly residentBytesPerThing: number;
  readonly checkpoint: CheckpointFigures;
  readonly large: LargeFigures;
}

export interface CheckpointFigures {
  readonly things: number;
  readonly durationMs: number;
  readonly writes: number;
  readonly errors: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

export interface LargeFigures {
  readonly megabytes: number;
  readonly cacheMb: number;
  /** Without files that are mapped, as are the next. */
  readonly residentBeforeMb: number;
  readonly residentPeakMb: number;
  readonly writtenPerS: number;
  readonly readPerS: number;
  readonly readPerSAfterRestart: number;
}

/** Things that one query makes, touches or reads. */
const BATCH = 5000;
/** Characters of one thing of the large collection. */
const LARGE_THING_LENGTH = 1000;
const LARGE_BATCH = 1000;
/** Connections that write during the checkpoint. */
const WRITERS = 16;
/** Length of a slice of the load, in milliseconds. */
const SLICE_MS = 50;
/** Settings with which nothing is checkpointed before it is time, and nothing leaves memory. */
const ROOMY = { cache_size_mb: '4096', checkpoint_size_mb: '4096', log_level: 'debug' };

/** @throws {Error} when an answer is wrong */
export async function measureSize(options: SizeOptions): Promise<SizeFigures> {
  const folder = mkdtempSync(join(options.storage, 'althing-size-'));
  try {
    const full = join(folder, 'full');
    await fill(full, options);
    const ready = await measureStarts(join(folder, 'empty'), full, options);
    const memory = await measureMemory(full, options);
    const checkpoint = await measureCheckpoint(full, options);
    rmSync(full, { recursive: true });
    const large = await measureLarge(join(folder, 'large'), options);
    return { ...ready, ...memory, checkpoint, large };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The figures as text, with what is aimed at. */
export function sizeText(options: SizeOptions, figures: SizeFigures): string {
  const { checkpoint, large } = figures;
  return table([
    ['', 'measured', 'aim'],
    ['empty node ready', timeText(figures.emptyReadyMs), ''],
    [`node with ${options.things} things ready`, timeText(figures.fullReadyMs), ''],
    ['  later by', timeText(Math.max(0, figures.fullReadyMs - figures.emptyReadyMs)), 'at most 300 ms'],
    ['heap of a loaded thing', `${figures.heapBytesPerThing.toFixed(0)} bytes`, 'at most 250'],
    ['  of the process', `${figures.residentBytesPerThing.toFixed(0)} bytes`, ''],
    [`checkpoint of ${checkpoint.things} things`, timeText(checkpoint.durationMs), ''],
    ['  writes meanwhile', String(checkpoint.writes), `${checkpoint.errors} errors`],
    ['  p50', timeText(checkpoint.p50Ms), ''],
    ['  p99', timeText(checkpoint.p99Ms), ''],
    ['  p99.9', timeText(checkpoint.p999Ms), 'under 50 ms'],
    ['  longest', timeText(checkpoint.maxMs), ''],
    [`${large.megabytes} MB with cache_size_mb = ${large.cacheMb}`, '', ''],
    ['  things written', `${large.writtenPerS.toFixed(0)}/s`, ''],
    ['  read in random order', `${large.readPerS.toFixed(0)}/s`, ''],
    ['  after a restart', `${large.readPerSAfterRestart.toFixed(0)}/s`, ''],
    ['  memory before', `${large.residentBeforeMb} MB`, ''],
    ['  memory at most', `${large.residentPeakMb} MB`, ''],
  ]);
}

async function fill(path: string, { things, progress }: SizeOptions): Promise<void> {
  await withNode(path, ROOMY, async (_, query) => {
    await query('.things = []; .counter = 0;');
    await inBatches(things, BATCH, (from, to) =>
      query("range(from, to).each(|i| .things.push({n: i, name: 'thing ' + str(i)})); nil;", { from, to }),
    );
  });
  progress(`${things} things stored`);
}

async function measureStarts(
  empty: string,
  full: string,
  { starts, progress }: SizeOptions,
): Promise<Pick<SizeFigures, 'emptyReadyMs' | 'fullReadyMs'>> {
  const times: Record<string, number[]> = { [empty]: [], [full]: [] };
  await withNode(empty, {}, async () => {});
  for (let i = 0; i < starts; i++) {
    for (const path of [empty, full]) {
      const begin = performance.now();
      await withNode(path, {}, async () => {
        times[path]?.push(performance.now() - begin);
      });
    }
  }
  const [emptyReadyMs, fullReadyMs] = [median(times[empty] ?? []), median(times[full] ?? [])];
  progress(`ready after ${emptyReadyMs.toFixed(0)} and ${fullReadyMs.toFixed(0)} ms`);
  return { emptyReadyMs, fullReadyMs };
}

async function measureMemory(
  path: string,
  { things, progress }: SizeOptions,
): Promise<Pick<SizeFigures, 'heapBytesPerThing' | 'residentBytesPerThing'>> {
  return withNode(path, ROOMY, async (node, query) => {
    // So that what programs take is not counted as what things take.
    for (let i = 0; i < 500; i++) await query('range(1000).reduce(|sum, i| sum + i, 0);');
    const before = await memoryOf(node);
    let sum = 0;
    await inBatches(things, BATCH, async (from, to) => {
      sum += Number(await query('.things[from:to].reduce(|sum, thing| sum + thing.n, 0);', { from, to }));
    });
    same(sum, (things * (things - 1)) / 2, 'the sum of all things');
    const after = await memoryOf(node);
    const heapBytesPerThing = (after.heapUsed - before.heapUsed) / things;
    const residentBytesPerThing = (after.rss - before.rss) / things;
    progress(`a thing takes ${heapBytesPerThing.toFixed(0)} bytes of heap`);
    return { heapBytesPerThing, residentBytesPerThing };
  });
}

async function measureCheckpoint(
  path: string,
  { things, progress }: SizeOptions,
): Promise<CheckpointFigures> {
  // Everything is touched before the checkpoint is due, which comes under load then.
  const settings = { ...ROOMY, checkpoint_interval_ms: String(10_000 + things / 50) };
  return withNode(path, settings, async (node, query) => {
    await inBatches(things, BATCH, (from, to) =>
      query('.things[from:to].each(|thing| thing.n += 1); nil;', { from, to }),
    );
    const load = new Load({ ports: [node.port], requests: [counterRequest()], connections: WRITERS });
    const slices: { readonly at: number; readonly latency: Histogram }[] = [];
    let errors = 0;
    const timer = setInterval(() => {
      const result = load.result();
      errors += result.errors;
      slices.push({ at: performance.now(), latency: result.latency });
      load.reset();
    }, SLICE_MS);
    const checkpoint = await checkpointOf(node, things / 2);
    await pause(2 * SLICE_MS);
    clearInterval(timer);
    load.stop();
    const latency = new Histogram();
    for (const slice of slices) {
      if (slice.at >= checkpoint.at - checkpoint.ms && slice.at <= checkpoint.at + SLICE_MS)
        latency.merge(slice.latency);
    }
    progress(`checkpoint of ${checkpoint.things} things in ${checkpoint.ms} ms`);
    return {
      things: checkpoint.things,
      durationMs: checkpoint.ms,
      writes: latency.total,
      errors,
      p50Ms: latency.quantile(0.5),
      p99Ms: latency.quantile(0.99),
      p999Ms: latency.quantile(0.999),
      maxMs: latency.quantile(1),
    };
  });
}

async function measureLarge(path: string, { cacheMb, progress }: SizeOptions): Promise<LargeFigures> {
  const settings = { cache_size_mb: String(cacheMb) };
  const count = Math.ceil((10 * cacheMb * 1024 * 1024) / LARGE_THING_LENGTH / LARGE_BATCH) * LARGE_BATCH;
  const written = await withNode(path, settings, async (node, query) => {
    const residentBeforeMb = residentMb(node.pid);
    await query('.large = [];');
    let [writtenPerS, readPerS] = [0, 0];
    const residentPeakMb = await peakOf(node.pid, async () => {
      writtenPerS = await rateOf(count, () =>
        inBatches(count, LARGE_BATCH, (from, to) => query(LARGE_WRITE, { from, to, texts: LARGE_TEXTS })),
      );
      readPerS = await rateOf(count, () => readAll(query, count));
    });
    progress(`${count} large things written and read`);
    return { residentBeforeMb, residentPeakMb, writtenPerS, readPerS };
  });
  return withNode(path, settings, async (node, query) => {
    let readPerSAfterRestart = 0;
    const peakMb = await peakOf(node.pid, async () => {
      readPerSAfterRestart = await rateOf(count, () => readAll(query, count));
    });
    return {
      ...written,
      readPerSAfterRestart,
      megabytes: Math.round((count * LARGE_THING_LENGTH) / 1024 / 1024),
      cacheMb,
      residentPeakMb: Math.max(written.residentPeakMb, peakMb),
    };
  });
}

const LARGE_WRITE = 'range(from, to).each(|i| .large.push({n: i, text: texts[i % 10]})); nil;';
const LARGE_TEXTS = Array.from('abcdefghij', (letter) => letter.repeat(LARGE_THING_LENGTH));

/** Reads all things in random order, each once, and checks that each is what it should be. */
async function readAll(query: Query, count: number): Promise<void> {
  const order = Array.from({ length: count }, (_, index) => index);
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [order[i], order[j]] = [order[j] as number, order[i] as number];
  }
  const code = `
    wanted.filter(|i| {
      thing = .large[i];
      thing.n == i && thing.text.len() == ${LARGE_THING_LENGTH} && thing.text[0] == 'abcdefghij'[i % 10];
    }).len();`;
  await inBatches(count, LARGE_BATCH, async (from, to) => {
    const right = await query(code, { wanted: order.slice(from, to).map((index) => BigInt(index)) });
    same(Number(right), to - from, 'the number of things that are right');
  });
}

type Query = (
  code: string,
  vars?: Readonly<Record<string, number | bigint[] | string[]>>,
) => Promise<WireValue>;

const ADMIN: Credentials = { basic: ['admin', 'pass'] };

/** Runs a node in a folder, which stays, and does something with it. */
async function withNode<T>(
  path: string,
  settings: Readonly<Record<string, string>>,
  work: (node: NodeProcess, query: Query) => Promise<T>,
): Promise<T> {
  const node = await NodeProcess.start({
    settings: { ...settings, storage_path: path },
    command: [process.execPath, '--expose-gc', '--import', TELL_MEMORY, PROGRAM, 'serve'],
  });
  const client = new NodeClient(node.url, 'msgpack', 60_000);
  const query: Query = async (code, vars = {}) => {
    const given = Object.entries(vars).map(
      ([name, value]) => [name, typeof value === 'number' ? BigInt(value) : value] as const,
    );
    const body = wireMap({ type: 'query', code, vars: wireMap(Object.fromEntries(given)) });
    const outcome = await client.send('//stuff', ADMIN, body);
    if (outcome.kind === 'value') return outcome.value;
    throw new Error(`${code.trim().slice(0, 100)}: ${JSON.stringify(outcome)}`);
  };
  try {
    return await work(node, query);
  } finally {
    client.close();
    const code = await node.stop();
    if (code !== 0) process.exitCode = 1;
  }
}

const PROGRAM = fileURLToPath(new URL('../../../cli/bin/althing.js', import.meta.url));
const TELL_MEMORY = fileURLToPath(new URL('tell-memory.js', import.meta.url));

async function inBatches(
  count: number,
  size: number,
  work: (from: number, to: number) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < count; from += size) await work(from, Math.min(count, from + size));
}

async function rateOf(count: number, work: () => Promise<void>): Promise<number> {
  const begin = performance.now();
  await work();
  return (count * 1000) / (performance.now() - begin);
}

function counterRequest(): Buffer {
  const body = JSON.stringify({ type: 'query', code: '.counter += 1;' });
  const lines = [
    'POST //stuff HTTP/1.1',
    'Host: 127.0.0.1',
    `Authorization: ${authorization(ADMIN)}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

interface SeenCheckpoint {
  readonly things: number;
  readonly ms: number;
  /** When it was seen. */
  readonly at: number;
}

/** Waits for a checkpoint of at least so many things. */
async function checkpointOf(node: NodeProcess, thingsMin: number): Promise<SeenCheckpoint> {
  const end = performance.now() + 120_000;
  while (performance.now() < end) {
    for (const line of linesOf(node, 'checkpoint')) {
      const { things, ms } = JSON.parse(line) as { readonly things: number; readonly ms: number };
      if (things >= thingsMin) return { things, ms, at: performance.now() };
    }
    await pause(5);
  }
  throw new Error(`no checkpoint of ${thingsMin} things came: ${node.output.slice(-1000)}`);
}

interface Memory {
  readonly rss: number;
  readonly heapUsed: number;
}

/** Memory of a node after its garbage was collected, in bytes. */
async function memoryOf(node: NodeProcess): Promise<Memory> {
  const before = linesOf(node, 'memory').length;
  process.kill(node.pid, 'SIGUSR2');
  const end = performance.now() + 30_000;
  while (performance.now() < end) {
    const line = linesOf(node, 'memory')[before];
    if (line !== undefined) return JSON.parse(line) as Memory;
    await pause(20);
  }
  throw new Error('the node does not tell its memory');
}

function linesOf(node: NodeProcess, event: string): string[] {
  return node.output
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}') && line.includes(`"event":"${event}"`));
}

/** Memory of a process in MB, without the files that it maps: those the system takes away when it needs the room. */
function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024);
}

/** Does something, and looks now and then how large a process is meanwhile. */
async function peakOf(pid: number, work: () => Promise<void>): Promise<number> {
  let peakMb = residentMb(pid);
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, residentMb(pid));
  }, 100);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return peakMb;
}

function same(found: number, expected: number, what: string): void {
  if (found !== expected) throw new Error(`${what} is ${found} instead of ${expected}`);
}
