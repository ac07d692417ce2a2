import { describe, expect, test } from '@jest/globals';
import type { ClusterState, Founder } from '../../between/cluster-record.js';
import { FormationCore, type FormationEffect } from './formation-core.js';
import {
  decodeAnswer,
  decodeQuestion,
  encodeAnswer,
  encodeQuestion,
  type FormationAnswer,
  type FormationQuestion,
} from './formation-messages.js';
import { type Slots, slotsOf } from './slots.js';

const RUNS = 500 * Number(process.env.ALTHING_TEST_RUNS_FACTOR);
const FIRST_SEED = Number(process.env.ALTHING_TEST_SEED);

const PORT = 9220;

describe('any schedule of messages, crashes and lost disks', () => {
  test('never makes two clusters, and makes one when all are there', () => {
    const outcomes = new Map<string, number>();
    for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
      const world = new World(seed, { ghosts: false });
      const problem = world.run();
      if (problem !== null) throw new Error(`seed ${seed}: ${problem}\n${world.trace.slice(-60).join('\n')}`);
      for (const event of world.events) outcomes.set(event, (outcomes.get(event) ?? 0) + 1);
    }
    // The events that the schedules are to try have really happened.
    for (const event of [
      'crash',
      'crash while saving',
      'lost disk',
      'lost message',
      'promise given up',
      'joined',
    ]) {
      expect([FIRST_SEED, event, outcomes.get(event) ?? 0]).not.toEqual([FIRST_SEED, event, 0]);
    }
  });

  test('the check sees two clusters where the one assumption does not hold: two processes in the first slot', () => {
    let problem: string | null = null;
    for (let seed = 0; seed < 2000 && problem === null; seed++)
      problem = new World(seed, { ghosts: true }).run();
    expect(problem).toMatch(/^two clusters/);
  });
});

describe('formations without faults', () => {
  test.each([1, 2, 3, 5])('%i nodes form a cluster of exactly these', (count) => {
    const world = new World(7, { ghosts: false, count, faults: false });
    expect(world.run()).toBeNull();
    const [first] = world.states();
    if (first?.kind !== 'member') throw new Error('not formed');
    expect(first.record.founders?.map(({ nodeId }) => nodeId).sort()).toEqual(world.nodeIds().sort());
  });

  test('a node that is not named in the list joins, and never founds', () => {
    const world = new World(8, { ghosts: false, count: 3, faults: false, outsider: true });
    expect(world.run()).toBeNull();
    const outsider = world.states().at(-1);
    expect(outsider?.kind === 'member' && outsider.record.founders).toBeNull();
  });
});

test('a promise to a proposer whose disk was lost does not keep its successor from founding', () => {
  // Given the first node, with a proposal of its own, and another that has promised its predecessor the same
  // round
  const names = ['node0', 'node1'];
  const foundersWith = (first: number): Founder[] =>
    [first, 2].map((nodeId, at) => ({ nodeId, name: nameOf(at), host: nameOf(at), port: PORT }));
  const promised = (first: number): ClusterState => ({
    kind: 'promised',
    proposal: { round: 1, clusterId: new Uint8Array(16).fill(first), founders: foundersWith(first) },
  });
  const core = new FormationCore({
    self: { ...foundersWith(5)[0]!, seed: new Uint8Array(16) },
    level: 1,
    slots: slotsOf(names, 'node0', PORT),
    state: promised(5),
    waitForInvitation: false,
    random: () => 0,
  });

  // When it hears of that
  core.wake(0);
  const [asked] = core.take();
  if (asked?.kind !== 'ask') throw new Error('nothing was asked');
  const { digest } = slotsOf(names, 'node1', PORT);
  core.answered(asked.id, { kind: 'hello', self: foundersWith(1)[1]!, slots: digest, state: promised(1) }, 1);

  // Then it proposes in a later round
  expect(core.take()).toMatchObject([{ kind: 'save', state: { kind: 'promised', proposal: { round: 2 } } }]);
});

