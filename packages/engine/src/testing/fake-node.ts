import type { MemberInfo } from '../admin/member.js';
import { COUNTER_KEYS, type ModuleLook, NODE_INFO_KEYS, type NodeInfo, type NodeView } from '../node-view.js';
import { RunFigures } from '../run/run-figures.js';
import { FakeBackups } from './fake-backups.js';

/** A node that notes what it is told to do, and does nothing. */
export class FakeNode implements NodeView {
  /** Why nothing can be added or removed. */
  problem: string | null = null;
  readonly done: string[] = [];
  readonly backups = new FakeBackups();
  /** The status of each node, by its number. */
  statuses: readonly string[] = ['READY'];
  readonly restores = { check: (): void => {} };
  readonly modules = {
    deploys: true,
    look: () => LOOK,
    restart: (id: number): void => {
      this.done.push(`restart module ${id}`);
    },
  };

  info(): NodeInfo {
    const all = Object.fromEntries(NODE_INFO_KEYS.map((key) => [key, 'x'])) as NodeInfo;
    return { ...all, node_id: 0, status: 'READY', uptime: 1.5 };
  }

  nodes() {
    const rest = { committed: 7, stored: 5, zone: 3, name: 'first', port: 9220, stream: null };
    return this.statuses.map((status, number) => ({ number, status, ...rest }));
  }

  groups() {
    return [
      {
        scope: '@thingsdb',
        role: 'follower',
        leader: 2,
        applied: 7,
        voters: [0, 2],
        learners: [3],
        ...POSITION,
      } as const,
    ];
  }

  level() {
    return { level: 1, known: 2, waitsFor: ['second'], warnings: ['mind this'] };
  }

  counters() {
    return Object.fromEntries(COUNTER_KEYS.map((key) => [key, 3])) as ReturnType<NodeView['counters']>;
  }

  queries() {
    return [{ shape: '.x = ?', scope: '@collection:stuff', figures: figures(), last: 1_700_000_000 }];
  }

  procedures() {
    return [{ name: 'add', scope: '@thingsdb', figures: figures(), last: 1_700_000_000 }];
  }

  history(since: number) {
    const values = [1, null];
    return {
      stepSeconds: 5,
      times: [since, since + 5],
      series: [
        { name: 'requests', part: 'ok', isFloat: false, values },
        { name: 'requests', part: 'error', isFloat: false, values },
        { name: 'connections', part: null, isFloat: true, values },
      ],
      marks: [{ at: 7, kind: 'start', text: 'the node was started' } as const],
    };
  }

  collectionBytes(): number {
    return 4096;
  }

  connections() {
    const http = { id: null, user: null, since: null, requests: null, count: 12 };
    return [
      {
        id: 3,
        transport: 'tcp',
        address: '192.0.2.1',
        user: 'kim',
        since: 1_700_000_000,
        requests: 1,
        count: 1,
      },
      { ...http, transport: 'http', address: null },
    ];
  }

  requests() {
    const ended = { isRunning: false, address: null, from: null, scope: '@collection:stuff' };
    return [
      {
        ...ended,
        id: 5,
        request: 'r-5',
        waitsFor: 'commit',
        ageMs: 1500,
        ranMs: 2,
        user: 'kim',
        kind: 'run',
        text: 'add',
      },
    ];
  }

  cancelRequest(id: number | bigint): void {
    this.done.push(`cancel ${id}`);
  }

  resetCounters(): void {
    this.done.push('reset');
  }

  setLogLevel(level: number): void {
    this.done.push(`level ${level}`);
  }

  setConfig(name: string, value: string): void {
    this.done.push(`${name} = ${value}`);
  }

  shutDown(): void {
    this.done.push('stop');
  }

  handOver(to: MemberInfo | null): void {
    this.done.push(to === null ? 'hand over' : `hand over to ${to.name}`);
  }

  invitationProblem(): string | null {
    return this.problem;
  }

  isClusterSecret(secret: string): boolean {
    return !secret.startsWith('one-time');
  }

  removalProblem(): string | null {
    return this.problem;
  }
}

/** Columns of a run that went well, and of one that failed. */
function figures(): RunFigures {
  const both = new RunFigures();
  both.note({ isOk: true, ranMs: 2, waitedMs: 6, thingsRead: 5, coldReads: 1, at: 0 });
  both.note({ isOk: false, ranMs: 4, waitedMs: 0, thingsRead: 1, coldReads: 0, at: 0 });
  return both;
}

const POSITION = { term: 4, commit: 8, last: 9, members: [{ node: 2, match: 7, state: 'replicate' }] };

const LOOK: ModuleLook = { status: 'running', file: 'X/x', manifest: null, tasks: 0, restarts: 0 };
