/** The interpreter of scenario scripts; `scenarios/README.md` describes the commands. */
import type { LeaseOptions } from '../config.js';
import { formatEntry, formatMembership, formatMessage, formatTrace } from '../format.js';
import { membershipOf, NO_MEMBERS } from '../membership.js';
import type { Message } from '../messages.js';
import { RaftNode } from '../node.js';
import type { Ready } from '../readying.js';
import type { PeerStatus, Status } from '../status.js';
import type { Entry, NodeId } from '../types.js';
import { Cluster, isTicket } from './cluster.js';
import type { RaftNodeClass } from './plant.js';
import {
  bytesOf,
  changeFrom,
  entriesOf,
  numbersOf,
  optionsOf,
  promisedOf,
  scalarOf,
} from './scenario-words.js';
import { type Command, parseScript, printScript, ScriptError } from './script.js';

/**
 * Runs a script and returns it with the output that came now. Throws if an `expect` or an invariant fails.
 */
export function runScript(text: string, nodeClass: RaftNodeClass = RaftNode): string {
  const parts = parseScript(text);
  const scenario = new Scenario(nodeClass);
  const outputs: (readonly string[])[] = [];
  for (const part of parts) {
    if (part.kind === 'block') outputs.push(scenario.run(part.block.commands));
  }
  return printScript(parts, outputs);
}

const SETTLE_ROUNDS = 200;
const TICK_MS = 100;

class Scenario {
  private cluster: Cluster | null = null;
  private lines: string[] = [];
  private shows = true;
  private clock_ms = 0;

  constructor(private readonly nodeClass: RaftNodeClass) {}

  run(commands: readonly Command[]): readonly string[] {
    this.lines = [];
    for (const command of commands) {
      try {
        this.do(command);
      } catch (error) {
        if (error instanceof Error) error.message = `${command.text}: ${error.message}`;
        throw error;
      }
    }
    return this.lines.length === 0 ? ['ok'] : this.lines;
  }

  private get nodes(): Cluster {
    if (this.cluster === null) throw new ScriptError('The first command must be: cluster');
    return this.cluster;
  }

  private say(line: string): void {
    if (this.shows) this.lines.push(line);
  }

  private do(command: Command): void {
    const { name, words, options } = command;
    switch (name) {
      case 'cluster':
        this.begin(command);
        return;
      case 'show':
        this.shows = words[0] === 'on';
        return;
      case 'settle':
        this.settle(words.map(Number));
        return;
      case 'deliver':
        this.deliver(command);
        return;
      case 'drop':
        this.drop(command);
        return;
      case 'repeat':
        this.nodes.messages.push(...this.messagesFor(command));
        return;
      case 'messages':
        for (const message of this.messagesFor(command)) this.lines.push(formatMessage(message));
        return;
      case 'step':
        this.step(command);
        return;
      case 'tick':
        this.tick(words[0] ?? 'all', Number(words[1] ?? 1));
        return;
      case 'run':
        for (let count = Number(words[0] ?? 1); count > 0; count -= 1) {
          this.tick('all', 1);
          this.settle([]);
        }
        return;
      case 'clock':
        this.clock_ms += Number(words[0]);
        return;
      case 'cut':
      case 'isolate':
      case 'heal':
        this.cutLinks(name, words);
        return;
      case 'status':
      case 'progress':
      case 'log':
        this.look(name, words);
        return;
      case 'expect':
        this.expect(command);
        return;
      case 'add':
        this.nodes.add(Number(words[0]), NO_MEMBERS, optionsOf(options));
        return;
      case 'restart':
        this.nodes.restart(Number(words[0]), optionsOf(options), promisedOf(options));
        return;
      case 'lose-tail':
        this.loseTail(Number(words[0]), Number(options.get('from')));
        return;
      default:
        this.doAt(command, Number(words[0]));
    }
  }

