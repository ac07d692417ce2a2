/** Faults of several steps, each made for a kind of bug that chance alone would seldom meet. */
import { type GroupId, ROOT_GROUP } from '@althing/node/parts';
import type { Faults } from './faults.js';
import type { Machine } from './machine.js';
import type { Process } from './process.js';
import type { Draw } from './random.js';
import type { World } from './world.js';

/** Time that figure 8 may take, in milliseconds. */
const FIGURE_8_MS = 5000;

/** The number of times the log of a leader is full in a row. */
const FULL_ROUNDS = 4;

/** The progress of figure 8 of the Raft paper. */
interface Figure8 {
  readonly group: GroupId;
  readonly first: Machine;
  second: Machine | null;
  /** True if the first leads again. */
  again: boolean;
}

export class Plans {
  private readonly world: World;
  private readonly draw: Draw;
  private hasShrunk = false;
  private shrinking: { readonly leader: Process; readonly friend: Machine } | null = null;
  private figure: Figure8 | null = null;

  constructor(private readonly faults: Faults) {
    this.world = faults.world;
    this.draw = faults.draw;
  }

  /** Gives leaderships away again and again for a while. */
  churn(): void {
    const { world, draw, faults } = this;
    const until = world.scheduler.now + draw.exponential(1500);
    const next = (): void => {
      if (!faults.raging || world.scheduler.now > until) return;
      faults.transfer(draw.pick(world.present));
      world.scheduler.after(draw.exponential(world.swarm.tickMs), next);
    };
    next();
  }

  /** A disk that lied loses the end of a log to which something has just been written. */
  lie(machine: Machine): void {
    const { world, draw, faults } = this;
    const { swarm, scheduler } = world;
    faults.calm(4 * swarm.tickMs * swarm.electionTicks);
    for (const ms of [0, 2, 5]) this.probe(this.asked() ?? machine, 'append', ms);
    scheduler.after(draw.exponential(20 + 10 * (swarm.network.delayMs + swarm.disk.meanMs)), () => {
      if (faults.raging) faults.lie(machine);
    });
  }

  /** A leader sleeps while answers from before are still on their way to it. */
  lateAnswers(machine: Machine): void {
    const { world, draw, faults } = this;
    const { network, swarm, present, scheduler } = world;
    const pauseMs = this.overElection();
    const lateMs = pauseMs + swarm.tickMs * draw.int(1, swarm.electionTicks);
    faults.calm(lateMs * 1.5);
    for (const { nodeId } of present) network.slow(nodeId, machine.nodeId, lateMs);
    this.probe(machine, 'read', 0);
    const beginMs = 5 + 4 * swarm.threadMs + draw.exponential(swarm.tickMs);
    scheduler.after(beginMs, () => faults.pause(machine, pauseMs));
    this.probeAround(machine, beginMs + pauseMs);
    scheduler.after(lateMs * 1.5, () => {
      for (const { nodeId } of present) network.hasten(nodeId, machine.nodeId);
    });
  }

  /** A leader sleeps over an election, and hears of it only some time after it woke up. */
  oversleep(machine: Machine): void {
    const { world, faults } = this;
    const { swarm, scheduler } = world;
    const pauseMs = this.overElection();
    const awayMs = pauseMs + 4 * swarm.tickMs;
    faults.calm(awayMs + 2 * swarm.tickMs * swarm.electionTicks);
    faults.cutOff(machine);
    faults.pause(machine, pauseMs);
    this.probeAround(machine, pauseMs);
    scheduler.after(awayMs, () => world.network.heal());
  }

  /** Clients do nothing for a while, so that groups fall silent; then the leader sleeps over an election. */
  lull(): void {
    const { world, faults } = this;
    const { swarm, scheduler, clients } = world;
    const quietMs = swarm.tickMs * 25;
    const pauseMs = this.overElection();
    faults.calm(quietMs + pauseMs + 3 * swarm.tickMs);
    clients.rest(quietMs);
    scheduler.after(quietMs, () => {
      const machine = this.asked();
      if (machine === undefined) return;
      faults.pause(machine, pauseMs);
      this.probeAround(machine, pauseMs);
    });
  }

