/** The faults of the storm, each with the time after which it ends. */
import type { TraceEvent } from 'raft-ts';
import { type Event, type GroupId, ROOT_GROUP } from '../consensus/protocol.js';
import type { Machine } from './machine.js';
import type { Process } from './process.js';
import type { Draw } from './random.js';
import type { World } from './world.js';

export type FaultKind =
  | 'crash'
  | 'kill'
  | 'crash_all'
  | 'crash_leader'
  | 'pause'
  | 'pause_leader'
  | 'pause_engine'
  | 'isolate'
  | 'isolate_leader'
  | 'halves'
  | 'one_way'
  | 'ring'
  | 'heal'
  | 'slow_disk'
  | 'clock'
  | 'transfer'
  /** A machine is lost with its disks, and another one comes in its place. */
  | 'wipe'
  | 'grow'
  | 'remove'
  /** Two of five are removed at once, while the network is cut through the middle. */
  | 'shrink'
  /** The leader of the root group removes itself, before it has given anything away. */
  | 'oust'
  /** One of two is removed while clients do nothing; then the power of the other fails. */
  | 'last_of_two'
  | 'disk_full'
  /** The log loses its end, or a bit of it or of the state changes, while the node is down. */
  | 'damage'
  /** Leaderships go round. */
  | 'churn'
  /** New leaders die young. */
  | 'young_leaders'
  /** Leaders die with changes that few others have. */
  | 'burdened_leaders'
  /** The power fails while a checkpoint is being written. */
  | 'cut_short'
  /** Two leaders come back in turn with entries that few have. */
  | 'figure_8'
  /** A leader sleeps while answers from before are still on their way to it. */
  | 'late_answers'
  /** A leader sleeps over an election, and hears of it only some time after it woke up. */
  | 'oversleep'
  /** Clients do nothing for a while, so that groups fall silent; then the leader sleeps over an election. */
  | 'lull'
  /** A leader that was cut off and asked there for what it can not know leads again, before it took in what it missed. */
  | 'come_back'
  /** What a leader's engine thread proposes is under way while the leadership goes away and comes back. */
  | 'late_commands';

/** Machines that there may be at once. */
const MACHINES_MAX = 6;

/** How long figure 8 may take, in milliseconds. */
const FIGURE_8_MS = 5000;

/** How far figure 8 of the Raft paper has come. */
interface Figure8 {
  readonly group: GroupId;
  readonly first: Machine;
  second: Machine | null;
  /** Whether the first leads again. */
  again: boolean;
}

export class Nemesis {
  private readonly world: World;
  private readonly draw: Draw;
  private raging = true;
  /** Until when leaders are hunted, in milliseconds. */
  private youngUntil = 0;
  /** Until when a plan of several steps goes on, which nothing else should cross, in milliseconds. */
  private calmUntil = 0;
  private burdenedUntil = 0;
  private cutShortUntil = 0;
  private hasShrunk = false;
  private shrinking: { readonly leader: Process; readonly friend: Machine } | null = null;
  /** Whether the removal of some node was asked for. */
  hasRemoved = false;
  /** Machines whose removal was asked for, as far as nobody refused it. */
  private readonly leaving = new Set<Machine>();
  private figure: Figure8 | null = null;

  constructor(world: World, draw: Draw) {
    this.world = world;
    this.draw = draw;
  }

  start(): void {
    this.plan();
  }

  /** No more faults. */
  stop(): void {
    this.raging = false;
  }

  /** Told of what the cores do: some faults wait for the right moment. */
  onTrace(process: Process, group: GroupId, event: TraceEvent): void {
    const { draw, world } = this;
    const { now } = world.scheduler;
    if (!this.raging) return;
    const soonMs = 4 * (world.swarm.network.delayMs + world.swarm.disk.meanMs);
    if (event.type === 'role' && event.role === 'leader' && now < this.youngUntil && draw.chance(0.8)) {
      world.scheduler.after(draw.exponential(soonMs), () => this.strike(process, event.term, group));
    }
    if (event.type === 'role' && event.role === 'leader') {
      // The links are cut before the first message leaves.
      this.goOnWithFigure8(process, group);
    }
    if (event.type === 'membership' && event.membership.outgoing.length > 0) {
      this.cutWhileJoint(process, group);
      if (draw.chance(0.3)) {
        world.scheduler.after(draw.exponential(soonMs), () => {
          this.strike(process, process.host?.status(group)?.term ?? 0, group);
        });
      }
    }
    if (event.type === 'snapshot' && event.phase === 'taken' && draw.chance(0.1)) {
      world.scheduler.after(draw.exponential(soonMs / 2), () => {
        if (this.raging && process.alive) this.crash(process.machine, draw.chance(0.5));
      });
    }
    if (event.type === 'progress') this.endFigure8(process, group, event.match);
    if (event.type === 'append' && now < this.burdenedUntil) {
      const status = process.host?.status(group);
      if (status?.role !== 'leader' || event.last - status.commitIndex < 3 || !draw.chance(0.3)) return;
      world.scheduler.after(draw.exponential(soonMs / 2), () => this.strike(process, event.term, group));
    }
  }

