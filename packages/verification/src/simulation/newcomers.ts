/** Machines that join the cluster: they ask for it, or are called by `new_node()`, in whatever order that happens. */
import { LEVEL_NEWEST } from '@althing/engine';
import type { InviteAnswer, InvitedPlace, JoinAnswer } from '@althing/node/parts';
import { type Machine, NODE_PORT } from './machine.js';
import type { Process } from './process.js';
import { Draw } from './random.js';
import type { World } from './world.js';

/** Time between two questions of a node that wants to join, in milliseconds. */
const JOIN_MS = 300;

/** The number of times a question is passed on to the node that is said to lead. */
const HOPS_MAX = 4;

/** Time that an answer to an invitation may take. */
const ANSWER_MS = 2000;

/** The prefix of a machine's name that makes another address of it. */
const ALIAS = 'alias-of-';

/** Any secret is that of the cluster: who proves it is not what is simulated. */
const SECRET = 'a-secret-of-the-simulator';

export class Newcomers {
  private readonly draw: Draw;
  private readonly invitationDraw: Draw;
  /** Numbers of the invitations that machines have accepted, and which machine called them. */
  private readonly accepted = new Map<Machine, { readonly number: number; readonly by: Machine }>();

  constructor(private readonly world: World) {
    this.draw = new Draw(world.seed, 'join', world.scheduler);
    this.invitationDraw = new Draw(world.seed, 'invitations', world.scheduler);
  }

  /** A client asks for `new_node()`, by the name of the machine or by another one, before it comes or after that. */
  callIn(machine: Machine): void {
    const { world, invitationDraw } = this;
    if (!invitationDraw.chance(0.6)) return;
    const host = invitationDraw.chance(0.4) ? `${ALIAS}${machine.name}` : machine.name;
    world.scheduler.after(invitationDraw.exponential(400), () => {
      const open = world.processes.filter(({ isOpen }) => isOpen);
      if (open.length === 0 || machine.isGone) return;
      const code = `new_node('${SECRET}', '${host}', ${NODE_PORT});`;
      const question = { collection: null, code, key: null, name: null };
      world.clients.ask(invitationDraw.pick(open), question, (outcome) =>
        world.reached.add(`new_node is ${outcome}`),
      );
    });
  }

  /** Asks one node after the other until the cluster takes this one in. */
  join(process: Process): Promise<void> {
    return new Promise((resolve) => this.askAround(process, resolve));
  }

  private askAround(process: Process, joined: () => void): void {
    const { machine, consensusThread } = process;
    const { network } = this.world;
    const { nodeId, name } = machine;
    let isDone = false;
    const attempt = (): void => {
      if (isDone) return;
      consensusThread.after(JOIN_MS, attempt);
      const others = this.world.processes.filter(
        ({ consensus }) => consensus !== null && consensus.side.host !== process.host,
      );
      if (others.length === 0) return;
      const invitation = this.accepted.get(machine);
      const number = invitation?.number;
      const joiner = {
        ...{ nodeId, name, host: name, port: NODE_PORT, level: LEVEL_NEWEST },
        ...(number === undefined ? {} : { invitation: number }),
      };
      const ask = (target: Process, hops: number): void => {
        const take = (answer: JoinAnswer): void => {
          if (isDone) return;
          isDone = answer.kind === 'accepted' || answer.kind === 'removed';
          if (answer.kind === 'accepted') joined();
          else if (answer.kind === 'removed') this.world.retire(machine);
          else if (answer.kind === 'refused' && this.accepted.get(machine) === invitation)
            this.accepted.delete(machine);
          else if (answer.kind === 'redirect' && hops < HOPS_MAX) {
            const next = others.find((other) => other.machine.name === answer.host);
            if (next !== undefined) ask(next, hops + 1);
          }
        };
        network.carry(nodeId, target.nodeId, true, () =>
          target.consensusThread.after(0, () =>
            target.consensus?.side.network
              .askToJoin(joiner)
              .then((answer) =>
                network.carry(target.nodeId, nodeId, true, () =>
                  consensusThread.after(0, () => take(answer)),
                ),
              ),
          ),
        );
      };
      ask(others.find((other) => other.machine === invitation?.by) ?? this.draw.pick(others), 0);
    };
    attempt();
  }

  /** A member calls the machine at a place; it is told what that one answers. */
  invite(from: Process, { host, number }: InvitedPlace): Promise<InviteAnswer> {
    const { world } = this;
    const name = host.replace(ALIAS, '');
    return new Promise((resolve, reject) => {
      from.consensusThread.after(ANSWER_MS, () => reject(new Error('nobody answers there')));
      const target = world.present.find((machine) => machine.name === name);
      if (target === undefined) return;
      world.network.carry(from.nodeId, target.nodeId, true, () => {
        target.process?.consensusThread.after(0, () => {
          const answer = this.answerOf(target, number, from.machine);
          world.network.carry(target.nodeId, from.nodeId, true, () =>
            from.consensusThread.after(0, () => resolve(answer)),
          );
        });
      });
    });
  }

  private answerOf(machine: Machine, number: number, by: Machine): InviteAnswer {
    if (!machine.isOutside) return { problem: 'the node belongs to a cluster', node: machine.nodeId };
    this.world.reached.add('a node accepts an invitation');
    this.accepted.set(machine, { number, by });
    return { problem: null };
  }

  /** An invitation at a process whose node is a member already, which its leader is to notice when it asks again; null for none. */
  staleInvitation({ root }: Process): string | null {
    for (const { host, number } of root?.invitations.values() ?? []) {
      const name = host.replace(ALIAS, '');
      const isMember = this.world.present.some((machine) => machine.name === name && !machine.isOutside);
      if (isMember) return `invitation ${number} stays, though ${host} has joined`;
    }
    return null;
  }
}