  private doAt({ name, words, options, text }: Command, id: NodeId): void {
    const cluster = this.nodes;
    const host = cluster.host(id);
    switch (name) {
      case 'campaign':
        if (!host.node.campaign()) this.say(`${id} may not campaign`);
        return;
      case 'timeout':
        this.timeout(id);
        return;
      case 'ready':
        this.sayReady(id, cluster.ready(id));
        return;
      case 'persist':
        for (const message of cluster.persist(id, words[1] === undefined ? undefined : Number(words[1]))) {
          this.say(`  sends ${formatMessage(message)}`);
        }
        return;
      case 'apply':
        this.sayApplied(id, cluster.apply(id));
        return;
      case 'propose':
        this.sayResult(id, host.node.propose(words.slice(1).map(bytesOf)));
        return;
      case 'change':
        this.sayResult(id, host.node.proposeChange(changeFrom(words.slice(1))));
        return;
      case 'read':
        this.sayResult(id, cluster.read(id, words[1] ?? 'r'));
        return;
      case 'transfer':
        this.sayResult(id, host.node.transferLeadership(Number(options.get('to'))));
        return;
      case 'checkpoint':
        host.checkpoint();
        return;
      case 'compact':
        host.checkpoint();
        host.compact(Number(options.get('keep') ?? 0));
        this.say(`${id} has its log from ${host.node.status().firstIndex} on`);
        return;
      case 'crash':
        cluster.crash(id, Number(options.get('survivors') ?? 0));
        return;
      case 'quiesce':
        if (!host.node.quiesce(numbersIn(options.get('without') ?? '')))
          this.say(`${id} can not fall silent`);
        return;
      case 'gone':
        host.node.memberGone(Number(options.get('peer')));
        return;
      case 'back':
        host.node.memberBack(Number(options.get('peer')));
        return;
      case 'wake':
        host.node.wake();
        return;
      case 'silent':
        host.node.leaderSilent();
        return;
      case 'unreachable':
        host.node.reportUnreachable(Number(options.get('peer')));
        return;
      case 'snapshot-report':
        host.node.reportSnapshot(Number(options.get('peer')), options.get('arrived') === 'yes');
        return;
      default:
        throw new ScriptError(`No such command: ${text}`);
    }
  }

  private begin({ options }: Command): void {
    const voters = numbersOf(options.get('voters') ?? '1 2 3');
    const learners = numbersOf(options.get('learners') ?? '');
    const lease: LeaseOptions = { clock_ms: () => this.clock_ms, tick_ms: TICK_MS, maxDrift: 0 };
    const membership = membershipOf(voters, learners);
    const cluster = new Cluster({
      seed: Number(options.get('seed') ?? 1),
      membership,
      options: optionsOf(options),
      nodeClass: this.nodeClass,
      onTrace: (event) => this.say(`${event.node}: ${formatTrace(event)}`),
      onRead: (node, result) => {
        const name = isTicket(result.context) ? result.context.name : '?';
        const outcome = result.outcome === 'ready' ? `at ${result.index}` : `dropped (${result.reason})`;
        this.say(`${node}: read ${name} ${outcome}`);
      },
      ...(options.get('lease') === 'on' ? { lease } : {}),
    });
    this.cluster = cluster;
    for (const id of [...voters, ...learners]) cluster.add(id, membership);
  }

  /** Works and delivers until nothing is left to do; without ids, everywhere. Ticks nobody. */
  private settle(ids: readonly NodeId[]): void {
    const cluster = this.nodes;
    const takesPart = (id: NodeId): boolean => ids.length === 0 || ids.includes(id);
    for (let round = 0; round < SETTLE_ROUNDS; round += 1) {
      let busy = false;
      for (const { id } of cluster.running.filter((host) => takesPart(host.id))) busy = this.work(id) || busy;
      // Only what is under way now: what follows from it belongs to the next round.
      for (const message of [...cluster.messages]) {
        if (!takesPart(message.to)) continue;
        this.deliverOne(message);
        busy = true;
      }
      if (!busy) return;
    }
    throw new ScriptError(`Nothing settled within ${SETTLE_ROUNDS} rounds`);
  }

  /** Does whatever a host can do without others. Whether there was something. */
  private work(id: NodeId): boolean {
    const cluster = this.nodes;
    const host = cluster.host(id);
    let busy = false;
    for (let round = 0; round < SETTLE_ROUNDS; round += 1) {
      if (host.node.hasReady()) cluster.ready(id);
      else if (host.writes.length > 0) cluster.persist(id);
      else if (host.isApplying) this.sayApplied(id, cluster.apply(id));
      else return busy;
      busy = true;
    }
    throw new ScriptError(`${id} has always something to do`);
  }