  /** Told of what the consensus side of a process says. */
  onEvent({ machine }: Process, event: Event): void {
    const { draw, world } = this;
    const { now } = world.scheduler;
    if (!this.raging || now >= this.cutShortUntil || event.kind !== 'marked' || !draw.chance(0.5)) return;
    const soonMs = 2 * (world.swarm.threadMs + world.swarm.disk.meanMs);
    world.scheduler.after(draw.exponential(soonMs), () => {
      if (this.raging) this.crash(machine, true, draw.exponential(400));
    });
  }

  /** Ends a leader, or cuts it off, if it is one still. */
  private strike(process: Process, term: number, group: GroupId): void {
    const { machine, host } = process;
    const status = host?.status(group);
    if (!this.raging || !process.alive || status?.role !== 'leader' || status.term !== term) return;
    this.world.note(() => `strikes ${machine.name}, leader of group ${group}`);
    if (this.draw.chance(0.7)) this.crash(machine, this.draw.chance(0.5), this.draw.exponential(400));
    else this.isolate(machine, this.draw.exponential(600));
  }

  private plan(): void {
    const { swarm, scheduler } = this.world;
    scheduler.after(this.draw.exponential(swarm.faultMs), () => {
      if (!this.raging) return;
      const kind = this.draw.weighted(swarm.faults);
      if (kind !== undefined && scheduler.now >= this.calmUntil) this.inject(kind);
      this.plan();
    });
  }

  private inject(kind: FaultKind): void {
    const { world, draw } = this;
    const machines = world.present;
    const machine = draw.pick(machines);
    world.note(() => `fault ${kind} ${machine.name}`);
    world.reached.add(`fault ${kind}`);
    switch (kind) {
      case 'crash':
        this.crash(machine, true);
        return;
      case 'kill':
        this.crash(machine, false);
        return;
      case 'crash_all':
        for (const each of machines) this.crash(each, true);
        return;
      case 'crash_leader':
        this.crash(this.leader() ?? machine, draw.chance(0.5));
        return;
      case 'pause':
        this.pause(machine);
        return;
      case 'pause_leader':
        this.pause(this.leader() ?? machine);
        return;
      case 'pause_engine':
        this.pauseEngine(machine);
        return;
      case 'isolate':
        this.isolate(machine);
        return;
      case 'isolate_leader':
        this.isolate(this.leader() ?? machine);
        return;
      case 'halves':
        this.halve(machines);
        return;
      case 'one_way':
        world.network.cut(machine.nodeId, draw.pick(machines).nodeId);
        return;
      case 'ring':
        this.ring(machines);
        return;
      case 'heal':
        if (draw.chance(0.5)) world.network.heal();
        else world.network.healSome(0.5);
        return;
      case 'slow_disk':
        machine.diskSlowness = draw.pick([5, 50]);
        world.scheduler.after(draw.exponential(1000), () => {
          machine.diskSlowness = 1;
        });
        return;
      case 'clock':
        machine.clockOffsetMs = draw.pick([0, -86_400_000, 3_600_000, draw.int(-5000, 5000)]);
        return;
      case 'transfer':
        this.transfer(machine);
        return;
      case 'wipe':
        this.wipe(machine);
        return;
      case 'grow':
        if (machines.length < MACHINES_MAX) world.start(world.grow());
        return;
      case 'remove':
        this.remove(machine);
        return;
      case 'shrink':
        this.shrink();
        return;
      case 'oust':
        this.oust();
        return;
      case 'last_of_two':
        this.lastOfTwo();
        return;
      case 'disk_full':
        machine.logIsFull = true;
        machine.isStateFull = true;
        world.scheduler.after(draw.exponential(800), () => {
          machine.logIsFull = false;
          machine.isStateFull = false;
        });
        return;
      case 'damage':
        this.damage(machine);
        return;
      case 'churn':
        this.churn();
        return;
      case 'young_leaders':
        this.youngUntil = world.scheduler.now + draw.exponential(2500);
        this.crash(this.leader() ?? machine, draw.chance(0.5), draw.exponential(400));
        return;
      case 'burdened_leaders':
        this.burdenedUntil = world.scheduler.now + draw.exponential(2500);
        return;
      case 'cut_short':
        this.cutShortUntil = world.scheduler.now + draw.exponential(2500);
        return;
      case 'late_answers':
        this.lateAnswers(this.asked() ?? machine);
        return;
      case 'oversleep':
        this.oversleep(this.asked() ?? machine);
        return;
      case 'figure_8':
        this.figure8(this.asked() ?? machine);
        return;
      case 'lull':
        this.lull();
        return;
      case 'come_back':
        this.comeBack(this.asked() ?? machine);
        return;
      case 'late_commands':
        this.lateCommands(this.asked() ?? machine);
    }
  }

