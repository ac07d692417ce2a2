/**
 * A simulated cluster that a crowd comes to, without faults, on whose threads queries take time. Beside the crowd somebody asks each node
 * something quick, reads, and changes something, again 20 ms after each answer: none of these may wait for longer than one query of somebody
 * else takes, and a tenth of a second. For a change that is asked at a node which does not lead the collection that holds on each of the two
 * nodes that have to do with it: neither can know that the other begins a query at that moment.
 */
import { PackageType, type WireValue } from '@althing/client';
import { DEFAULT_LIMITS } from '@althing/engine';
import type { Process } from '../simulation/process.js';
import { Draw } from '../simulation/random.js';
import { unsettled } from '../simulation/simulate.js';
import type { Answer } from '../simulation/sockets/session.js';
import { drawSwarm, type Swarm } from '../simulation/swarm.js';
import { World } from '../simulation/world.js';
import { BusyThread } from './busy-thread.js';
import { Caller, type Sent } from './caller.js';
import { type Asker, type Door, type Kind, NEW_USERS, packageOf, SET_UP, USERS } from './crowd.js';
import { HttpCaller } from './http-caller.js';
import { HttpDoor } from './http-door.js';
import { slowDown } from './slow-down.js';

/** Time for which each node that has to do with a request may keep it, in milliseconds. */
export const NODE_MAX_MS = DEFAULT_LIMITS.durationMs + 100;

const START_MS = 30_000;
const QUIET_MS = 1000;
const CROWD_MS = 6000;
const LATE_MS = 20_000;
const ASK_MS = 20;

/** Questions of the bystander. */
const QUESTIONS = [
  { name: 'nothing', code: '1;', isChange: false },
  { name: 'a read', code: '.n0;', isChange: false },
  { name: 'a change', code: '.n1 += 1;', isChange: true },
] as const;

export interface Wait {
  readonly question: string;
  readonly node: string;
  /** When it asked, in milliseconds behind the coming of the crowd. */
  readonly at: number;
  readonly ms: number;
  readonly maxMs: number;
}

/** The result of a crowd: the longest waits by question, relative to what each may be. */
export interface Met {
  readonly longest: readonly Wait[];
  /** Answers to the bystander and to the crowd. */
  readonly answers: number;
  readonly ended: number;
  /** Errors that the crowd got, by the kinds of its requests. */
  readonly errors: ReadonlyMap<Kind, string>;
}

/** True if nobody waited for too long. */
export function isFair({ longest }: Met): boolean {
  return longest.every(({ ms, maxMs }) => ms <= maxMs);
}

/** @throws what is found to be wrong besides, and when the cluster does not start */
export async function meet(seed: number, nodes: number, crowd: readonly Asker[]): Promise<Met> {
  const world = new World({
    seed,
    swarm: quietSwarm(seed, nodes),
    tasksMayFail: true,
    engineThread: (scheduler) => new BusyThread(scheduler),
  });
  for (const machine of world.machines) world.start(machine);
  await world.run(() => world.scheduler.turns % 50 === 0 && unsettled(world) === null, START_MS);
  const problem = unsettled(world);
  if (problem !== null) throw new Error(`the cluster does not start: ${problem}`);
  const tokens = await setUp(world);
  for (const process of world.processes) slowDown(process);
  const meeting = new Meeting(world, tokens, crowd);
  await meeting.run();
  return meeting;
}

class Meeting implements Met {
  answers = 0;
  ended = 0;
  readonly errors = new Map<Kind, string>();
  private readonly draw: Draw;
  private readonly waits = new Map<string, Wait>();
  private readonly httpDoors = new Map<Process, HttpDoor>();
  private readonly begun: number;
  private sent = 0;

  constructor(
    private readonly world: World,
    private readonly tokens: readonly string[],
    crowd: readonly Asker[],
  ) {
    this.draw = new Draw(world.seed, 'connections', world.scheduler);
    this.begun = world.scheduler.now;
    for (const process of world.processes)
      for (const question of QUESTIONS)
        for (const door of ['native', 'json'] as const) this.stand(process, question, door);
    for (const asker of crowd) {
      const process = world.processes[asker.node % world.processes.length];
      if (process !== undefined) world.scheduler.after(asker.at, () => this.come(process, asker));
    }
  }

  get longest(): Wait[] {
    return [...this.waits.values()];
  }

  async run(): Promise<void> {
    await this.world.run(() => false, CROWD_MS);
    await this.world.run(() => this.answers === this.sent, LATE_MS);
    if (this.answers < this.sent) throw new Error(`${this.sent - this.answers} questions have no answer`);
  }

  private tokenOf(user: number): string {
    return this.tokens[user] ?? '';
  }

