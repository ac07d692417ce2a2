/** Faults of disks, besides full ones. */
import { setTimeout as pause } from 'node:timers/promises';
import type { ChaosNode } from './chaos-node.js';
import type { DiskFault } from './disk-faults.js';
import {
  amongOthers,
  anyNode,
  type Begun,
  type FaultKind,
  leader,
  leaderOrAny,
  msUntil,
  nothing,
  type Problem,
  type Target,
} from './fault-kind.js';

/** Milliseconds that a node may take to find out that its disk is bad, and end. */
const END_MS = 15_000;

/** Milliseconds that a leader with a slow disk may go on to lead, and some for the question. */
const HANDOVER_MS = 3000;
const ASKING_MS = 1000;

/** Milliseconds that a part of a disk is full, and has room again, in turn. */
const FULL_MS = 900;
const ROOM_MS = 700;

const problem: Problem = ({ tampering }) => (tampering === null ? 'it takes Linux and a C compiler' : null);

export const diskFaultKinds: readonly FaultKind[] = [
  {
    name: 'write_error',
    doc: 'writes of a node fail: it must end with code 1, and come back when they are well again',
    alone: true,
    lastsMs: [0, 1000],
    problem,
    begin: (target) => failDisk(target, { writeFails: true }),
  },
  {
    name: 'sync_error',
    doc: 'syncs of a node fail: it must end with code 1, and come back when they are well again',
    alone: true,
    lastsMs: [0, 1000],
    problem,
    begin: (target) => failDisk(target, { syncFails: true }),
  },
  {
    name: 'state_full',
    doc: 'writes of the leader, or of some node, into its state alone have no room for 0.9 s, three to six times in a row',
    lastsMs: [0, 0],
    problem,
    begin: (target) => fillNowAndThen(target, { stateFull: true }),
  },
  {
    name: 'log_full',
    doc: 'the same with the log',
    lastsMs: [0, 0],
    problem,
    begin: (target) => fillNowAndThen(target, { logFull: true }),
  },
  {
    name: 'slow_disk',
    doc: 'syncs of some node take 200 ms to 3 s',
    lastsMs: [1000, 5000],
    problem,
    begin: async (target) => {
      const node = await leaderOrAny(target);
      const ms = target.draw.int(200, 3000);
      return setDisk(target, node, { syncTakesMs: ms }, `${node.name} by ${ms} ms`);
    },
  },
  {
    name: 'slow_leader',
    doc: 'syncs of the leader take 1 s to 3 s: another node must lead within 3 s',
    alone: true,
    lastsMs: [0, 3000],
    problem: (target) => amongOthers(target) ?? problem(target),
    begin: async (target) => {
      const node = await leader(target);
      const ms = target.draw.int(1000, 3000);
      const begun = setDisk(target, node, { syncTakesMs: ms }, `${node.name} by ${ms} ms`);
      const { fleet, collection } = target;
      const tookMs = await msUntil(async () => {
        const leads = await fleet.leaderOf(collection, node);
        return leads !== undefined && leads !== node;
      }, 3 * HANDOVER_MS);
      if (tookMs > HANDOVER_MS + ASKING_MS) target.finding(`${begun.detail}: led for ${tookMs} ms`);
      return { ...begun, detail: `${begun.detail}, another one leads after ${tookMs} ms` };
    },
  },
];

/** Lets the disk of a node fail, and waits for its end. Now and then it is started with the bad disk, and must end again. */
async function failDisk(target: Target, fault: DiskFault): Promise<Begun> {
  const node = await leaderOrAny(target);
  const again = target.draw.chance(0.3);
  const { undo } = setDisk(target, node, fault, node.name);
  await expectEnd(target, node);
  if (again) {
    node.start();
    await expectEnd(target, node);
  }
  const healAndStart = async (): Promise<void> => {
    await undo();
    node.start();
  };
  return { detail: `${node.name}${again ? ', and when it was started again' : ''}`, undo: healAndStart };
}

/** Now there is no room, and now there is: what one attempt began, the next may find refused. */
async function fillNowAndThen(target: Target, fault: DiskFault): Promise<Begun> {
  const node = target.draw.chance(0.8) ? await leader(target) : anyNode(target);
  const times = target.draw.int(3, 6);
  for (let round = 0; round < times; round++) {
    const { undo } = setDisk(target, node, fault, node.name);
    await pause(FULL_MS);
    await undo();
    await pause(ROOM_MS);
  }
  return { detail: `${node.name}, ${times} times`, undo: nothing };
}

async function expectEnd({ finding }: Target, node: ChaosNode): Promise<void> {
  try {
    const how = await node.endsByItself(END_MS);
    if (how !== 'code 1') finding(`${node.name} ended with ${how} when its disk failed`);
  } catch (error) {
    finding(`${node.name} goes on with a disk that fails: ${(error as Error).message}`);
    await node.kill();
  }
}

function setDisk({ tampering }: Target, node: ChaosNode, fault: DiskFault, detail: string): Begun {
  const { at } = node;
  if (fault.stateFull === true || fault.logFull === true) node.diskWasFull = true;
  tampering?.setDisk(at, fault);
  return { detail, undo: async () => tampering?.setDisk(at, {}) };
}