  private crash(machine: Machine, powerCut: boolean, downMs = this.downMs()): void {
    const { world } = this;
    if (!world.crash(machine, powerCut)) return;
    world.scheduler.after(downMs, () => world.start(machine));
  }

  private downMs(): number {
    const { draw } = this;
    return draw.chance(0.3) ? draw.exponential(50) : draw.exponential(1500);
  }

  private pause(machine: Machine, ms = this.draw.exponential(this.draw.pick([100, 1500]))): void {
    const { process } = machine;
    if (process === null || process.consensusThread.isPaused) return;
    process.consensusThread.pause();
    process.engineThread.pause();
    this.world.scheduler.after(ms, () => {
      process.consensusThread.resume();
      process.engineThread.resume();
    });
  }

  private pauseEngine(machine: Machine, ms = this.draw.exponential(1000)): void {
    const { process } = machine;
    if (process === null || process.engineThread.isPaused) return;
    process.engineThread.pause();
    this.world.scheduler.after(ms, () => process.engineThread.resume());
  }

  /** @param ms after which its links are healed; by default when something else heals them */
  private isolate(machine: Machine, ms: number | null = null): void {
    const { network, present: machines, scheduler } = this.world;
    if (ms !== null) scheduler.after(ms, () => network.heal());
    const bothWays = this.draw.chance(0.7);
    for (const other of machines) {
      network.cut(machine.nodeId, other.nodeId);
      if (bothWays) network.cut(other.nodeId, machine.nodeId);
    }
  }

  /** Nothing reaches a machine, and nothing leaves it, until the links are healed. */
  private cutOff({ nodeId }: Machine): void {
    const { network, present } = this.world;
    for (const other of present) {
      network.cut(nodeId, other.nodeId);
      network.cut(other.nodeId, nodeId);
    }
  }

  private halve(machines: readonly Machine[]): void {
    const { network } = this.world;
    const shuffled = this.draw.shuffled(machines);
    const some = shuffled.slice(0, this.draw.int(1, Math.max(1, shuffled.length - 1)));
    for (const inside of some) {
      for (const outside of machines) {
        if (some.includes(outside)) continue;
        network.cut(inside.nodeId, outside.nodeId);
        network.cut(outside.nodeId, inside.nodeId);
      }
    }
  }

  /** Each node sees its neighbours only. */
  private ring(machines: readonly Machine[]): void {
    const { network } = this.world;
    const order = this.draw.shuffled(machines);
    for (const [at, machine] of order.entries()) {
      for (const [otherAt, other] of order.entries()) {
        const distance = Math.abs(at - otherAt);
        if (distance > 1 && distance < order.length - 1) network.cut(machine.nodeId, other.nodeId);
      }
    }
    if (order.length === 3) {
      const [first, second] = order as [Machine, Machine];
      network.cut(first.nodeId, second.nodeId);
      network.cut(second.nodeId, first.nodeId);
    }
  }

  /** What is damaged is noticed, now or much later, and then lost: so this may happen to one that the others can spare. */
  private damage(machine: Machine): void {
    const { world, draw } = this;
    if (world.present.length < 3 || !this.isSound) return;
    world.stop(machine, () => {
      const what = machine.damage(draw);
      world.note(() => `damage at ${machine.name}: ${what}`);
      world.scheduler.after(draw.exponential(300), () => world.start(machine));
    });
  }

