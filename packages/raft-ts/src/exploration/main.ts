/** `npm run explore`: every order in which things can happen in a small cluster. */
import { parseArgs } from 'node:util';
import { RaftNode } from '../node.js';
import { isMutant, type Mutant } from '../testing/mutants.js';
import { Planter } from '../testing/plant.js';
import { type Bounds, BoundsError, COUNT_MAX, DEFAULT_BOUNDS, NODES_MAX } from './bounds.js';
import { explore, type Limits, type Report } from './explore.js';
import type { Progress } from './explorer.js';
import { PLANTED } from './planted.js';

const HELP = `Every order in which things can happen in a small cluster of the real core: messages arrive in any order, writes
become durable at any time, nodes campaign, die and start again, clients propose. All invariants are checked in each state;
a violation is told by a shortest path to it.

  npm run explore                         the cluster of the default bounds, until every state was seen
  npm run explore -- --terms 3 --for 1h   another one: how much of everything may happen

    --nodes N --terms N --entries N       nodes (${DEFAULT_BOUNDS.nodes}), terms to be elected in (${DEFAULT_BOUNDS.terms}), proposals (${DEFAULT_BOUNDS.entries})
    --messages N                          messages under way at a time (${DEFAULT_BOUNDS.messages}); what is more is lost
    --crashes N --repeats N               crashes (${DEFAULT_BOUNDS.crashes}), messages that arrive twice (${DEFAULT_BOUNDS.repeats})
    --beats N --reads N --transfers N     heartbeats, reads, leadership transfers (0)
    --sleeps N                            times that a group falls silent, with all nodes or without one (0)
    --changes=+3,-1,+4-2                  membership changes, in this order; who is added is no member before
    --writes N                            writes in flight at a node (${DEFAULT_BOUNDS.writes}); 0: each is durable at once
    --batch N                             entries in one append (${DEFAULT_BOUNDS.batch})
    --pre-vote                            with pre-votes
    --lazy                                the host may wait before it fetches what is ready

  --for 5m, --states N                    ends after so much time (s, m, h), or so many states
  --mutants NAME,NAME                     plants these bugs, one at a time, each within bounds in which it shows (options
                                          change them); all: every bug for which such bounds are known
`;

/** A command line that makes no sense. */
class UsageError extends Error {}

async function main(args: readonly string[]): Promise<number> {
  const asked = parse(args);
  if (asked.help) {
    console.log(HELP);
    return 0;
  }
  const limits: Limits = {
    states: asked.states === undefined ? Number.POSITIVE_INFINITY : wholeOf('states', asked.states, 2 ** 31),
    ms: asked.for === undefined ? Number.POSITIVE_INFINITY : durationOf(asked.for),
  };
  if (asked.mutants === undefined) return exploreAll(boundsOf(asked, DEFAULT_BOUNDS), limits);
  return findMutants(mutantsOf(asked.mutants), asked, limits);
}

type Asked = ReturnType<typeof parse>;

function parse(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', default: false },
      nodes: { type: 'string' },
      terms: { type: 'string' },
      entries: { type: 'string' },
      messages: { type: 'string' },
      crashes: { type: 'string' },
      repeats: { type: 'string' },
      beats: { type: 'string' },
      reads: { type: 'string' },
      transfers: { type: 'string' },
      sleeps: { type: 'string' },
      changes: { type: 'string' },
      writes: { type: 'string' },
      batch: { type: 'string' },
      'pre-vote': { type: 'boolean', default: false },
      lazy: { type: 'boolean', default: false },
      for: { type: 'string' },
      states: { type: 'string' },
      mutants: { type: 'string' },
    },
  });
  return values;
}

