/** The choice of faults: at random times, and at the moments that known bugs need. */

import type { Event, GroupId } from '@althing/node/parts';
import type { TraceEvent } from 'raft-ts';
import { Faults } from './faults.js';
import type { Machine } from './machine.js';
import { Plans } from './plans.js';
import type { Process } from './process.js';
import { Draw } from './random.js';
import type { World } from './world.js';

/** Machines that there may be at once. */
const MACHINES_MAX = 6;

/** Until when leaders are hunted, and checkpoints cut short, in milliseconds. */
interface Hunts {
  youngUntil: number;
  burdenedUntil: number;
  cutShortUntil: number;
}

/** The parts of a run that a fault may be about. */
interface Injection {
  readonly world: World;
  readonly draw: Draw;
  readonly faults: Faults;
  readonly plans: Plans;
  readonly hunts: Hunts;
  readonly machine: Machine;
  readonly leader: () => Machine;
  /** The leader of the group that is asked. */
  readonly asked: () => Machine;
}

/** The kinds of faults, and what each does. */
const FAULTS = {
  crash: ({ faults, machine }) => faults.crash(machine, true),
  kill: ({ faults, machine }) => faults.crash(machine, false),
  crash_all: ({ faults, world }) => {
    for (const each of world.present) faults.crash(each, true);
  },
  crash_leader: ({ faults, draw, leader }) => faults.crash(leader(), draw.chance(0.5)),
  pause: ({ faults, machine }) => faults.pause(machine),
  pause_leader: ({ faults, leader }) => faults.pause(leader()),
  pause_engine: ({ faults, machine }) => faults.pauseEngine(machine),
  isolate: ({ faults, machine }) => faults.isolate(machine),
  isolate_leader: ({ faults, leader }) => faults.isolate(leader()),
  halves: ({ faults, world }) => faults.halve(world.present),
  one_way: ({ world, draw, machine }) => world.network.cut(machine.nodeId, draw.pick(world.present).nodeId),
  ring: ({ faults, world }) => faults.ring(world.present),
  heal: ({ world, draw }) => {
    if (draw.chance(0.5)) world.network.heal();
    else world.network.healSome(0.5);
  },
  slow_disk: ({ faults, machine }) => faults.slowDisk(machine),
  clock: ({ faults, machine }) => faults.moveClock(machine),
  transfer: ({ faults, machine }) => faults.transfer(machine),
  /** A machine is lost with its disks, and another one comes in its place. */
  wipe: ({ faults, machine }) => faults.wipe(machine),
  grow: ({ world }) => {
    if (world.present.length >= MACHINES_MAX) return;
    const newcomer = world.grow();
    world.newcomers.callIn(newcomer);
    world.start(newcomer);
  },
  remove: ({ faults, machine }) => faults.remove(machine),
  disk_full: ({ faults, machine }) => faults.fillDisk(machine),
  /** The state alone, or the log alone, has no room, mostly that of a leader. */
  state_full: ({ faults, draw, machine, leader }) =>
    faults.fillPart(draw.chance(0.7) ? leader() : machine, 'state'),
  log_full: ({ faults, draw, machine, leader }) =>
    faults.fillPart(draw.chance(0.7) ? leader() : machine, 'log'),
  /** The log loses its end, or a bit of it or of the state changes, while the node is down. */
  damage: ({ faults, machine }) => faults.damage(machine),
  /** The log lacks its end after a kill, though the disk had reported it as durable. */
  lie: ({ plans, machine }) => plans.lie(machine),
  /** A node is stopped in order: its clients are told to go elsewhere, and are answered before. */
  drain: ({ faults, machine }) => faults.drain(machine),
  /** New leaders die young. */
  young_leaders: ({ faults, draw, hunts, world, leader }) => {
    hunts.youngUntil = world.scheduler.now + draw.exponential(2500);
    faults.crash(leader(), draw.chance(0.5), draw.exponential(400));
  },
  /** Leaders die with changes that few others have. */
  burdened_leaders: ({ hunts, world, draw }) => {
    hunts.burdenedUntil = world.scheduler.now + draw.exponential(2500);
  },
  /** The power fails while a checkpoint is being written. */
  cut_short: ({ hunts, world, draw }) => {
    hunts.cutShortUntil = world.scheduler.now + draw.exponential(2500);
  },
  // The bugs that the plans are made for stand beside them.
  churn: ({ plans }) => plans.churn(),
  shrink: ({ plans }) => plans.shrink(),
  oust: ({ plans }) => plans.oust(),
  last_of_two: ({ plans }) => plans.lastOfTwo(),
  figure_8: ({ plans, asked }) => plans.figure8(asked()),
  late_answers: ({ plans, asked }) => plans.lateAnswers(asked()),
  oversleep: ({ plans, asked }) => plans.oversleep(asked()),
  full_leader: ({ plans, asked }) => plans.fullLeader(asked()),
  lull: ({ plans }) => plans.lull(),
  come_back: ({ plans, asked }) => plans.comeBack(asked()),
  late_commands: ({ plans, asked }) => plans.lateCommands(asked()),
} satisfies Readonly<Record<string, (about: Injection) => void>>;