  /** For a while leaderships are given away again and again. */
  private churn(): void {
    const { world, draw } = this;
    const until = world.scheduler.now + draw.exponential(1500);
    const next = (): void => {
      if (!this.raging || world.scheduler.now > until) return;
      this.transfer(draw.pick(world.present));
      world.scheduler.after(draw.exponential(world.swarm.tickMs), next);
    };
    next();
  }

  private lateAnswers(machine: Machine): void {
    const { world, draw } = this;
    const { network, swarm, present, scheduler } = world;
    const pauseMs = this.overElection();
    const lateMs = pauseMs + swarm.tickMs * draw.int(1, swarm.electionTicks);
    this.calm(lateMs * 1.5);
    for (const { nodeId } of present) network.slow(nodeId, machine.nodeId, lateMs);
    this.probe(machine, 'read', 0);
    const beginMs = 5 + 4 * swarm.threadMs + draw.exponential(swarm.tickMs);
    scheduler.after(beginMs, () => this.pause(machine, pauseMs));
    this.probeAround(machine, beginMs + pauseMs);
    scheduler.after(lateMs * 1.5, () => {
      for (const { nodeId } of present) network.hasten(nodeId, machine.nodeId);
    });
  }

  private oversleep(machine: Machine): void {
    const { world } = this;
    const { swarm, scheduler } = world;
    const pauseMs = this.overElection();
    const awayMs = pauseMs + 4 * swarm.tickMs;
    this.calm(awayMs + 2 * swarm.tickMs * swarm.electionTicks);
    this.cutOff(machine);
    this.pause(machine, pauseMs);
    this.probeAround(machine, pauseMs);
    scheduler.after(awayMs, () => world.network.heal());
  }

  private lull(): void {
    const { world } = this;
    const { swarm, scheduler, clients } = world;
    const quietMs = swarm.tickMs * 25;
    const pauseMs = this.overElection();
    this.calm(quietMs + pauseMs + 3 * swarm.tickMs);
    clients.rest(quietMs);
    scheduler.after(quietMs, () => {
      const machine = this.asked();
      if (machine === undefined) return;
      this.pause(machine, pauseMs);
      this.probeAround(machine, pauseMs);
    });
  }

  /** Longer than the others need to elect somebody else. */
  private overElection(): number {
    const { tickMs, electionTicks } = this.world.swarm;
    return tickMs * electionTicks * (2.5 + 2 * this.draw.unit());
  }

  /** All links are whole, and no other fault comes, for a while. */
  private calm(ms: number): void {
    const { network, scheduler } = this.world;
    network.heal();
    this.calmUntil = scheduler.now + ms;
  }

  private comeBack(machine: Machine): void {
    const { world } = this;
    const { network, swarm, scheduler, clients } = world;
    const group = clients.group(machine);
    if (group === null) return;
    const awayMs = this.overElection();
    this.calm(awayMs + 2 * swarm.tickMs * swarm.electionTicks);
    this.cutOff(machine);
    this.probeAround(machine, awayMs);
    scheduler.after(awayMs + 5 + 4 * swarm.threadMs, () => {
      this.pauseEngine(machine, swarm.tickMs * swarm.electionTicks);
      network.heal();
      for (let tick = 1; tick <= swarm.electionTicks; tick++) {
        scheduler.after(tick * swarm.tickMs, () => this.handTo(machine, group));
      }
    });
  }

  private lateCommands(machine: Machine): void {
    const { world, draw } = this;
    const { swarm, scheduler, clients } = world;
    const group = clients.group(machine);
    const { process } = machine;
    if (group === null || process === null) return;
    const lateMs = swarm.tickMs * draw.int(4, 12);
    this.calm(2 * lateMs);
    process.lateMs = lateMs;
    for (const ms of [0, 1, 2]) this.probe(machine, 'append', ms);
    scheduler.after(5, () => {
      process.lateMs = 0;
      process.consensus?.handle({ kind: 'hand_over', group, id: scheduler.turns, to: 0, stay: true });
    });
    for (let ms = swarm.tickMs; ms < lateMs; ms += swarm.tickMs) {
      scheduler.after(ms, () => this.handTo(machine, group));
    }
  }