describe('a node that waits for an invitation', () => {
  const PLACE = { host: 'node1', port: PORT };
  const ASKS_AGAIN_MS = 60_000;

  /** The questions that it asks of others at a moment. */
  function questions(core: FormationCore, now: number): Extract<FormationEffect, { kind: 'ask' }>[] {
    core.wake(now);
    return core.take().filter((effect) => effect.kind === 'ask');
  }

  function invited(): FormationCore {
    const core = new FormationCore({
      self: { nodeId: 5, name: 'new', host: 'new', port: PORT, seed: new Uint8Array(16) },
      level: 2,
      slots: slotsOf([], 'new', PORT),
      state: { kind: 'empty' },
      waitForInvitation: true,
      random: () => 0,
    });
    expect(questions(core, 0)).toEqual([]);
    core.question(1, { kind: 'invite', ...PLACE, number: 7 }, 1);
    return core;
  }

  test('asks the member that called it again when the answer is lost', () => {
    const core = invited();
    const [first] = questions(core, 1);
    core.answered(first?.id ?? 0, null, 2);
    expect(questions(core, ASKS_AGAIN_MS)).toMatchObject([
      { place: PLACE, question: { kind: 'join', joiner: { invitation: 7 } } },
    ]);
  });

  test('does not ask again by an invitation that is refused', () => {
    const core = invited();
    const [first] = questions(core, 1);
    core.answered(first?.id ?? 0, { kind: 'refused', reason: 'it was called off' }, 2);
    expect(questions(core, ASKS_AGAIN_MS)).toEqual([]);
  });
});

interface WorldOptions {
  /** A process whose disk was replaced goes on, unreachable. */
  readonly ghosts: boolean;
  readonly count?: number;
  readonly faults?: boolean;
  /** One more node that is not named in the list. */
  readonly outsider?: boolean;
}

interface Disk {
  readonly nodeId: number;
  readonly seed: Uint8Array;
  state: ClusterState;
}

interface Process {
  readonly place: number;
  readonly disk: Disk;
  readonly core: FormationCore;
  isAlive: boolean;
  isSaving: boolean;
  wakeAt: number | null;
}

const FAULTS_MS = 60_000;
const LIMIT_MS = 400_000;
const ASK_MS = 2000;

/** Some nodes under a virtual clock, on disks and a network that do what a seed says. */
class World {
  readonly trace: string[] = [];
  readonly events = new Set<string>();
  private readonly random: () => number;
  private readonly count: number;
  private readonly names: readonly string[];
  private readonly faults: boolean;
  private readonly ghosts: boolean;
  private readonly disks: Disk[] = [];
  private readonly processes: (Process | null)[] = [];
  private readonly agenda: { readonly at: number; readonly order: number; readonly what: () => void }[] = [];
  /** Voters of each cluster, as its members would agree on them. */
  private readonly voters = new Map<string, Set<number>>();
  /** Ids that nodes had before they lost their disks, by name. */
  private readonly formerIds = new Map<string, number[]>();
  /** Disks of processes that go on although their place was taken. */
  private readonly ghostDisks: Disk[] = [];
  private readonly replies = new Map<number, (answer: FormationAnswer) => void>();
  private nextReply = 1;
  private readonly lossChance: number;
  private lossesLeft: number;
  private now = 0;
  private order = 0;
  private nextNodeId = 1;
  private problem: string | null = null;

  constructor(seed: number, options: WorldOptions) {
    this.random = randomFrom(seed);
    const founders = options.count ?? 2 + Math.floor(this.random() * 3);
    const outsider = options.outsider ?? (options.count === undefined && this.random() < 0.3);
    this.names = Array.from({ length: founders }, (_, at) => `node${at}`);
    this.count = founders + (outsider ? 1 : 0);
    this.faults = options.faults ?? true;
    this.ghosts = options.ghosts;
    this.lossChance = this.random() < 0.4 ? 0 : this.random() * 0.6;
    this.lossesLeft = options.ghosts ? 4 : Math.floor((founders - 1) / 2);
    for (let place = 0; place < this.count; place++) {
      this.disks.push(this.newDisk());
      this.processes.push(null);
      const apart = this.random() < 0.3 ? FAULTS_MS : 1000;
      this.after(this.random() * apart, () => this.start(place));
      if (this.faults) this.planFault(place);
    }
  }

  states(): ClusterState[] {
    return this.disks.map(({ state }) => state);
  }

  nodeIds(): number[] {
    return this.disks.map(({ nodeId }) => nodeId);
  }

