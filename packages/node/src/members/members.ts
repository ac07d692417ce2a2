import {
  changeRoot,
  type MemberInfo,
  type RootEditor,
  type RootEvent,
  type RootGroup,
} from '@althing/engine';
import type { Founder } from '../between/cluster-record.js';
import { type Event, type NodeId, ROOT_GROUP } from '../between/protocol.js';
import { CallKind, type Calls } from '../calls/calls.js';
import { Admissions, type AdmissionsOptions } from './admissions.js';
import { Handovers, type HandoversOptions } from './handovers.js';
import { decodeHello, type Hello } from './hello.js';
import { HELLO_MS, Hellos } from './hellos.js';
import { Inviter, type InviterOptions } from './inviter.js';
import { type NextStep, nextStep } from './next-step.js';
import { Overview, type OverviewOptions } from './overview.js';
import { PeerTable } from './peer-table.js';
import { Resting, type RestingOptions } from './resting.js';
import { NOT_OPEN, type RootSession } from './root-session.js';

export interface MembersOptions
  extends Pick<RestingOptions, 'root' | 'memberships' | 'clock'>,
    Pick<OverviewOptions, 'state'>,
    Pick<InviterOptions, 'random'>,
    Pick<HandoversOptions, 'send' | 'nextId'>,
    Pick<AdmissionsOptions, 'replaceAfterMs' | 'report'> {
  readonly self: {
    readonly nodeId: NodeId;
    readonly name: string;
    readonly host: string;
    readonly port: number;
  };
  /** Null until it is open. */
  readonly session: () => RootSession | null;
  /** The nodes to talk to until the list of members is known. */
  readonly founders: readonly Founder[] | null;
  readonly calls: Pick<Calls, 'call' | 'serve'>;
  /** This node is to be removed: resolves when its clients had time to turn away. */
  readonly departs: () => Promise<void>;
  /** Called with changes that the cluster made by itself. */
  readonly changed: (events: readonly RootEvent[]) => void;
}

/** Time for which it counts what a member said of its level, in milliseconds: some hellos. */
const LEVEL_HEARD_MS = 5 * HELLO_MS;

/** Pause after something that did not work, in milliseconds. */
const RETRY_MS = 1000;

/**
 * The members of the cluster: who they are, who comes and who goes. The list lies in the state of the root
 * scope; where this node leads the root group it takes in who may join and brings the Raft groups in line
 * with the list. Everywhere it tells the consensus thread whom to connect to, and the other members how this
 * node is.
 */
export class Members {
  private readonly peers: PeerTable;
  private readonly inviter: Inviter;
  readonly overview: Overview;
  /** The rest of one of two that vote. */
  readonly resting: Resting;
  /** The list that the consensus thread has, and the state that it was made of. */
  private told: { readonly root: RootGroup; readonly version: number } | null = null;
  private readonly admissions: Admissions;
  /** The change of Raft's membership that is under way; 0 for none. */
  private changing = 0;
  private readonly handovers: Handovers;
  private retryAt = 0;
  private readonly hellos: Hellos;
  private lastProblem = '';

  constructor(private readonly options: MembersOptions) {
    const { clock, random, send, nextId, calls } = options;
    this.peers = new PeerTable(clock);
    this.inviter = new Inviter({
      send,
      nextId,
      clock,
      random,
      failed: ({ number, host, port }, problem) =>
        options.report(
          'warn',
          'invitation',
          `node ${number} at ${host}:${port} does not come yet: ${problem}`,
        ),
    });
    this.handovers = new Handovers(options);
    this.overview = new Overview({
      ...options,
      self: options.self.nodeId,
      peers: this.peers,
      levelHeardMs: LEVEL_HEARD_MS,
    });
    this.hellos = new Hellos({
      ...options,
      hello: () => {
        const { name, host, port } = options.self;
        return { name, host, port, level: options.root().knownLevel, ...options.state() };
      },
      peers: this.peers,
    });
    this.resting = new Resting({
      ...options,
      self: options.self.nodeId,
      session: () => this.session,
      peers: this.peers,
    });
    this.admissions = new Admissions({
      ...options,
      self: options.self.nodeId,
      session: () => this.session,
      peers: this.peers,
      inviter: this.inviter,
      propose: (edit, done) => this.propose(edit, done),
    });
    calls.serve(CallKind.Member, (from, payload) => this.takeHello(from, payload));
    calls.serve(CallKind.Handover, (from) => this.leave(from));
    calls.serve(CallKind.Leave, (from) => this.letGo(from));
    calls.serve(CallKind.Rest, (from) => this.letRest(from));
  }

  /**
   * To be called at the start, and whenever the root session changed: its state, its role, its membership.
   */
  rootChanged(): void {
    this.tellPeers();
    if (!this.session.leading) this.changing = 0;
    this.reconcile();
  }

  /** To be called several times a second. */
  tick(): void {
    const { session } = this;
    const { root } = this.options;
    this.tellPeers();
    this.announce();
    this.raiseLevel();
    this.inviter.work(session.leading ? root().invitations : NO_INVITATIONS);
    this.hellos.tick();
    this.reconcile();
  }