  /** Whoever leads a group gives it to a machine. */
  private handTo({ nodeId }: Machine, group: GroupId): void {
    const leader = this.world.processes.find(({ host }) => host?.status(group)?.role === 'leader');
    if (!this.raging || leader === undefined || leader.nodeId === nodeId) return;
    leader.command({ kind: 'hand_over', group, id: this.world.scheduler.turns, to: nodeId, stay: true });
  }

  /** Changes elsewhere before a machine wakes up, and reads at that machine when it does. */
  private probeAround(machine: Machine, wakesMs: number): void {
    const { world, draw } = this;
    for (const part of [0.7, 0.9]) {
      const others = world.present.filter((other) => other !== machine && other.process !== null);
      if (others.length > 0) this.probe(draw.pick(others), 'append', wakesMs * part);
    }
    for (const ticks of [0, 0.3, 1, 2]) this.probe(machine, 'read', wakesMs + 1 + ticks * world.swarm.tickMs);
  }

  private probe(machine: Machine, kind: 'append' | 'read', ms: number): void {
    this.world.scheduler.after(ms, () => this.world.clients.probe(machine, kind, 'l2'));
  }

  /**
   * Figure 8 of the Raft paper: a leader is cut off with an entry that nobody else has; the next one dies away before
   * anybody has its first entry; the first comes back, gives its old entry to a majority, and is lost; the second comes
   * back, and has the newer entry.
   */
  private figure8(machine: Machine): void {
    const { world } = this;
    const group = world.clients.group(machine);
    if (group === null || world.present.length < 3) return;
    this.calm(FIGURE_8_MS / 2);
    this.isolate(machine);
    for (const ms of [1, 5, 20]) this.probe(machine, 'append', ms);
    this.figure = { group, first: machine, second: null, again: false };
    world.scheduler.after(FIGURE_8_MS, () => {
      this.figure = null;
    });
  }

  private goOnWithFigure8(process: Process, group: GroupId): void {
    const { figure, world, draw } = this;
    const { machine } = process;
    if (figure === null || figure.group !== group) return;
    const { network, swarm } = world;
    if (figure.second === null && machine !== figure.first) {
      figure.second = machine;
      network.heal();
      this.isolate(machine);
    } else if (figure.second !== null && machine === figure.first && !figure.again) {
      figure.again = true;
      const roundMs = 2 * (swarm.network.delayMs + swarm.disk.meanMs);
      world.scheduler.after(roundMs * (1 + 4 * draw.unit()), () => this.loseFirst(figure));
    }
  }

  /** The first leader is told that somebody has its old entries. Now it must not get further. */
  private endFigure8({ machine, host }: Process, group: GroupId, match: number): void {
    const { figure, world } = this;
    if (figure === null || figure.group !== group || figure.first !== machine || !figure.again) return;
    const status = host?.status(group);
    if (status?.role !== 'leader' || match <= status.commitIndex || match >= status.lastIndex) return;
    for (const { nodeId } of world.present) world.network.cut(machine.nodeId, nodeId);
    world.scheduler.after(2 * world.swarm.disk.meanMs, () => this.loseFirst(figure));
  }

  private loseFirst(figure: Figure8): void {
    const { world, draw } = this;
    if (this.figure !== figure) return;
    this.figure = null;
    world.network.heal();
    this.crash(figure.first, draw.chance(0.5), draw.exponential(1500) + 1000);
    world.note(() => `the second leader ${figure.second?.name} comes back`);
  }

  /** Only where a majority of the others holds everything. */
  private wipe(machine: Machine): void {
    const { world, draw } = this;
    if (world.present.length < 3 || !this.isSound) return;
    const other = world.replace(machine);
    world.scheduler.after(draw.exponential(500), () => world.start(other));
  }

  /** Whether every machine is a member of every group, and none is about to be lost or to go. */
  private get isSound(): boolean {
    const { isComplete, hasDamage } = this.world;
    return isComplete && !hasDamage && [...this.leaving].every(({ isGone }) => isGone);
  }

  private remove(machine: Machine): void {
    const { world, draw } = this;
    const { nodeId } = machine;
    // Who stays could be too few.
    if (!this.isSound) return;
    const open = world.processes.filter(({ isOpen }) => isOpen);
    if (open.length === 0) return;
    const process = draw.pick(open);
    const number = process.engine.root.members.get(nodeId)?.number;
    if (number === undefined) return;
    this.hasRemoved = true;
    this.leaving.add(machine);
    const question = { collection: null, code: `del_node(${number}); nil;`, key: null };
    world.clients.ask(process, question, (outcome) => {
      if (outcome === 'failed') this.leaving.delete(machine);
    });
  }

