/** Faults of machines and links, each with the time after which it ends. */
import { type GroupId, ROOT_GROUP } from '@althing/node/parts';
import type { Machine } from './machine.js';
import type { Process } from './process.js';
import type { Draw } from './random.js';
import type { World } from './world.js';

/** Number of looks, and milliseconds before each, if the others have what a disk has lost. */
const LIE_LOOKS_MAX = 100;
const LIE_LOOK_MS = 20;

export class Faults {
  /** True if there are faults still. */
  raging = true;
  /** Until when a plan of several steps goes on, which nothing else should cross, in milliseconds. */
  calmUntil = 0;
  /** True if the removal of some node was asked for. */
  hasRemoved = false;
  /** Machines whose removal was asked for, as far as nobody refused it. */
  private readonly leaving = new Set<Machine>();

  constructor(
    readonly world: World,
    readonly draw: Draw,
  ) {}

  crash(machine: Machine, powerCut: boolean, downMs = this.downMs()): void {
    const { world } = this;
    if (!world.crash(machine, powerCut)) return;
    world.scheduler.after(downMs, () => world.start(machine));
  }

  pause(machine: Machine, ms = this.draw.exponential(this.draw.pick([100, 1500]))): void {
    const { process } = machine;
    if (process === null || process.consensusThread.isPaused) return;
    process.consensusThread.pause();
    process.engineThread.pause();
    this.world.scheduler.after(ms, () => {
      process.consensusThread.resume();
      process.engineThread.resume();
    });
  }

  pauseEngine(machine: Machine, ms = this.draw.exponential(1000)): void {
    const { process } = machine;
    if (process === null || process.engineThread.isPaused) return;
    process.engineThread.pause();
    this.world.scheduler.after(ms, () => process.engineThread.resume());
  }

  /** @param ms after which its links are healed; by default when something else heals them */
  isolate(machine: Machine, ms: number | null = null): void {
    const { network, present: machines, scheduler } = this.world;
    if (ms !== null) scheduler.after(ms, () => network.heal());
    const bothWays = this.draw.chance(0.7);
    for (const other of machines) {
      network.cut(machine.nodeId, other.nodeId);
      if (bothWays) network.cut(other.nodeId, machine.nodeId);
    }
  }

  /** Nothing reaches a machine, and nothing leaves it, until the links are healed. */
  cutOff({ nodeId }: Machine): void {
    const { network, present } = this.world;
    for (const other of present) {
      network.cut(nodeId, other.nodeId);
      network.cut(other.nodeId, nodeId);
    }
  }

  /** Cuts the cluster into two parts. */
  halve(machines: readonly Machine[]): void {
    const shuffled = this.draw.shuffled(machines);
    this.separate(shuffled.slice(0, this.draw.int(1, Math.max(1, shuffled.length - 1))));
  }

  /** Cuts some machines off from all others, but not from each other. */
  separate(some: readonly Machine[]): void {
    const { network, present } = this.world;
    for (const inside of some) {
      for (const outside of present) {
        if (some.includes(outside)) continue;
        network.cut(inside.nodeId, outside.nodeId);
        network.cut(outside.nodeId, inside.nodeId);
      }
    }
  }