  /** This node serves from now on, or does not for long: the others hear of it with the next tick. */
  statusChanged(): void {
    this.hellos.anew();
  }

  /** Takes events about nodes; those that answer others are left alone. */
  handle(event: Event): void {
    switch (event.kind) {
      case 'peer':
        this.peers.noteLink(event.node, event.up, event.version);
        this.handovers.forgetAsked(event.node);
        if (event.up) this.hellos.anew();
        this.resting.linkChanged(event.node);
        this.reconcile();
        return;
      case 'asked_to_join':
        this.admissions.asked(event.id, event.joiner);
        return;
      case 'invited':
        this.admissions.invited(event);
        return;
      case 'membership_answer':
        if (event.id === this.changing) this.changed(event.problem);
        return;
      case 'handed_over':
        this.handovers.done(event.id);
        return;
      default:
    }
  }

  private get session(): RootSession {
    return this.options.session() ?? NOT_OPEN;
  }

  isUp(node: NodeId): boolean {
    return node === this.options.self.nodeId || this.peers.isUp(node);
  }

  /** Gives what this node leads to another member, or to whichever is furthest (null). */
  handOver(to: MemberInfo | null): void {
    this.handovers.some(to);
  }

  /** Gives all leaderships to other members; resolves when that is done, or can't be. */
  giveAway(): Promise<void> {
    return this.handovers.all();
  }

  /** Why a member can't be removed now; null when it can. */
  removalProblem(member: MemberInfo): string | null {
    const rest = [...this.options.root().members.values()].filter(
      ({ nodeId, leaving }) => !leaving && nodeId !== member.nodeId,
    );
    if (rest.length === 0) return 'the last node of a cluster can not be removed';
    const up = rest.filter(({ nodeId }) => this.isUp(nodeId)).length;
    if (up > rest.length / 2) return null;
    return `only ${up} of the ${rest.length} nodes that would stay can be reached: they could not go on without this one`;
  }

  /**
   * Asks the cluster to remove this node. When that is done, the consensus thread hears of it.
   *
   * @throws {Error} when it can't be removed now
   */
  async askToLeave(timeoutMs: number): Promise<void> {
    const { self, calls } = this.options;
    const { leading, leader } = this.session;
    if (leading) await this.letGo(self.nodeId);
    else if (leader === 0) throw new Error('no leader is known at the moment');
    else await calls.call(leader, CallKind.Leave, NOTHING, timeoutMs);
  }

  /** Tells the consensus thread where the members are, whenever that is news. */
  private tellPeers(): void {
    const { root, founders, send } = this.options;
    const state = root();
    if (this.told !== null && this.told.root === state && this.told.version === state.membersVersion) return;
    this.told = { root: state, version: state.membersVersion };
    const known: readonly Founder[] = state.members.size > 0 ? [...state.members.values()] : (founders ?? []);
    // A node that joins gets to know the others by the answer to its question, until it has the list itself.
    if (known.length === 0) return;
    // Members that are new to the list have heard nothing of this node yet.
    this.hellos.anew();
    send({ kind: 'peers', peers: known.map(({ nodeId, host, port }) => ({ nodeId, host, port })) });
  }

  /** Does the next step towards Raft groups with the members of the list. */
  private reconcile(): void {
    const { session } = this;
    const { self, root, memberships, clock } = this.options;
    // A list that is not committed may be taken back: then Raft must not know of it.
    if (!session.leading || session.hasUncommitted || this.changing !== 0 || clock.now() < this.retryAt)
      return;
    const step = nextStep({
      self: self.nodeId,
      members: root().members,
      membership: session.membership,
      memberships,
      isReadyToGo: (node) =>
        this.handovers.wasAsked(node) || !this.peers.isUp(node) || !root().members.has(node),
      wasJustAsked: (node) => !this.peers.isUp(node) || this.handovers.wasJustAsked(node),
      isUp: (node) => this.peers.isUp(node),
      isLost: (node) => this.peers.downFor(node) >= this.options.replaceAfterMs,
      isStopping: (node) => this.resting.isStopping(node),
    });
    switch (step?.kind) {
      case 'change':
        this.change(step.steps);
        return;
      case 'ask_handover':
        this.handovers.ask(step.node, () => this.reconcile());
        return;
      case 'step_down':
        this.handovers.stepDown(() => {
          this.retryAt = clock.now() + RETRY_MS;
        });
        return;
      case 'wait':
        this.failed(`node ${this.numberOf(step.node)} stays until most of the others can be reached`);
        return;
      case 'forget':
        this.forget(step.members);
        return;
      default:
    }
  }

  private numberOf(node: NodeId): string {
    return String(this.options.root().members.get(node)?.number ?? node);
  }

  private changed(problem: string | null): void {
    this.changing = 0;
    // The membership itself is told right behind the answer: what is next, the next tick can see.
    if (problem !== null) this.failed(`the members of the root group can not be changed: ${problem}`);
    else this.lastProblem = '';
  }

