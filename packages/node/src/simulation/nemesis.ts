/** The faults of the storm, each with the time after which it ends. */
import { ROOT_GROUP } from '../consensus/protocol.js';
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
  | 'disk_full';

/** Machines that there may be at once. */
const MACHINES_MAX = 6;

export class Nemesis {
  private readonly world: World;
  private readonly draw: Draw;
  private raging = true;

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

  private plan(): void {
    const { swarm, scheduler } = this.world;
    scheduler.after(this.draw.exponential(swarm.faultMs), () => {
      if (!this.raging) return;
      const kind = this.draw.weighted(swarm.faults);
      if (kind !== undefined) this.inject(kind);
      this.plan();
    });
  }

  private inject(kind: FaultKind): void {
    const { world, draw } = this;
    const machines = world.present;
    const machine = draw.pick(machines);
    world.note(() => `fault ${kind} ${machine.name}`);
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
      case 'disk_full':
        machine.logIsFull = true;
        machine.isStateFull = true;
        world.scheduler.after(draw.exponential(800), () => {
          machine.logIsFull = false;
          machine.isStateFull = false;
        });
    }
  }

  private crash(machine: Machine, powerCut: boolean): void {
    const { world, draw } = this;
    if (!world.crash(machine, powerCut)) return;
    const downMs = draw.chance(0.3) ? draw.exponential(50) : draw.exponential(1500);
    world.scheduler.after(downMs, () => world.start(machine));
  }

  private pause(machine: Machine): void {
    const { process } = machine;
    if (process === null || process.consensusThread.isPaused) return;
    process.consensusThread.pause();
    process.engineThread.pause();
    this.world.scheduler.after(this.draw.exponential(this.draw.pick([100, 1500])), () => {
      process.consensusThread.resume();
      process.engineThread.resume();
    });
  }

  private pauseEngine(machine: Machine): void {
    const { process } = machine;
    if (process === null || process.engineThread.isPaused) return;
    process.engineThread.pause();
    this.world.scheduler.after(this.draw.exponential(1000), () => process.engineThread.resume());
  }

  private isolate(machine: Machine): void {
    const { network, present: machines } = this.world;
    const bothWays = this.draw.chance(0.7);
    for (const other of machines) {
      network.cut(machine.nodeId, other.nodeId);
      if (bothWays) network.cut(other.nodeId, machine.nodeId);
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

  /** Only where a majority of the others holds everything. */
  private wipe(machine: Machine): void {
    const { world, draw } = this;
    if (world.present.length < 3 || !world.isComplete) return;
    const other = world.replace(machine);
    world.scheduler.after(draw.exponential(500), () => world.start(other));
  }

  private remove({ nodeId }: Machine): void {
    const { world, draw } = this;
    const open = world.processes.filter(({ isOpen }) => isOpen);
    if (open.length === 0) return;
    const process = draw.pick(open);
    const number = process.engine.root.members.get(nodeId)?.number;
    if (number === undefined) return;
    world.clients.ask(process, { collection: null, code: `del_node(${number}); nil;`, key: null }, () => {});
  }

  private transfer(machine: Machine): void {
    const { world, draw } = this;
    const leader = this.leader();
    if (leader?.process == null) return;
    const group = draw.chance(0.5) ? null : draw.pick(leader.process.groups);
    const to = draw.chance(0.5) ? 0 : machine.nodeId;
    leader.process.command({ kind: 'hand_over', group, id: world.scheduler.turns, to, stay: true });
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