  private callerAt(process: Process, door: Door, user: number, pieceMs?: number): Caller | HttpCaller {
    const { world, draw } = this;
    const token = this.tokenOf(user);
    if (door === 'native') return new Caller(world, process, token, draw, pieceMs);
    const httpDoor = this.httpDoors.get(process) ?? new HttpDoor(process);
    this.httpDoors.set(process, httpDoor);
    return new HttpCaller({ world, process, door: httpDoor, token, draw, format: door, pieceMs });
  }

  private stand(process: Process, question: (typeof QUESTIONS)[number], door: Door): void {
    const { scheduler } = this.world;
    const { name, code, isChange } = question;
    const caller = this.callerAt(process, door, USERS);
    const maxMs = isChange && !leadsStuff(process) ? 2 * NODE_MAX_MS : NODE_MAX_MS;
    const node = process.machine.name;
    const key = `${name} at ${node} by ${door}`;
    const ask = (): void => {
      const at = scheduler.now - this.begun;
      if (at > CROWD_MS) return;
      this.sent += 1;
      caller.send([PackageType.QUERY, '@collection:stuff', code], (answer) => {
        if (answer?.ok !== true) return this.world.violate(new Error(`${code} failed: ${answer?.message}`));
        this.answers += 1;
        const ms = scheduler.now - this.begun - at;
        const longest = this.waits.get(key)?.ms ?? -1;
        if (ms > longest) this.waits.set(key, { question: `${name} by ${door}`, node, at, ms, maxMs });
        scheduler.after(ASK_MS, ask);
      });
    };
    ask();
  }

  private come(process: Process, asker: Asker): void {
    // Only packages join rooms.
    const door = asker.kind === 'join' ? 'native' : asker.door;
    const caller = this.callerAt(process, door, asker.user, asker.pieceMs);
    const ask = (times: number): void => {
      caller.send(packageOf(asker, this.draw.bits()), (answer) => {
        this.ended += 1;
        if (answer?.ok === false) this.errors.set(asker.kind, answer.message);
        if (times > 1 && !caller.isOver) this.world.scheduler.after(asker.againMs, () => ask(times - 1));
      });
    };
    ask(asker.times);
    if (asker.isDeaf) caller.hold();
  }
}

/** True if a node leads the collection that all work in. */
function leadsStuff(process: Process): boolean {
  const { id } = process.root?.collectionsByName.get('stuff') ?? {};
  return id !== undefined && process.session(id)?.leading === true;
}

/** The settings of nodes in production, on quick disks and links. */
function quietSwarm(seed: number, nodes: number): Swarm {
  return {
    ...drawSwarm(seed),
    nodes,
    tickMs: 100,
    electionTicks: 10,
    raft: {},
    logTail: 1000,
    segmentBytes: 1024 * 1024,
    logCacheBytes: 1_000_000,
    checkpointMs: 1000,
    checkpointBytes: 1_000_000,
    thingMs: 0.005,
    chunkBytes: 64 * 1024,
    slabBytes: 512 * 1024,
    smallCache: false,
    collectsGarbage: true,
    threadMs: 0.05,
    engineSilenceMs: 5000,
    balances: false,
    replaceAfterMs: 60_000,
    stateCheckIntervalMs: 0,
    waitMs: 10_000,
    disk: { meanMs: 0.2, slowPerMille: 0, slowMs: 0 },
    network: { delayMs: 0.3, lostPerMille: 0, doubledPerMille: 0, reorders: false },
    link: { frameBytes: 1_000_000, bulkBytes: 100_000, roomBytes: 10_000_000, bytesPerMs: 1_000_000 },
    lease: false,
    unsentEventsMax: 4 * 1024 * 1024,
  };
}

/** Makes everything that is there before the crowd comes; returns a token of each user. */
async function setUp(world: World): Promise<readonly string[]> {
  const [process] = world.processes;
  if (process === undefined) throw new Error('no node is there');
  const caller = new Caller(world, process, null, new Draw(world.seed, 'set up'));
  const tokens = await answerTo(world, caller, NEW_USERS);
  for (const sent of SET_UP) await answerTo(world, caller, sent);
  await world.run(() => false, QUIET_MS);
  if (!Array.isArray(tokens)) throw new Error('there are no users');
  return tokens.map(String);
}

async function answerTo(world: World, caller: Caller, sent: Sent): Promise<WireValue> {
  const answers: Answer[] = [];
  caller.send(sent, (answer) => {
    if (answer !== null) answers.push(answer);
  });
  await world.run(() => answers.length > 0, START_MS);
  const [answer] = answers;
  if (answer?.ok !== true) throw new Error(`${String(sent[2])} failed: ${answer?.message}`);
  return answer.value;
}
