/** Nodes of a cluster, as far as a run asks them: whether all is well with them, and what they hold. */
import { setTimeout as pause } from 'node:timers/promises';
import { INFO, infoOf } from '../harness/cluster-info.js';
import { READ_ALL } from '../simulation/workload.js';
import type { Recorder } from './record.js';
import type { Response } from './requests.js';

export interface Member {
  readonly name: string;
  readonly isRunning: boolean;
  ask(scope: string, code: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

/** Time that a healed cluster may take until all is well. */
const SETTLE_MS = 90_000;
const POLL_MS = 100;

/** Everything that a collection holds, but for what the checks read anyway. */
const READ_REST = 'return {all: thing(.id()), procedures: procedures_info().map(|p| p.load())}, 12;';

/**
 * The answer to a query that must succeed.
 *
 * @throws {Error}
 */
export async function answerOf(
  member: Member,
  scope: string,
  code: string,
  headers?: Readonly<Record<string, string>>,
): Promise<unknown> {
  const { outcome, value, error } = await member.ask(scope, code, headers);
  if (outcome !== 'ok') throw new Error(`${code} at ${member.name}: ${error}`);
  return value;
}

/**
 * Waits until every node is ready and votes in every group; and, when nobody writes any more, until all have the same.
 *
 * @throws {Error} with what is not well, when it does not come
 */
export async function settle(members: readonly Member[], whileWriting: boolean): Promise<void> {
  const deadline = performance.now() + SETTLE_MS;
  for (;;) {
    const problem = await problemOf(members, whileWriting);
    if (problem === null) return;
    if (performance.now() > deadline)
      throw new Error(`${SETTLE_MS / 1000} s after the last fault: ${problem}`);
    await pause(POLL_MS);
  }
}

async function problemOf(members: readonly Member[], whileWriting: boolean): Promise<string | null> {
  let marks: string | null = null;
  for (const member of members) {
    const { name, isRunning } = member;
    if (!isRunning) return `${name} does not run`;
    const { outcome, value, error } = await member.ask('/n', INFO);
    if (outcome !== 'ok') return `${name}: ${error}`;
    const { nodes, groups } = infoOf(value);
    if (nodes.length !== members.length) return `${name} knows ${nodes.length} nodes`;
    const notReady = nodes.find(({ status }) => status !== 'READY');
    if (notReady !== undefined) return `${name} sees ${notReady.node_name} as ${notReady.status}`;
    for (const { scope, leader, voters, learners } of groups) {
      if (leader === null) return `${name} knows no leader of ${scope}`;
      if (voters.length !== members.length || learners.length > 0)
        return `${scope} has ${voters.length} voters and ${learners.length} learners`;
    }
    // The order in which a node knows its groups is its own.
    const seen = groups
      .map(({ scope, applied }) => `${scope} ${applied}`)
      .sort()
      .join();
    marks ??= seen;
    if (marks !== seen && !whileWriting)
      return `${name} and ${members[0]?.name} have not applied the same: ${differenceOf(marks, seen)}`;
  }
  return null;
}

/** Tasks that are still to run. */
const WAITING = 'tasks().filter(|t| bool(t)).len();';

/** Time that tasks may take that are due, in milliseconds: a clock that was set is noticed within a minute. */
const TASKS_MS = 70_000;

/** Waits until no task is scheduled any more. */
async function tasksDone(member: Member, collections: readonly string[]): Promise<void> {
  const end = performance.now() + TASKS_MS;
  for (const collection of collections) {
    while (performance.now() < end && (await answerOf(member, `//${collection}`, WAITING)) !== 0)
      await pause(200);
  }
}

/** Reads at every node what it holds by itself, once all have the same log and all tasks have run. */
export async function readFinals(
  members: readonly Member[],
  collections: readonly string[],
  recorder: Recorder,
): Promise<void> {
  const [first] = members;
  if (first !== undefined) await tasksDone(first, collections);
  for (const collection of collections) {
    const scope = `//${collection}`;
    for (const [at, member] of members.entries()) {
      // A request that a client gave up may be carried out until this read is.
      if (at === 0) await answerOf(member, scope, READ_ALL);
      const stale = { Consistency: 'stale' };
      const data = await answerOf(member, scope, READ_ALL, stale);
      const rest = JSON.stringify(await answerOf(member, scope, READ_REST, stale));
      recorder.final({ collection, node: member.name, data, rest });
    }
  }
}

function differenceOf(left: string, right: string): string {
  const [ours, theirs] = [left.split(','), right.split(',')];
  const only = (some: readonly string[], others: readonly string[]): string =>
    some
      .filter((each) => !others.includes(each))
      .slice(0, 3)
      .join(', ');
  return `${only(theirs, ours)} instead of ${only(ours, theirs)}`;
}