  /** A leader that was cut off and asked there for what it can not know leads again, before it took in what it missed. */
  comeBack(machine: Machine): void {
    const { world, faults } = this;
    const { network, swarm, scheduler, clients } = world;
    const group = clients.group(machine);
    if (group === null) return;
    const awayMs = this.overElection();
    faults.calm(awayMs + 2 * swarm.tickMs * swarm.electionTicks);
    faults.cutOff(machine);
    this.probeAround(machine, awayMs);
    scheduler.after(awayMs + 5 + 4 * swarm.threadMs, () => {
      faults.pauseEngine(machine, swarm.tickMs * swarm.electionTicks);
      network.heal();
      for (let tick = 1; tick <= swarm.electionTicks; tick++) {
        scheduler.after(tick * swarm.tickMs, () => faults.handTo(machine, group));
      }
    });
  }

  /**
   * A leader's log has no room now and then, while others send it changes: what it has proposed it must take back, though
   * the others may commit it, and it refuses what comes again.
   */
  fullLeader(machine: Machine): void {
    const { world, faults } = this;
    const { swarm, scheduler, present } = world;
    const [fullMs, roomMs] = [4 * swarm.tickMs, 4 * swarm.tickMs];
    const others = present.filter((other) => other !== machine && other.process !== null);
    if (others.length === 0) return;
    faults.calm(FULL_ROUNDS * (fullMs + roomMs));
    for (let round = 0; round < FULL_ROUNDS; round++) {
      const atMs = round * (fullMs + roomMs);
      for (let probe = 0; probe < 8; probe++) this.probe(this.draw.pick(others), 'append', atMs + probe);
      scheduler.after(atMs + 2 + 2 * swarm.threadMs, () => {
        if (faults.raging) machine.logIsFull = true;
      });
      scheduler.after(atMs + fullMs, () => {
        machine.logIsFull = false;
      });
    }
  }

  /** Proposals of a leader's engine thread are under way while the leadership goes away and comes back. */
  lateCommands(machine: Machine): void {
    const { world, draw, faults } = this;
    const { swarm, scheduler, clients } = world;
    const group = clients.group(machine);
    const { process } = machine;
    if (group === null || process === null) return;
    const lateMs = swarm.tickMs * draw.int(4, 12);
    faults.calm(2 * lateMs);
    process.lateMs = lateMs;
    for (const ms of [0, 1, 2]) this.probe(machine, 'append', ms);
    scheduler.after(5, () => {
      process.lateMs = 0;
      process.consensus?.side.handle({ kind: 'hand_over', group, id: scheduler.turns, to: 0, stay: true });
    });
    for (let ms = swarm.tickMs; ms < lateMs; ms += swarm.tickMs) {
      scheduler.after(ms, () => faults.handTo(machine, group));
    }
  }

  /**
   * Figure 8 of the Raft paper: a leader is cut off with an entry that nobody else has; the next one dies away before
   * anybody has its first entry; the first comes back, gives its old entry to a majority, and is lost; the second comes
   * back, and has the newer entry.
   */
  figure8(machine: Machine): void {
    const { world, faults } = this;
    const group = world.clients.group(machine);
    if (group === null || world.present.length < 3) return;
    faults.calm(FIGURE_8_MS / 2);
    faults.isolate(machine);
    for (const ms of [1, 5, 20]) this.probe(machine, 'append', ms);
    this.figure = { group, first: machine, second: null, again: false };
    world.scheduler.after(FIGURE_8_MS, () => {
      this.figure = null;
    });
  }