/** `bounds` with what was asked for on the command line. */
function boundsOf(asked: Asked, bounds: Bounds): Bounds {
  const count = (name: Counted, min: number, max: number): number => {
    const text = asked[name];
    return text === undefined ? bounds[name] : wholeOf(name, text, max, min);
  };
  return {
    nodes: count('nodes', 1, NODES_MAX),
    terms: count('terms', 1, COUNT_MAX),
    entries: count('entries', 0, COUNT_MAX),
    messages: count('messages', 1, MESSAGES_MAX),
    crashes: count('crashes', 0, COUNT_MAX),
    repeats: count('repeats', 0, COUNT_MAX),
    beats: count('beats', 0, COUNT_MAX),
    reads: count('reads', 0, COUNT_MAX),
    transfers: count('transfers', 0, COUNT_MAX),
    sleeps: count('sleeps', 0, COUNT_MAX),
    changes: asked.changes?.split(',') ?? bounds.changes,
    writes: count('writes', 0, COUNT_MAX),
    batch: count('batch', 1, COUNT_MAX),
    preVote: asked['pre-vote'] || bounds.preVote,
    lazy: asked.lazy || bounds.lazy,
  };
}

type Counted = Exclude<keyof Bounds, 'changes' | 'preVote' | 'lazy'>;

/** Explores without planted bugs; nothing may be found. */
function exploreAll(bounds: Bounds, limits: Limits): number {
  const report = explore(bounds, RaftNode, limits, (progress, ms) => {
    console.log(progressText(progress, ms));
  });
  for (const line of report.lines) console.log(line);
  console.log(endText(report));
  return report.outcome.finding === null ? 0 : 1;
}

/** Looks for planted bugs; all of them have to be found. */
async function findMutants(names: readonly Mutant[], asked: Asked, limits: Limits): Promise<number> {
  const planter = new Planter();
  let missed = 0;
  for (const name of names) {
    const bounds = boundsOf(asked, PLANTED.get(name) ?? DEFAULT_BOUNDS);
    const report = explore(bounds, await planter.plant(new Set([name])), limits, () => {});
    if (names.length === 1) for (const line of report.lines) console.log(line);
    console.log(`${name}: ${endText(report)}`);
    if (report.outcome.finding === null) missed += 1;
  }
  console.log(`${names.length - missed} of ${names.length} planted bugs were found`);
  return missed === 0 ? 0 : 1;
}

function progressText({ states, depth, open, nodeStates, rows }: Progress, ms: number): string {
  const seconds = (ms / 1000).toFixed(0);
  const rate = Math.round((states / ms) * 1000);
  return (
    `${seconds.padStart(5)} s: ${states} states (${rate} a second), depth ${depth}, ${open} to be followed; ` +
    `${nodeStates} states of nodes, ${rows} ways from one to another`
  );
}

function endText({ outcome, ms }: Report): string {
  const { states, depth, finding, complete } = outcome;
  const rate = Math.round((states / Math.max(ms, 1)) * 1000);
  const figures = `${states} states in ${(ms / 1000).toFixed(1)} s (${rate} a second), depth ${depth}`;
  if (finding !== null) return `${finding.problem}\n  found after ${finding.steps.length} steps: ${figures}`;
  return `${figures}: ${complete ? 'complete' : 'not complete'}, no violation`;
}

function mutantsOf(text: string): Mutant[] {
  if (text === 'all') return [...PLANTED.keys()];
  return text.split(',').map((name) => {
    if (!isMutant(name)) {
      throw new UsageError(`there is no mutant ${name}; within reach: ${[...PLANTED.keys()].join(' ')}`);
    }
    return name;
  });
}

function wholeOf(name: string, text: string, max: number, min = 1): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > max || value < min)
    throw new UsageError(`--${name} ${text}: a whole number from ${min} to ${max}`);
  return value;
}

function durationOf(text: string): number {
  const match = /^(\d+)(s|m|h)$/.exec(text);
  const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
  const unit = units[match?.[2] ?? ''];
  if (match === null || unit === undefined) throw new UsageError(`--for ${text}: for example 90s, 10m or 1h`);
  return Number(match[1]) * unit;
}

const MESSAGES_MAX = 32;

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof UsageError || error instanceof BoundsError;
  console.error(isUsage ? `${error.message}\n\n${HELP}` : error);
  process.exitCode = 2;
}