  /** The failure; null for none. */
  run(): string | null {
    while (this.problem === null && this.now < LIMIT_MS) {
      const next = this.takeNext();
      if (next === null) break;
      this.now = next.at;
      next.what();
      if (this.now > FAULTS_MS && this.isDone()) return null;
    }
    if (this.problem !== null || this.ghosts || this.isDone()) return this.problem;
    return `not formed after ${this.now} ms: ${this.states().map(describeState).join(', ')}`;
  }

  private isDone(): boolean {
    return this.states().every(({ kind }) => kind === 'member');
  }

  private planFault(place: number): void {
    if (this.random() < 0.1) return;
    const at = this.random() < 0.7 ? this.random() * 2000 : this.random() * FAULTS_MS;
    this.after(at, () => {
      if (this.now >= FAULTS_MS) return;
      this.crash(place);
      this.planFault(place);
    });
  }

  private crash(place: number): void {
    const process = this.processes[place];
    if (process === null || process === undefined) return;
    this.processes[place] = null;
    const loses = this.lossesLeft > 0 && this.random() < this.lossChance;
    this.events.add(process.isSaving ? 'crash while saving' : 'crash');
    this.say(`${nameOf(place)} crashes${loses ? ' and loses its disk' : ''}`);
    process.isAlive = loses && this.ghosts;
    if (loses) {
      this.lossesLeft--;
      this.events.add('lost disk');
      const { nodeId } = process.disk;
      this.formerIds.set(nameOf(place), [...(this.formerIds.get(nameOf(place)) ?? []), nodeId]);
      if (this.ghosts) this.ghostDisks.push(process.disk);
      this.disks[place] = this.newDisk();
    }
    this.after(this.random() < 0.7 ? this.random() * 300 : this.random() * 10_000, () => this.start(place));
  }

  private start(place: number): void {
    if (this.processes[place] !== null) return;
    const disk = this.disks[place]!;
    const { nodeId, seed, state } = disk;
    const core = new FormationCore({
      self: { nodeId, name: nameOf(place), host: nameOf(place), port: PORT, seed },
      level: 1,
      slots: this.slotsFor(place),
      state,
      waitForInvitation: false,
      random: this.random,
    });
    const process: Process = { place, disk, core, isAlive: true, isSaving: false, wakeAt: null };
    this.processes[place] = process;
    this.say(`${nameOf(place)} starts as ${nodeId}, ${describeState(state)}`);
    core.wake(this.now);
    this.act(process);
  }

  private slotsFor(place: number): Slots {
    return slotsOf(this.names, nameOf(place), PORT);
  }

  private act(process: Process): void {
    for (const effect of process.core.take()) this.do(process, effect);
    const { wakeAt } = process.core;
    if (wakeAt === null || wakeAt === process.wakeAt) return;
    process.wakeAt = wakeAt;
    this.after(Math.max(0, wakeAt - this.now), () => {
      if (!process.isAlive || process.wakeAt !== wakeAt) return;
      process.wakeAt = null;
      process.core.wake(this.now);
      this.act(process);
    });
  }

  private do(process: Process, effect: FormationEffect): void {
    switch (effect.kind) {
      case 'ask':
        this.ask(process, effect.id, effect.place.host, effect.question);
        break;
      case 'save':
        this.save(process, effect.state);
        break;
      case 'reply':
        this.reply(effect.to, effect.answer);
        break;
      case 'admit':
        this.reply(effect.to, this.admit(process));
        break;
      case 'formed':
        this.say(`${nameOf(process.place)} belongs to ${describeState(process.disk.state)}`);
        break;
      case 'removed':
        this.problem = 'removed';
        break;
      default:
    }
  }

  private save(process: Process, state: ClusterState): void {
    process.isSaving = true;
    this.planCrashNear(process);
    this.after(this.random() * 30, () => {
      if (!process.isAlive) return;
      if (process.disk.state.kind === 'promised' && state.kind === 'promised')
        this.events.add('promise given up');
      process.disk.state = state;
      this.say(`${nameOf(process.place)} (${process.disk.nodeId}) has stored ${describeState(state)}`);
      if (state.kind === 'member') this.check(process, state);
      this.after(this.random() * 10, () => {
        process.isSaving = false;
        if (!process.isAlive) return;
        process.core.saved(this.now);
        this.act(process);
      });
    });
  }

  /** Writes are what crashes are about: many of them come then. */
  private planCrashNear(process: Process): void {
    if (!this.faults || this.now > FAULTS_MS || this.random() > 0.25) return;
    this.after(this.random() * 80, () => {
      if (this.processes[process.place] === process) this.crash(process.place);
    });
  }

