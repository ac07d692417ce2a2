import type { Command, CommittedEntry, GroupId, NodeEvent, NodeId } from '../between/protocol.js';
import { PreparedAnswers } from '../consensus/prepared-answers.js';
import type { MiniCluster } from './mini-cluster.js';

interface Proposal {
  readonly node: NodeId;
  readonly payload: Uint8Array;
}

/** The log of one group, as the nodes agree on it. */
export class MiniLog {
  leader: NodeId = 0;
  private proposals: Proposal[] = [];
  private index = 1;
  private epoch = 0;
  private isSuspended = false;
  /** True if the leader is about to give away the leadership, and does nothing in part any more. */
  isReleased = false;
  private readonly answers = new PreparedAnswers((answer) => this.cluster.node(this.leader).answer(answer));

  constructor(
    private readonly cluster: MiniCluster,
    private readonly group: GroupId,
  ) {}

  get uncommitted(): number {
    return this.proposals.length;
  }

  /** Makes another node the leader; of the proposals so far only the first `kept` survive. */
  lead(node: NodeId, kept = this.proposals.length): void {
    const survive = this.proposals.slice(0, kept);
    this.proposals = [];
    this.depose();
    this.agree(survive.map(({ payload }) => payload));
    this.leader = node;
    this.isSuspended = false;
    this.isReleased = false;
    this.epoch += 1;
    this.agree([]);
    this.tellAll((id) =>
      id === node
        ? { kind: 'leading', group: this.group, epoch: this.epoch }
        : { kind: 'following', group: this.group, term: this.epoch, leader: node },
    );
  }

  /** Takes the leadership away; nobody has it then. */
  depose(): void {
    if (this.leader === 0) return;
    this.leader = 0;
    this.answers.clear();
    this.tellAll(() => ({ kind: 'following', group: this.group, term: this.epoch, leader: 0 }));
  }

  /**
   * The leader can't write: its engine side takes back what is not committed, though it may be committed yet.
   */
  suspend(): void {
    this.isSuspended = true;
    this.answers.clear();
    this.cluster.node(this.leader).tell({ kind: 'suspended', group: this.group });
  }

  /** The leadership is about to go to another node. */
  announceTransfer(): void {
    this.cluster.node(this.leader).tell({ kind: 'giving_away', group: this.group, epoch: this.epoch });
  }

  /** Nobody else could have the leadership. */
  keep(): void {
    this.isReleased = false;
    this.cluster.node(this.leader).tell({ kind: 'kept', group: this.group, epoch: this.epoch });
  }

  release(epoch: number): void {
    this.isReleased = epoch === this.epoch;
  }

  /** The leader can write again. */
  resume(): void {
    this.commitAll();
    this.isSuspended = false;
    this.epoch += 1;
    this.cluster.node(this.leader).tell({ kind: 'leading', group: this.group, epoch: this.epoch });
  }

  propose(
    node: NodeId,
    { epoch, payloads, answers = [] }: Extract<Command, { readonly kind: 'propose' }>,
  ): void {
    if (node !== this.leader || epoch !== this.epoch) return;
    this.answers.add(this.index + this.proposals.length + 1, answers);
    for (const payload of payloads) this.proposals.push({ node, payload });
  }

  read(node: NodeId, id: number): void {
    const index = this.leader === 0 ? null : this.index;
    this.cluster.node(node).tell({ kind: 'read', group: this.group, id, index });
  }

  /** @returns whether there was anything to commit */
  commitAll(): boolean {
    if (this.proposals.length === 0 || this.leader === 0) return false;
    const committed = this.proposals.splice(0);
    const first = this.index + 1;
    this.index += committed.length;
    const last = { index: this.index, term: this.epoch, hash: this.index };
    this.answers.commit(this.index);
    this.tellAll((id) =>
      id === this.leader && !this.isSuspended
        ? { kind: 'committed', group: this.group, count: committed.length, last }
        : { kind: 'entries', group: this.group, entries: this.entries(first, committed), last },
    );
    return true;
  }

  /** Commits entries for everyone, as a new leader does, with one that says nothing at the end. */
  private agree(payloads: readonly Uint8Array[]): void {
    const first = this.index + 1;
    this.index += payloads.length + 1;
    const last = { index: this.index, term: this.epoch, hash: this.index };
    const entries = this.entries(
      first,
      payloads.map((payload) => ({ payload })),
    );
    this.tellAll(() => ({ kind: 'entries', group: this.group, entries, last }));
  }

  private entries(first: number, payloads: readonly { readonly payload: Uint8Array }[]): CommittedEntry[] {
    return payloads.map(({ payload }, i) => {
      const index = first + i;
      return { index, term: this.epoch, hash: index, payload };
    });
  }

  private tellAll(event: (node: NodeId) => NodeEvent): void {
    for (const node of this.cluster.nodes) node.tell(event(node.id));
  }
}
