/** The figures of each Raft group, in the consensus thread. */

import { NumberTable } from '../base/number-table.js';
import type { GroupId } from '../between/protocol.js';
import { SYNC_SECONDS } from '../telemetry/families.js';
import { Histogram, type Metrics } from '../telemetry/metrics.js';
import { label, type Page } from '../telemetry/page.js';

/** Groups with series of their own: those with the lowest numbers. */
export const SEPARATE_MAX = 100;

/** Proposals whose time is remembered, for each group; those beyond are not measured. */
const TIMED_MAX = 10_000;

const PROPOSALS = ['committed', 'refused', 'lost'] as const;

/** A group as it is when the page is asked for. */
export interface GroupNow {
  readonly id: GroupId;
  readonly term: number;
  readonly isLeader: boolean;
  readonly hasLeader: boolean;
  readonly commitIndex: number;
  readonly appliedIndex: number;
  readonly lastIndex: number;
  readonly voters: number;
  readonly learners: number;
  /** Voters that the leader hears of, itself included; 0 on others. */
  readonly reachable: number;
}

type Gauge = readonly [name: string, help: string, value: (group: GroupNow) => number];

const GAUGES: readonly Gauge[] = [
  ['althing_raft_term', 'The current term', ({ term }) => term],
  ['althing_raft_is_leader', '1 when this node leads', ({ isLeader }) => Number(isLeader)],
  ['althing_raft_has_leader', '1 when this node knows a leader', ({ hasLeader }) => Number(hasLeader)],
  ['althing_raft_commit_index', 'The last committed entry', ({ commitIndex }) => commitIndex],
  ['althing_raft_applied_index', 'The last entry in the state', ({ appliedIndex }) => appliedIndex],
  ['althing_raft_last_index', 'The last entry in the log', ({ lastIndex }) => lastIndex],
  ['althing_raft_voters', 'Members with a vote', ({ voters }) => voters],
  ['althing_raft_learners', 'Members without a vote', ({ learners }) => learners],
  ['althing_raft_voters_reachable', 'Voters that the leader hears of', ({ reachable }) => reachable],
  [
    'althing_raft_proposals_pending',
    'Proposed, not committed',
    ({ isLeader, lastIndex, commitIndex }) => (isLeader ? lastIndex - commitIndex : 0),
  ],
];

export class GroupFigures {
  private readonly groups = new Map<GroupId, GroupWatch>();

  /** @param now monotonic milliseconds */
  constructor(
    private readonly metrics: Metrics,
    private readonly now: () => number,
  ) {}

  /** The observer that counts the events of a group. */
  watch(group: GroupId): GroupWatch {
    let figures = this.groups.get(group);
    if (figures === undefined) {
      figures = new GroupWatch(this.metrics, this.now);
      this.groups.set(group, figures);
    }
    return figures;
  }

  /** Adds the groups to a page; figures of groups that are gone are summed with those beyond the limit. */
  addTo(page: Page, groups: readonly GroupNow[]): void {
    const separate = [...groups].sort((a, b) => a.id - b.id).slice(0, SEPARATE_MAX);
    for (const [name, help, value] of GAUGES) {
      page.family(
        { name, type: 'gauge', help },
        separate.map((group) => [label('group', String(group.id)), value(group)]),
      );
    }
    const counted = this.counted(new Set(separate.map(({ id }) => id)));
    page.family(
      { name: 'althing_raft_leader_changes_total', type: 'counter', help: 'Changes of leader' },
      counted.map(([group, { leaderChanges }]) => [group, leaderChanges]),
    );
    page.family(
      { name: 'althing_raft_proposals_total', type: 'counter', help: 'Changes proposed by this node' },
      counted.flatMap(([group, { proposals }]) =>
        PROPOSALS.map((outcome, i) => [`${group},${label('outcome', outcome)}`, proposals[i] ?? 0] as const),
      ),
    );
    const name = 'althing_raft_commit_latency_seconds';
    page.begin({ name, type: 'histogram', help: 'From proposal to commit' });
    for (const [group, { latency }] of counted) page.histogram(name, group, SYNC_SECONDS, latency.cells);
  }

  /** The figures by their labels: each of the separate groups, and the sum of the others if there are any. */
  private counted(separate: ReadonlySet<GroupId>): (readonly [string, Counted])[] {
    const all: (readonly [string, Counted])[] = [];
    const rest: Counted[] = [];
    for (const [id, figures] of this.groups) {
      if (separate.has(id)) all.push([label('group', String(id)), figures]);
      else rest.push(figures);
    }
    if (rest.length > 0) all.push([label('group', 'other'), sumOf(rest)]);
    return all;
  }
}

interface Counted {
  readonly leaderChanges: number;
  readonly proposals: readonly number[];
  readonly latency: Pick<Histogram, 'cells'>;
}

/** The events of a Raft group, counted. */
export class GroupWatch implements Counted {
  leaderChanges = 0;
  readonly proposals: [number, number, number] = [0, 0, 0];
  readonly latency = new Histogram(SYNC_SECONDS);
  /** Proposals of one moment that are not committed: their last index, and the time. */
  private pending: { readonly index: number; readonly at: number }[] = [];
  private readonly reads = new NumberTable<number>();
  private leader = 0;

  constructor(
    private readonly metrics: Metrics,
    private readonly now: () => number,
  ) {}

  /** This node, leading, proposed everything up to an index: one time for so many entries. */
  proposed(index: number): void {
    if (this.pending.length < TIMED_MAX) this.pending.push({ index, at: this.now() });
  }

  /** So many entries could not be proposed. */
  refused(count: number): void {
    this.proposals[1] += count;
  }

  /** So many entries that this node proposed are committed, the last one with this index. */
  committed(lastIndex: number, count: number): void {
    this.proposals[0] += count;
    const now = this.now();
    let done = 0;
    for (const { index, at } of this.pending) {
      if (index > lastIndex) break;
      this.latency.observe((now - at) / 1000);
      this.metrics.observe('commitSeconds', (now - at) / 1000);
      done += 1;
    }
    if (done > 0) this.pending.splice(0, done);
  }

  /** Proposals that are not committed may never be. */
  lost(): void {
    this.proposals[2] += this.pending.length;
    this.pending = [];
  }

  readAsked(id: number): void {
    this.reads.set(id, this.now());
  }

  readAnswered(id: number): void {
    const asked = this.reads.get(id);
    if (asked === undefined) return;
    this.reads.delete(id);
    this.metrics.observe('readIndexSeconds', (this.now() - asked) / 1000);
  }

  /** Another leader than before, or none (0). */
  leaderChanged(leader: number): void {
    if (leader !== 0 && leader !== this.leader) this.leaderChanges += 1;
    if (leader !== 0) this.leader = leader;
  }
}

function sumOf(all: readonly Counted[]): Counted {
  const proposals = [0, 0, 0];
  const latency = new Histogram(SYNC_SECONDS);
  let leaderChanges = 0;
  for (const one of all) {
    leaderChanges += one.leaderChanges;
    one.proposals.forEach((count, i) => {
      proposals[i] = (proposals[i] ?? 0) + count;
    });
    one.latency.cells.forEach((count, i) => {
      latency.cells[i] = (latency.cells[i] ?? 0) + count;
    });
  }
  return { leaderChanges, proposals, latency };
}