  private ask(process: Process, id: number, host: string, question: FormationQuestion): void {
    let isOver = false;
    const settle = (answer: FormationAnswer | null): void => {
      if (isOver || !process.isAlive) return;
      isOver = true;
      process.core.answered(id, answer, this.now);
      this.act(process);
    };
    this.after(ASK_MS, () => settle(null));
    this.carry(() => {
      const target = this.processes.find((other) => other !== null && nameOf(other.place) === host);
      if (target === null || target === undefined) {
        this.carry(() => settle(null));
        return;
      }
      const to = this.nextReply++;
      this.replies.set(to, (answer) => {
        const carried = decodeAnswer(encodeAnswer(answer));
        this.carry(() => settle(carried));
      });
      target.core.question(to, decodeQuestion(encodeQuestion(question)), this.now);
      this.act(target);
    });
  }

  private reply(to: number, answer: FormationAnswer): void {
    const reply = this.replies.get(to);
    this.replies.delete(to);
    reply?.(answer);
  }

  /** The leader's answer, if there is a quorum. */
  private admit(member: Process): FormationAnswer {
    const { state } = member.disk;
    if (state.kind !== 'member') return { kind: 'wait', reason: 'no member' };
    const voters = this.voters.get(idOf(state)) ?? new Set();
    const present = this.processes.filter(
      (process) => process?.disk.state.kind === 'member' && voters.has(process.disk.nodeId),
    );
    if (present.length * 2 <= voters.size) return { kind: 'wait', reason: 'no quorum' };
    this.events.add('joined');
    return { kind: 'accepted', clusterId: state.record.clusterId };
  }

  /**
   * A node has become a member: as one of the founders, or as a voter instead of who was in its place before.
   */
  private check({ place, disk }: Process, state: Extract<ClusterState, { kind: 'member' }>): void {
    const { founders } = state.record;
    const voters = this.voters.get(idOf(state)) ?? new Set(founders?.map(({ nodeId }) => nodeId));
    this.voters.set(idOf(state), voters);
    if (founders === null) {
      for (const former of this.formerIds.get(nameOf(place)) ?? []) voters.delete(former);
      voters.add(disk.nodeId);
    }
    const clusters = new Set(
      [...this.disks, ...this.ghostDisks].flatMap(({ state }) =>
        state.kind === 'member' ? [idOf(state)] : [],
      ),
    );
    if (clusters.size > 1) this.problem = `two clusters at ${this.now} ms: ${[...clusters].join(' and ')}`;
  }

  /** A message on its way, or lost. */
  private carry(arrive: () => void): void {
    if (this.faults && this.now < FAULTS_MS && this.random() < 0.05) {
      this.events.add('lost message');
      return;
    }
    this.after(this.random() < 0.95 ? this.random() * 20 : this.random() * 4000, arrive);
  }

  private newDisk(): Disk {
    const nodeId = this.nextNodeId++;
    return { nodeId, seed: Uint8Array.from({ length: 16 }, () => nodeId), state: { kind: 'empty' } };
  }

  private after(ms: number, what: () => void): void {
    this.agenda.push({ at: this.now + ms, order: this.order++, what });
  }

  private takeNext(): { readonly at: number; readonly what: () => void } | null {
    let best = -1;
    for (const [at, item] of this.agenda.entries()) {
      const than = this.agenda[best];
      if (than === undefined || item.at < than.at || (item.at === than.at && item.order < than.order))
        best = at;
    }
    if (best < 0) return null;
    const [next] = this.agenda.splice(best, 1);
    return next ?? null;
  }

  private say(text: string): void {
    this.trace.push(`${Math.round(this.now)} ms: ${text}`);
  }
}

function nameOf(place: number): string {
  return `node${place}`;
}

function idOf(state: Extract<ClusterState, { kind: 'member' }>): string {
  return Buffer.from(state.record.clusterId).toString('hex').slice(0, 8);
}

function describeState(state: ClusterState): string {
  if (state.kind === 'empty') return 'empty';
  if (state.kind === 'member') return `member of ${idOf(state)}`;
  const { round, founders } = state.proposal;
  return `promised round ${round} of ${founders.map(({ nodeId }) => nodeId).join('+')}`;
}

function randomFrom(seed: number): () => number {
  let state = (seed * 2654435761 + 1) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
