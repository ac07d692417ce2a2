import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { RecordKind } from '@althing/engine';
import { openFolder, StateStore } from '@althing/storage';
import { afterEach, describe, expect, test } from '@jest/globals';
import { FOLDER_NAMES } from '../operate/start/folder-names.js';
import { RealCluster, until } from '../testing/index.js';

const STUFF = 2;

/** Time that comparisons may take to tell, in milliseconds: some seconds, and many where others work, too. */
const TOLD_MS = 60_000;

let cluster: RealCluster;

afterEach(() => cluster.discard());

/** Changes a value in the state of a node that is stopped, with all checksums as they must be. */
async function alter(folder: string, from: string, to: string): Promise<void> {
  const data = await openFolder(join(folder, 'data'), { reserveBytes: 0, alsoAllowed: FOLDER_NAMES });
  const state = await StateStore.open({ store: data.stateStore, disk: data.stateDisk });
  const checkpoint = state.beginCheckpoint(STUFF);
  let altered = 0;
  for await (const { kind, id, part, value } of state.scan(STUFF, RecordKind.THING)) {
    const at = value.indexOf(from);
    if (at < 0) continue;
    const other = Buffer.from(value);
    other.write(to, at);
    checkpoint.put(kind, id, part, other);
    altered += 1;
  }
  const applied = state.applied(STUFF);
  if (altered !== 1 || applied === undefined) throw new Error(`${altered} records hold ${from}`);
  await checkpoint.commit(applied);
  await state.close();
  await data.close();
}

async function mismatches(place: number): Promise<number> {
  const page = (await cluster.node(place).probe('/metrics')).text;
  const line = /^althing_state_checks_total\{outcome="mismatch"\} (\d+)/m.exec(page);
  return Number(line?.[1] ?? 0);
}

describe('nodes that compare their states', () => {
  test('find one that holds something else: it ends, stays away, and the others go on', async () => {
    cluster = await RealCluster.start(3, { state_check_interval_ms: 1000 });
    await cluster.node(1).value('//stuff', ".text = 'original';");
    const leader = await cluster.whenLed('@thingsdb');
    const odd = (leader % 3) + 1;
    const other = (odd % 3) + 1 === leader ? (leader % 3) + 1 : (odd % 3) + 1;
    await cluster.node(odd).stop({ keep: true });
    await alter(cluster.node(odd).folder, 'original', 'orIginal');
    const node = await cluster.restartNode(odd);

    await cluster.node(leader).value('//stuff', '.more = 1;');
    expect(await node.ended(TOLD_MS)).toBe(4);
    expect(node.log).toMatch(
      /"event":"diverged".*its collection stuff is not what the majority.*joins as a new member/,
    );
    const again = await cluster.launchNode(odd);
    expect(await again.ended()).toBe(4);
    expect(again.log).toMatch(/not what the majority/);

    const found = await Promise.all([leader, other].map(mismatches));
    expect(Math.max(...found)).toBeGreaterThan(1);
    expect(await cluster.node(other).value('//stuff', '.text;')).toBe('original');
    await cluster.node(other).value('//stuff', '.more = 2;');
  });

  test('agree while changes come in', async () => {
    cluster = await RealCluster.start(3, { state_check_interval_ms: 1000, checkpoint_interval_ms: 300 });
    let stops = false;
    await cluster.node(1).value('//stuff', '.large = range(1000); nil;');
    // Each node cuts the large list into pieces when it makes a checkpoint.
    const change = '.large.extend(range(30)); if (.large.len() > 4000) .large.splice(300, 2500); nil;';
    const load = Promise.all(
      cluster.nodes.map(async (node, i) => {
        for (let n = 0; !stops; n++) {
          await node.value('//stuff', `.list${i} = range(${n % 50}); .n${n % 100} = ${n}; ${change}`);
          // Some of the machine is left for what is tested.
          await pause(5);
        }
      }),
    );
    const equal = async (): Promise<boolean> => {
      const pages = await Promise.all(cluster.nodes.map((node) => node.probe('/metrics')));
      return pages.some(({ text }) => /^althing_state_checks_total\{outcome="ok"\} [2-9]/m.test(text));
    };
    await until(equal, 'states are compared under load', TOLD_MS);
    stops = true;
    await load;
    expect(await Promise.all([1, 2, 3].map(mismatches))).toEqual([0, 0, 0]);
  });
});