  private deliver(command: Command): void {
    const messages = this.messagesFor(command);
    const count = Number(command.options.get('count') ?? messages.length);
    for (const message of messages.slice(0, count)) this.deliverOne(message);
  }

  private deliverOne(message: Message): void {
    const { messages } = this.nodes;
    const at = messages.indexOf(message);
    if (at < 0) return;
    this.say(formatMessage(message));
    if (this.nodes.deliver(at) === null) this.say('  lost');
  }

  private drop(command: Command): void {
    const cluster = this.nodes;
    for (const message of this.messagesFor(command)) {
      this.say(`lost: ${formatMessage(message)}`);
      cluster.messages.splice(cluster.messages.indexOf(message), 1);
      if (command.options.get('report') !== 'no') cluster.onLost(message);
    }
  }

  private messagesFor({ options }: Command): Message[] {
    const from = options.get('from');
    const to = options.get('to');
    const kind = options.get('kind');
    const found = this.nodes.messages.filter((message) => {
      if (from !== undefined && message.from !== Number(from)) return false;
      if (to !== undefined && message.to !== Number(to)) return false;
      return kind === undefined || message.kind === kind;
    });
    const first = options.get('first');
    return first === undefined ? found : found.slice(0, Number(first));
  }

  /**
   * Hands a message of the script's own making to a node: `step 1 kind=heartbeat from=2 term=5 commit=9
   * round=0`.
   */
  private step({ words, options }: Command): void {
    const id = Number(words[0]);
    const { node, disk } = this.nodes.host(id);
    const fields: Record<string, unknown> = { to: id, entries: [], notice: false };
    for (const [key, value] of options)
      fields[key] = /^[\d.e+-]+$/.test(value) ? Number(value) : scalarOf(value);
    if (fields.kind === 'append') {
      // The hash of what is at `prevIndex` here, unless another one is given, and entries that follow from
      // it.
      const prevIndex = Number(fields.prevIndex);
      const { log } = disk;
      const isHere = prevIndex >= log.firstIndex() - 1 && prevIndex <= log.lastIndex();
      fields.prevHash ??= isHere ? log.hash(prevIndex) : 0;
      fields.entries = entriesOf(options.get('entries') ?? '', Number(fields.prevHash));
    }
    // The point is to hand over what the types forbid.
    const result = node.step(fields as unknown as Message);
    const reason = result.status === 'ok' ? '' : ` (${result.reason})`;
    this.say(`${id}: ${result.status}${reason}`);
  }

  private tick(who: string, count: number): void {
    const cluster = this.nodes;
    const ids = who === 'all' ? cluster.running.map(({ id }) => id) : who.split(',').map(Number);
    for (let at = 0; at < count; at += 1) {
      this.clock_ms += TICK_MS;
      for (const id of ids) cluster.tick(id);
    }
  }

  private timeout(id: NodeId): void {
    const { node } = this.nodes.host(id);
    const before = node.status().lastElection;
    for (let count = 0; count < 100; count += 1) {
      this.nodes.tick(id);
      const { lastElection } = node.status();
      if (lastElection !== null && lastElection.ticksAgo === 0 && lastElection !== before) return;
    }
    throw new ScriptError(`${id} does not campaign`);
  }

  private cutLinks(name: string, words: readonly string[]): void {
    const { cut, disks } = this.nodes;
    if (name === 'heal') cut.clear();
    else if (name === 'isolate') {
      for (const id of disks.keys()) {
        cut.add(`${words[0]}>${id}`);
        cut.add(`${id}>${words[0]}`);
      }
    } else if (words[0]!.includes('>')) cut.add(words[0]!);
    else {
      cut.add(`${words[0]}>${words[1]}`);
      cut.add(`${words[1]}>${words[0]}`);
    }
  }