  /**
   * With the majority of the new members alone their leader could go on, while those who do not know of the change are a
   * majority of the old ones.
   */
  private shrink(): void {
    const { world, draw } = this;
    const leader = this.rootLeader();
    if (leader === undefined || this.hasShrunk || world.present.length !== 5 || !this.isSound) return;
    this.hasShrunk = true;
    const others = draw.shuffled(world.present.filter(({ process }) => process !== leader));
    const [friend, , ...removed] = others as [Machine, ...Machine[]];
    this.calm(4 * world.swarm.tickMs * world.swarm.electionTicks);
    this.shrinking = { leader, friend };
    this.removeAtOnce(leader, removed);
  }

  /** The change is in force at the leader; who else knows of it is on its side. */
  private cutWhileJoint(process: Process, group: GroupId): void {
    const { shrinking, world } = this;
    if (shrinking === null || shrinking.leader !== process || group !== ROOT_GROUP) return;
    this.shrinking = null;
    const inside = [process.machine, shrinking.friend];
    for (const one of inside) {
      for (const other of world.present) {
        if (inside.includes(other)) continue;
        world.network.cut(one.nodeId, other.nodeId);
        world.network.cut(other.nodeId, one.nodeId);
      }
    }
  }

  private oust(): void {
    const { world } = this;
    const leader = this.rootLeader();
    if (leader === undefined || world.present.length < 3 || !this.isSound) return;
    this.removeAtOnce(leader, [leader.machine]);
  }

  private lastOfTwo(): void {
    const { world, draw } = this;
    const [gone, left] = draw.shuffled(world.present);
    if (gone === undefined || left === undefined || world.present.length !== 2 || !this.isSound) return;
    const quietMs = 4 * world.swarm.tickMs * world.swarm.electionTicks;
    this.calm(quietMs);
    world.clients.rest(quietMs);
    this.remove(gone);
    world.scheduler.after(draw.unit() * quietMs, () => {
      if (this.raging) this.crash(left, true, draw.exponential(400));
    });
  }

  private rootLeader(): Process | undefined {
    return this.world.processes.find(({ host }) => host?.status(ROOT_GROUP)?.role === 'leader');
  }

  /** Raft's membership changes first, and the list of members follows: the other way nothing of this could happen. */
  private removeAtOnce(leader: Process, machines: readonly Machine[]): void {
    const steps = machines.map(({ nodeId }) => ({ action: 'remove', node: nodeId }) as const);
    const numbers = machines.map(({ nodeId }) => leader.engine.root.members.get(nodeId)?.number);
    leader.command({ kind: 'change_membership', group: ROOT_GROUP, id: -1, steps });
    for (const machine of machines) this.leaving.add(machine);
    for (const number of numbers) if (number !== undefined) this.delist(number);
  }

  /** Takes a node from the list of members, however long it takes. */
  private delist(number: number): void {
    const { world, draw } = this;
    this.hasRemoved = true;
    const again = (): void => {
      world.scheduler.after(300, () => this.delist(number));
    };
    const open = world.processes.filter(({ isOpen }) => isOpen);
    if (open.length === 0) return again();
    const code = `if (has_node(${number})) del_node(${number}); nil;`;
    world.clients.ask(draw.pick(open), { collection: null, code, key: null }, (outcome) => {
      if (outcome !== 'ok') again();
    });
  }

  private transfer(machine: Machine): void {
    const { world, draw } = this;
    const leader = this.leader();
    if (leader?.process == null) return;
    const group = draw.chance(0.5) ? null : draw.pick(leader.process.groups);
    const to = draw.chance(0.5) ? 0 : machine.nodeId;
    leader.process.command({ kind: 'hand_over', group, id: world.scheduler.turns, to, stay: true });
  }

  /** The machine that leads the group that is asked, where something is to be seen. */
  private asked(): Machine | undefined {
    return this.world.present.find((machine) => this.world.clients.group(machine) !== null) ?? this.leader();
  }

  /** A machine that leads some group. */
  private leader(): Machine | undefined {
    const leaders = this.world.present.filter(({ process }) => process !== null && leadsAny(process));
    return leaders.length === 0 ? undefined : this.draw.pick(leaders);
  }
}

function leadsAny({ host }: Process): boolean {
  return host !== null && (host.leading > 0 || host.status(ROOT_GROUP)?.role === 'leader');
}