  /** Each node sees its neighbours only. */
  ring(machines: readonly Machine[]): void {
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

  slowDisk(machine: Machine): void {
    machine.diskSlowness = this.draw.pick([5, 50]);
    this.world.scheduler.after(this.draw.exponential(1000), () => {
      machine.diskSlowness = 1;
    });
  }

  fillDisk(machine: Machine): void {
    machine.logIsFull = true;
    machine.isStateFull = true;
    this.world.scheduler.after(this.draw.exponential(800), () => {
      machine.logIsFull = false;
      machine.isStateFull = false;
    });
  }

  /**
   * The state alone, or the log alone, has no room, and has some again, in turn: what was proposed may be taken back, and
   * what comes again be refused.
   */
  fillPart(machine: Machine, part: 'state' | 'log'): void {
    const { draw, world } = this;
    const fill = (isFull: boolean): void => {
      if (part === 'state') machine.isStateFull = isFull;
      else machine.logIsFull = isFull;
    };
    let rounds = draw.int(2, 6);
    const next = (): void => {
      if (!this.raging) return;
      fill(true);
      world.scheduler.after(draw.exponential(400), () => {
        fill(false);
        rounds -= 1;
        if (rounds > 0) world.scheduler.after(draw.exponential(300), next);
      });
    };
    next();
  }

  moveClock(machine: Machine): void {
    const { draw } = this;
    machine.clockOffsetMs = draw.pick([0, -86_400_000, 3_600_000, draw.int(-5000, 5000)]);
  }

  drain(machine: Machine): void {
    const { world, draw } = this;
    world.drains.begin(machine, () =>
      world.scheduler.after(draw.exponential(300), () => world.start(machine)),
    );
  }

  /** Damage is noticed, now or much later, and the data are lost then: so this may happen to a machine that the others can spare. */
  damage(machine: Machine): void {
    const { world, draw } = this;
    if (world.present.length < 3 || !this.isSound) return;
    world.stop(machine, () => {
      const what = machine.damage(draw);
      world.note(() => `damage: ${what}`, machine);
      world.scheduler.after(draw.exponential(300), () => world.start(machine));
    });
  }

  /**
   * The disk of a node has lost the end of its log, though it had reported it as durable. The others have all of that before
   * the node comes back, so that they lose nothing by it, and can go on without it.
   */
  lie(machine: Machine): void {
    const { world, draw } = this;
    if (world.present.length < 3 || !this.isSound) return;
    if (!world.crash(machine, false)) return;
    const what = machine.loseTail(draw);
    world.note(() => `the disk lied: ${what} are gone`, machine);
    machine.isHeldBack = true;
    let looks = 0;
    const look = (): void => {
      // A member that was removed meanwhile has no place that another one could take.
      if (machine.isGone) return;
      looks += 1;
      const haveIt = this.othersHave(machine);
      if (!haveIt && looks < LIE_LOOKS_MAX) {
        world.scheduler.after(LIE_LOOK_MS, look);
        return;
      }
      machine.isHeldBack = false;
      world.start(haveIt ? machine : world.replace(machine));
    };
    world.scheduler.after(draw.exponential(300), look);
  }

  /** True if every other machine has, durably, what one that is down had acknowledged. */
  private othersHave({ nodeId, durable }: Machine): boolean {
    const others = this.world.present.filter((other) => other.nodeId !== nodeId);
    return others.every(({ process }) =>
      [...durable].every(([group, { index, term }]) => {
        const view = process?.view(group);
        if (view === undefined || view.lastIndex < index) return false;
        return index < view.firstIndex || view.term(index) === term;
      }),
    );
  }

  /** Only where a majority of the others holds everything. */
  wipe(machine: Machine): void {
    const { world, draw } = this;
    if (world.present.length < 3 || !this.isSound) return;
    const other = world.replace(machine);
    world.scheduler.after(draw.exponential(500), () => world.start(other));
  }

  /** A node is asked to remove one. */
  remove(machine: Machine): void {
    const { world, draw } = this;
    const { nodeId } = machine;
    // The remaining members could be too few.
    if (!this.isSound) return;
    const open = world.processes.filter(({ isOpen }) => isOpen);
    if (open.length === 0) return;
    const process = draw.pick(open);
    const number = process.root?.members.get(nodeId)?.number;
    if (number === undefined) return;
    this.hasRemoved = true;
    this.leaving.add(machine);
    const question = { collection: null, code: `remove_node(${number}); nil;`, key: null, name: null };
    world.clients.ask(process, question, (outcome) => {
      if (outcome === 'failed') this.leaving.delete(machine);
    });
  }

  /** Raft's membership changes first, and the list of members follows: the other way several could not go at once. */
  removeAtOnce(leader: Process, machines: readonly Machine[]): void {
    const steps = machines.map(({ nodeId }) => ({ action: 'remove', node: nodeId }) as const);
    const numbers = machines.map(({ nodeId }) => leader.root?.members.get(nodeId)?.number);
    leader.command({ kind: 'change_membership', group: ROOT_GROUP, id: -1, steps });
    for (const machine of machines) this.leaving.add(machine);
    for (const number of numbers) if (number !== undefined) this.delist(number);
  }

  /** True if every machine is a member of every group, and none is about to be lost or to go. */
  get isSound(): boolean {
    const { isComplete, hasDamage } = this.world;
    return isComplete && !hasDamage && [...this.leaving].every(({ isGone }) => isGone);
  }

  /** A leader is told to give a group, or all, to a machine or to whom it likes. */
  transfer(machine: Machine): void {
    const { world, draw } = this;
    const leader = this.leader();
    if (leader?.process == null) return;
    const group = draw.chance(0.5) ? null : draw.pick(leader.process.groups);
    const to = draw.chance(0.5) ? 0 : machine.nodeId;
    leader.process.command({ kind: 'hand_over', group, id: world.scheduler.turns, to, stay: true });
  }

  /** The leader of a group transfers its leadership to a machine. */
  handTo({ nodeId }: Machine, group: GroupId): void {
    const leader = this.world.processes.find(({ host }) => host?.status(group)?.role === 'leader');
    if (!this.raging || leader === undefined || leader.nodeId === nodeId) return;
    leader.command({ kind: 'hand_over', group, id: this.world.scheduler.turns, to: nodeId, stay: true });
  }

  /** All links are whole, and no other fault comes, for a while. */
  calm(ms: number): void {
    const { network, scheduler } = this.world;
    network.heal();
    this.calmUntil = scheduler.now + ms;
  }

  /** A machine that leads some group. */
  leader(): Machine | undefined {
    const leaders = this.world.present.filter(({ process }) => process !== null && leadsAny(process));
    return leaders.length === 0 ? undefined : this.draw.pick(leaders);
  }

  private downMs(): number {
    const { draw } = this;
    return draw.chance(0.3) ? draw.exponential(50) : draw.exponential(1500);
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
    const code = `if (has_node(${number})) remove_node(${number}); nil;`;
    world.clients.ask(draw.pick(open), { collection: null, code, key: null, name: null }, (outcome) => {
      if (outcome !== 'ok') again();
    });
  }
}

function leadsAny({ host }: Process): boolean {
  return host !== null && (host.leading > 0 || host.status(ROOT_GROUP)?.role === 'leader');
}
