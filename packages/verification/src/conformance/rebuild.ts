/**
 * Runs cases a second way: on an engine in this process, whose state is rebuilt at the end of each case, once from the log
 * alone, and once from a checkpoint in the middle that goes to another node as a snapshot, and the rest of the log. All
 * three states must be equal. Whether the answers are as recorded is not the question here: what is missing still, and
 * why, is known where the cases run on real nodes.
 */
import {
  type Group,
  groupLines,
  loadGroup,
  RecordKind,
  type RecordSource,
  rootLines,
  stateLines,
  writeCheckpoint,
} from '@althing/engine';
import { MemoryDisk, MemoryStore, StateStore } from '@althing/storage';
import { LocalEngine, ROOT } from '../harness/local-engine.js';
import type { Case } from './cases.js';
import type { Lane } from './lanes.js';
import { LocalClient } from './local-client.js';
import { type CaseResult, prepareFresh, prepareShared, runCase } from './run-case.js';

/** An entry of the history, in its order. */
interface Entry {
  readonly group: number;
  readonly effects: Uint8Array;
}

/** Why a case can't be run in this way; undefined when it can. */
export function rebuildSkipReason(wanted: Case): string | undefined {
  if (wanted.steps.some((step) => step.as !== undefined)) return 'another user';
  if (wanted.steps.some((step) => step.action.kind === 'sleep')) return 'sleeps';
  if (wanted.steps.some((step) => /^[@/]n/.test(step.scope))) return 'needs a node';
  // The answer of a module comes from the node that has it, and so does the one that there is none.
  const asksModule = ({ action }: Case['steps'][number]): boolean =>
    action.kind === 'code' && /\bfuture\(\{\s*module/.test(action.code);
  if (wanted.steps.some(asksModule)) return 'needs modules';
  return undefined;
}

/** Each case gets engines of its own. */
export class RebuildLane implements Lane {
  readonly #atTheEnd: (live: LocalEngine) => void;

  /** @param atTheEnd done to the live engine before states are compared, for tests */
  constructor(atTheEnd: (live: LocalEngine) => void = () => undefined) {
    this.#atTheEnd = atTheEnd;
  }

  async run(wanted: Case): Promise<CaseResult> {
    const live = new LocalEngine();
    const log: Entry[] = [{ group: ROOT, effects: live.bootstrap() }];
    const checkpointed = await StateStore.open({ store: new MemoryStore().attach(), disk: new MemoryDisk() });
    /** The length of the log when the checkpoint was made. */
    let stored = 0;
    let stepsLeft = Number.POSITIVE_INFINITY;
    const beforeEach = async (): Promise<void> => {
      stepsLeft -= 1;
      if (stepsLeft !== 0) return;
      stored = log.length;
      await writeCheckpoints(live, checkpointed, stored);
    };
    const client = new LocalClient(live, beforeEach, (group, effects) => log.push({ group, effects }));
    const problem = wanted.fresh ? await prepareFresh(client) : await prepareShared(client);
    stepsLeft = Math.ceil(wanted.steps.length / 2);
    try {
      if (problem !== undefined) return failed('preparing', 'an empty collection', problem);
      const result = await runCase(wanted, client, 'msgpack');
      if (result.kind === 'failed' && result.isBroken) return result;
      this.#atTheEnd(live);
      return (await compareStates(live, log, checkpointed, stored)) ?? { kind: 'passed' };
    } finally {
      await checkpointed.close();
    }
  }

  async close(): Promise<undefined> {}
}

/** The difference after rebuilding; undefined when there is none. */
async function compareStates(
  live: LocalEngine,
  log: readonly Entry[],
  checkpointed: StateStore,
  stored: number,
): Promise<CaseResult | undefined> {
  const expected = imageOf(live);
  const fromLog = new LocalEngine();
  applyAll(fromLog, log);
  const first = difference(expected, imageOf(fromLog));
  if (first !== undefined) return failed('rebuilt from the log', ...first);
  if (stored === 0) return undefined;
  const store = await StateStore.open({
    store: new MemoryStore().attach(),
    disk: new MemoryDisk(),
    chunkBytes: 1024,
  });
  try {
    await copySnapshots(checkpointed, store);
    const rebuilt = await openState(store);
    applyAll(rebuilt, log.slice(stored));
    const second = difference(expected, imageOf(rebuilt));
    return second && failed('rebuilt from a snapshot and the rest of the log', ...second);
  } finally {
    await store.close();
  }
}

function applyAll(local: LocalEngine, log: readonly Entry[]): void {
  for (const { group, effects } of log) {
    const target = local.groups().get(group);
    if (target === undefined) throw new Error(`a change of the group ${group}, which is not there`);
    target.apply(effects);
    local.followCollections();
  }
}

/** Writes what changed in all groups, as a node does. */
async function writeCheckpoints(local: LocalEngine, store: StateStore, index: number): Promise<void> {
  for (const [id, group] of local.groups()) {
    const checkpoint = store.beginCheckpoint(id);
    writeCheckpoint(group, checkpoint);
    checkpoint.put(RecordKind.META, 0, 0, group.encodeMeta());
    await checkpoint.commit({ index, term: 1, context: new Uint8Array(0) });
    group.dirty.release();
  }
}

async function copySnapshots(from: StateStore, to: StateStore): Promise<void> {
  for (const group of from.groups()) {
    const source = await from.openSnapshot(group);
    if (source === undefined) throw new Error(`the group ${group} has no snapshot`);
    const installer = to.installSnapshot(group);
    for await (const chunk of source.chunks()) await installer.write(chunk);
    await installer.commit();
    await source.close();
  }
}

/** An engine with the state that is stored. */
async function openState(store: StateStore): Promise<LocalEngine> {
  const local = new LocalEngine();
  await loadRecords(store, ROOT, local.engine.root);
  for (const id of local.engine.root.collections.keys()) {
    const source: RecordSource = { read: (kind, thing, part) => store.read(id, kind, thing, part) };
    await loadRecords(store, id, local.openCollection(id, source));
  }
  return local;
}

function loadRecords(store: StateStore, id: number, group: Group): Promise<void> {
  return loadGroup(group, (first, last) => store.scan(id, first, last));
}

/** The whole state of all groups in words. */
function imageOf(local: LocalEngine): string[] {
  const lines = rootLines(local.engine.root);
  for (const [id, group] of local.groups()) lines.push(`group ${id}`, ...groupLines(group));
  for (const collection of local.collections().values()) lines.push(...stateLines(collection));
  return lines;
}

function difference(expected: readonly string[], found: readonly string[]): [string, string] | undefined {
  const at = expected.findIndex((line, i) => line !== found[i]);
  if (at >= 0) return [expected[at] ?? '', found[at] ?? 'nothing'];
  return found.length > expected.length ? ['nothing', found[expected.length] ?? ''] : undefined;
}

function failed(step: string, expected: string, actual: string): CaseResult {
  return { kind: 'failed', step, expected, actual, isBroken: false };
}