  /** Waits before the next attempt; says why, once. */
  private failed(problem: string): void {
    this.retryAt = this.options.clock.now() + RETRY_MS;
    if (problem !== this.lastProblem) this.options.report('warn', 'members', problem);
    this.lastProblem = problem;
  }

  /** The root leader asks this node to give away what it leads, because it is to be removed. */
  private leave(from: NodeId): Promise<Uint8Array> {
    const { root, self, departs, report } = this.options;
    if (!root().members.has(from)) throw new Error('only members may ask for that');
    report('info', 'node_leaves', `this node (${self.name}) is being removed from the cluster`);
    return Promise.all([this.giveAway(), departs()]).then(() => NOTHING);
  }

  /** A member asks to be removed; the answer is that it is in the list as one that leaves. */
  private async letGo(node: NodeId): Promise<Uint8Array> {
    const member = this.options.root().members.get(node);
    if (member === undefined) throw new Error('only members may ask for that');
    if (!this.session.leading) throw new Error('this node does not lead any more');
    if (member.leaving) return NOTHING;
    const problem = this.removalProblem(member);
    if (problem !== null) throw new Error(problem);
    const change = (editor: RootEditor): void => editor.putMember({ ...member, leaving: true });
    const isDone = await new Promise<boolean>((resolve) => this.propose(change, resolve));
    if (!isDone) throw new Error('the change could not be made');
    return NOTHING;
  }

  /** A member that is about to stop asks for its rest. It stays a member. */
  private letRest(node: NodeId): Uint8Array {
    if (this.changing !== 0) throw new Error('other changes are under way');
    this.change([this.resting.allow(node)]);
    return NOTHING;
  }

  private change(steps: Extract<NextStep, { kind: 'change' }>['steps']): void {
    this.changing = this.options.nextId();
    this.options.send({ kind: 'change_membership', group: ROOT_GROUP, id: this.changing, steps });
  }

  private forget(members: readonly MemberInfo[]): void {
    this.propose(
      (editor) => {
        for (const member of members) editor.deleteMember(member);
      },
      (isDone) => {
        if (!isDone) return;
        for (const { nodeId, number, name } of members) {
          this.peers.forget(nodeId);
          this.options.report('info', 'node_removed', `node ${number} (${name}) is no member any more`);
        }
      },
    );
  }

  /** Corrects what the list says of this node. Where another one leads, hellos do. */
  private announce(): void {
    const { session } = this;
    const { root, self } = this.options;
    const known = root().members.get(self.nodeId);
    if (session.leading && !session.hasUncommitted && known !== undefined) this.correct(known, self);
  }

  /** Lets the cluster work at the highest level that all members know, those that are to leave included. */
  private raiseLevel(): void {
    const { session } = this;
    const { report } = this.options;
    const root = this.options.root();
    if (!session.leading || session.hasUncommitted || root.level >= root.knownLevel) return;
    const levels = [...root.members.keys()].map((node) => this.overview.levelOf(node) ?? 0);
    const level = Math.min(root.knownLevel, ...levels);
    if (root.members.size === 0 || level <= root.level) return;
    this.propose(
      (editor) => editor.setLevel(level),
      (isDone) => {
        if (!isDone) return;
        root.confirmLevel();
        report('info', 'level', `all nodes know level ${level}: the cluster works at it from now on`);
      },
    );
  }

  private takeHello(from: NodeId, payload: Uint8Array): Uint8Array {
    const { session } = this;
    const { root } = this.options;
    const hello = decodeHello(payload);
    this.peers.noteHello(from, hello);
    const known = root().members.get(from);
    if (session.leading && !session.hasUncommitted && known !== undefined) this.correct(known, hello);
    return NOTHING;
  }

  /** Corrects the name and the address of a member in the list, unless another one has them. */
  private correct(known: MemberInfo, { name, host, port }: Pick<Hello, 'name' | 'host' | 'port'>): void {
    if (known.name === name && known.host === host && known.port === port) return;
    const others = [...this.options.root().members.values()].filter(({ nodeId }) => nodeId !== known.nodeId);
    const same = others.find((other) => other.name === name || (other.host === host && other.port === port));
    if (same !== undefined) {
      this.failed(
        `node ${known.number} calls itself ${name} at ${host}:${port}, which is node ${same.number}`,
      );
      return;
    }
    this.propose(
      (editor) => editor.putMember({ ...known, name, host, port }),
      () => {},
    );
  }

  private propose(edit: (editor: RootEditor) => void, done: (isDone: boolean) => void): void {
    const { session } = this;
    const { root } = this.options;
    if (session.refusal() !== null) {
      done(false);
      return;
    }
    const change = { ...changeRoot(root(), edit), collectionEvents: [] };
    session.propose(change, { ok: true, result: '' }, ({ ok }) => {
      if (ok) this.options.changed(change.events);
      done(ok);
    });
    this.tellPeers();
  }
}

const NOTHING = new Uint8Array(0);

const NO_INVITATIONS: RootGroup['invitations'] = new Map();