  private look(name: string, words: readonly string[]): void {
    const all = words.length === 0 || words[0] === 'all';
    for (const host of this.nodes.running.filter(({ id }) => all || words.includes(String(id)))) {
      const status = host.node.status();
      if (name === 'status') this.lines.push(statusLine(status));
      if (name === 'progress') for (const peer of status.peers) this.lines.push(progressLine(host.id, peer));
      if (name === 'log') {
        const { log } = host.disk;
        const entries = log.entries(log.firstIndex(), log.lastIndex() + 1, Number.MAX_SAFE_INTEGER);
        this.lines.push(`${host.id}: ${entries.map(formatEntry).join(', ')}`);
      }
    }
  }

  private expect({ words, options }: Command): void {
    const status = this.nodes.host(Number(words[0])).node.status();
    const actual: Record<string, unknown> = {
      ...status,
      commit: status.commitIndex,
      applied: status.appliedIndex,
      last: status.lastIndex,
      stable: status.stableIndex,
      first: status.firstIndex,
      voters: status.membership.voters.join(' '),
      learners: status.membership.learners.join(' '),
      removed: status.membership.removed.join(' '),
      outgoing: status.membership.outgoing.join(' '),
    };
    for (const [key, value] of options) {
      if (String(actual[key]) !== value) throw new ScriptError(`${key} is ${String(actual[key])}`);
    }
  }

  private loseTail(id: NodeId, from: number): void {
    const disk = this.nodes.disks.get(id);
    if (disk === undefined || this.nodes.hosts.has(id))
      throw new ScriptError('Only a crashed host loses its tail');
    const copy = disk.log.clone();
    const entries = copy.entries(copy.firstIndex(), from, Number.MAX_SAFE_INTEGER);
    copy.cutFrom(from);
    disk.log = copy;
    this.say(`${id} has ${entries.length} entries left`);
  }

  private sayResult(id: NodeId, result: { readonly status: string; readonly reason?: string }): void {
    const reason = result.reason === undefined ? '' : ` (${result.reason})`;
    if (result.status !== 'accepted') this.say(`${id}: ${result.status}${reason}`);
  }

  private sayApplied(id: NodeId, entries: readonly Entry[]): void {
    const shown = entries.filter((entry) => entry.kind === 'normal').map(formatEntry);
    if (shown.length > 0) this.say(`${id}: applies ${shown.join(', ')}`);
  }

  private sayReady(id: NodeId, ready: Ready): void {
    const { soft, write, messages, committed, membership } = ready;
    this.say(`${id} is ready:`);
    if (soft !== null) this.say(`  is ${soft.role} in term ${soft.term}, leader ${soft.leader}`);
    if (membership !== null) this.say(`  membership ${formatMembership(membership.membership)}`);
    if (write !== null) {
      const { hardState, snapshot, entries, sequence } = write;
      this.say(`  write ${sequence}`);
      if (hardState !== null)
        this.say(`    term=${hardState.term} vote=${hardState.vote} commit=${hardState.commit}`);
      if (snapshot !== null) this.say(`    snapshot ${snapshot.index}/${snapshot.term}`);
      for (const entry of entries) this.say(`    ${formatEntry(entry)}`);
    }
    for (const message of messages) this.say(`  sends ${formatMessage(message)}`);
    for (const entry of committed) this.say(`  apply ${formatEntry(entry)}`);
  }
}

function statusLine(status: Status): string {
  const { id, role, term, vote, leader, appliedIndex, commitIndex, stableIndex, lastIndex, lastTerm } =
    status;
  const flags = `${status.quiesced ? ' quiesced' : ''}${status.recovering ? ' recovering' : ''}`;
  const indexes = `applied=${appliedIndex} commit=${commitIndex} stable=${stableIndex} last=${lastIndex}/${lastTerm}`;
  return `${id}: ${role} term=${term} vote=${vote} leader=${leader} ${indexes}${flags}`;
}

function progressLine(id: NodeId, peer: PeerStatus): string {
  const { node, state, match, next, paused, inflightMessages, recovering } = peer;
  const flags = `${paused ? ' paused' : ''}${recovering ? ' recovering' : ''}`;
  const inflight = inflightMessages > 0 ? ` inflight=${inflightMessages}` : '';
  return `${id}: ${node} ${state} match=${match} next=${next}${inflight}${flags}`;
}

function numbersIn(text: string): ReadonlySet<number> {
  return new Set((text.match(/\d+/g) ?? []).map(Number));
}