export type FaultKind = keyof typeof FAULTS;

export const FAULT_KINDS: readonly string[] = Object.keys(FAULTS);

export class Nemesis {
  /** When faults come, whatever they do. */
  private readonly times: Draw;
  private readonly faults: Faults;
  private readonly plans: Plans;
  private readonly hunts: Hunts = { youngUntil: 0, burdenedUntil: 0, cutShortUntil: 0 };

  constructor(
    private readonly world: World,
    private readonly draw: Draw,
  ) {
    this.times = new Draw(world.seed, 'times of faults');
    this.faults = new Faults(world, draw);
    this.plans = new Plans(this.faults);
  }

  start(): void {
    this.plan(0);
  }

  /** No more faults. */
  stop(): void {
    this.faults.raging = false;
  }

  /** True if the removal of some node was asked for. */
  get hasRemoved(): boolean {
    return this.faults.hasRemoved;
  }

  /** Called with what the cores do: some faults wait for the right moment. */
  onTrace(process: Process, group: GroupId, event: TraceEvent): void {
    const { draw, world, plans, faults } = this;
    const { now } = world.scheduler;
    if (!faults.raging) return;
    const soonMs = 4 * (world.swarm.network.delayMs + world.swarm.disk.meanMs);
    if (event.type === 'role' && event.role === 'leader') {
      if (now < this.hunts.youngUntil && draw.chance(0.8)) {
        world.scheduler.after(draw.exponential(soonMs), () => this.attackLeader(process, event.term, group));
      }
      plans.onLeader(process, group);
    }
    if (event.type === 'membership' && event.membership.outgoing.length > 0) {
      plans.onJoint(process, group);
      if (draw.chance(0.3) && this.mayAttackLeaders) {
        world.scheduler.after(draw.exponential(soonMs), () => {
          this.attackLeader(process, process.host?.status(group)?.term ?? 0, group);
        });
      }
    }
    if (event.type === 'snapshot' && event.phase === 'taken' && draw.chance(0.1) && this.mayAttackLeaders) {
      world.scheduler.after(draw.exponential(soonMs / 2), () => {
        if (faults.raging && process.alive) faults.crash(process.machine, draw.chance(0.5));
      });
    }
    if (event.type === 'progress') plans.onProgress(process, group, event.match);
    if (event.type === 'append' && now < this.hunts.burdenedUntil) {
      const status = process.host?.status(group);
      if (status?.role !== 'leader' || event.last - status.commitIndex < 3 || !draw.chance(0.3)) return;
      world.scheduler.after(draw.exponential(soonMs / 2), () =>
        this.attackLeader(process, event.term, group),
      );
    }
  }

  /** Called with each event of a process's consensus side. */
  onEvent({ machine }: Process, event: Event): void {
    const { draw, world, faults } = this;
    const { now } = world.scheduler;
    if (!faults.raging || now >= this.hunts.cutShortUntil || event.kind !== 'marked' || !draw.chance(0.5))
      return;
    const soonMs = 2 * (world.swarm.threadMs + world.swarm.disk.meanMs);
    world.scheduler.after(draw.exponential(soonMs), () => {
      if (faults.raging) faults.crash(machine, true, draw.exponential(400));
    });
  }

  /** Ends a leader, or cuts it off, if it is one still. */
  private attackLeader(process: Process, term: number, group: GroupId): void {
    const { faults, draw } = this;
    const { machine, host } = process;
    const status = host?.status(group);
    if (!faults.raging || !process.alive || status?.role !== 'leader' || status.term !== term) return;
    this.world.note(() => `attacks the leader of group ${group}`, machine);
    if (draw.chance(0.7)) faults.crash(machine, draw.chance(0.5), draw.exponential(400));
    else faults.isolate(machine, draw.exponential(600));
  }

  /** True if faults come by themselves at moments that are worth it. */
  private get mayAttackLeaders(): boolean {
    return this.world.decisions.allows('leader_faults');
  }

  /** @param number of the fault, whether or not the ones before came */
  private plan(number: number): void {
    const { swarm, scheduler, decisions } = this.world;
    scheduler.after(this.times.exponential(swarm.faultMs), () => {
      if (!this.faults.raging) return;
      const kind = this.draw.weighted(swarm.faults);
      const mayCome = kind !== undefined && decisions.allows(kind) && scheduler.now >= this.faults.calmUntil;
      if (mayCome && decisions.take(`f${number}`, kind)) this.inject(kind, number);
      this.plan(number + 1);
    });
  }

  private inject(kind: FaultKind, number: number): void {
    const { world, draw, faults, plans, hunts } = this;
    const machine = draw.pick(world.present);
    world.note(() => `f${number} fault ${kind}`, machine);
    world.reached.add(`fault ${kind}`);
    const leader = (): Machine => faults.leader() ?? machine;
    const asked = (): Machine => plans.asked() ?? machine;
    FAULTS[kind]({ world, draw, faults, plans, hunts, machine, leader, asked });
  }
}