  /** Somebody leads a group, and no message of that has left yet. */
  onLeader({ machine }: Process, group: GroupId): void {
    const { figure, world, draw, faults } = this;
    if (figure === null || figure.group !== group) return;
    const { network, swarm } = world;
    if (figure.second === null && machine !== figure.first) {
      figure.second = machine;
      network.heal();
      faults.isolate(machine);
    } else if (figure.second !== null && machine === figure.first && !figure.again) {
      figure.again = true;
      const roundMs = 2 * (swarm.network.delayMs + swarm.disk.meanMs);
      world.scheduler.after(roundMs * (1 + 4 * draw.unit()), () => this.loseFirst(figure));
    }
  }

  /** A leader is told how far another has its entries: the first one of figure 8 must not get further. */
  onProgress({ machine, host }: Process, group: GroupId, match: number): void {
    const { figure, world } = this;
    if (figure === null || figure.group !== group || figure.first !== machine || !figure.again) return;
    const status = host?.status(group);
    if (status?.role !== 'leader' || match <= status.commitIndex || match >= status.lastIndex) return;
    for (const { nodeId } of world.present) world.network.cut(machine.nodeId, nodeId);
    world.scheduler.after(2 * world.swarm.disk.meanMs, () => this.loseFirst(figure));
  }

  /**
   * Two of five are removed at once, while the network is cut through the middle. With the majority of the new members
   * alone their leader could go on, while those who do not know of the change are a majority of the old ones.
   */
  shrink(): void {
    const { world, draw, faults } = this;
    const leader = this.rootLeader();
    if (leader === undefined || this.hasShrunk || world.present.length !== 5 || !faults.isSound) return;
    this.hasShrunk = true;
    const others = draw.shuffled(world.present.filter(({ process }) => process !== leader));
    const [friend, , ...removed] = others as [Machine, ...Machine[]];
    faults.calm(4 * world.swarm.tickMs * world.swarm.electionTicks);
    this.shrinking = { leader, friend };
    faults.removeAtOnce(leader, removed);
  }

  /** A joint membership is in force at its leader; who else knows of it is on its side. */
  onJoint(process: Process, group: GroupId): void {
    const { shrinking } = this;
    if (shrinking === null || shrinking.leader !== process || group !== ROOT_GROUP) return;
    this.shrinking = null;
    this.faults.separate([process.machine, shrinking.friend]);
  }

  /** The leader of the root group removes itself, before it has given anything away. */
  oust(): void {
    const leader = this.rootLeader();
    if (leader === undefined || this.world.present.length < 3 || !this.faults.isSound) return;
    this.faults.removeAtOnce(leader, [leader.machine]);
  }

  /** One of two is removed while clients do nothing; then the power of the other fails. */
  lastOfTwo(): void {
    const { world, draw, faults } = this;
    const [gone, left] = draw.shuffled(world.present);
    if (gone === undefined || left === undefined || world.present.length !== 2 || !faults.isSound) return;
    const quietMs = 4 * world.swarm.tickMs * world.swarm.electionTicks;
    faults.calm(quietMs);
    world.clients.rest(quietMs);
    faults.remove(gone);
    world.scheduler.after(draw.unit() * quietMs, () => {
      if (faults.raging) faults.crash(left, true, draw.exponential(400));
    });
  }

  /** The machine that leads the group that is asked, where something is to be seen. */
  asked(): Machine | undefined {
    return (
      this.world.present.find((machine) => this.world.clients.group(machine) !== null) ?? this.faults.leader()
    );
  }

  private loseFirst(figure: Figure8): void {
    const { world, draw } = this;
    if (this.figure !== figure) return;
    this.figure = null;
    world.network.heal();
    this.faults.crash(figure.first, draw.chance(0.5), draw.exponential(1500) + 1000);
    world.note(() => 'the second leader comes back', figure.second ?? figure.first);
  }

  /** Longer than the others need to elect somebody else. */
  private overElection(): number {
    const { tickMs, electionTicks } = this.world.swarm;
    return tickMs * electionTicks * (2.5 + 2 * this.draw.unit());
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

  private rootLeader(): Process | undefined {
    return this.world.processes.find(({ host }) => host?.status(ROOT_GROUP)?.role === 'leader');
  }
}
