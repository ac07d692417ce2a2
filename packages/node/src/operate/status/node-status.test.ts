import { hash } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { membershipOf } from 'raft-ts';
import { type LongRun, Phase } from '../../between/shared-status.js';
import type { GroupHost } from '../../consensus/group-host.js';
import { problemOf } from './check.js';
import { NodeStatus, type NodeStatusOptions } from './node-status.js';

type RootStatus = NonNullable<ReturnType<GroupHost['status']>>;

const DAY_MS = 86_400_000;

/** A node that is well in every respect, node 1 of three, which node 2 leads; and how it may be otherwise. */
class World {
  now = 1000;
  phase: Phase = Phase.READY;
  isCaughtUp = true;
  engineSilence = 0;
  sinceLocalRead: number | null = 50;
  diskSilence = 0;
  missingTicks: number | null = 0;
  role: RootStatus['role'] = 'follower';
  leader = 2;
  isConfirmed = false;
  lag = { group: 0, ms: 0 };
  diskLevel: 'ok' | 'low' | 'full' = 'ok';
  certificateEnd = 0;
  plainProblem: string | null = null;
  livenessFailures = 0;
  engineSilenceMs = 2000;
  rootAge = 0;
  longRun: LongRun | null = null;
  readonly cancelledRuns: number[] = [];
  readonly told: string[] = [];

  status(): NodeStatus {
    const world = this;
    const root = (): RootStatus =>
      ({
        role: world.role,
        leader: world.leader,
        term: 7,
        commitIndex: 90,
        appliedIndex: 88,
        membership: membershipOf([1, 2], [3]),
      }) as Partial<RootStatus> as RootStatus;
    const options: NodeStatusOptions = {
      version: '1.2.3',
      nodeName: 'node-1',
      nodeId: 1,
      tickMs: 100,
      engineSilenceMs: world.engineSilenceMs,
      rootAgeMaxMs: 10_000,
      shared: {
        get phase() {
          return world.phase;
        },
        get isCaughtUp() {
          return world.isCaughtUp;
        },
        connections: 4,
        level: 2,
        engineSilence: () => world.engineSilence,
        sinceLocalRead: () => world.sinceLocalRead,
        get rootAge() {
          return world.rootAge;
        },
        get longRun() {
          return world.longRun;
        },
        cancelRun: (run) => world.cancelledRuns.push(run),
      },
      operators: () => [
        { user: 'ann', hash: hash('sha256', 'key-of-ann', 'buffer'), expiresAt: null },
        { user: 'bob', hash: hash('sha256', 'key-of-bob', 'buffer'), expiresAt: 10 },
      ],
      cancelled: (user, { run }) => world.told.push(`${user} ${run}`),
      storage: { silence: () => world.diskSilence },
      leader: {
        get isMissing() {
          return world.missingTicks === null || world.missingTicks > 30;
        },
        get missingTicks() {
          return world.missingTicks;
        },
      },
      host: {
        status: root,
        isConfirmed: () => world.isConfirmed,
        lag: () => world.lag,
        groupIds: [0, 5],
        leading: 1,
        get diskLevel() {
          return world.diskLevel;
        },
        freeBytes: 123,
      },
      cluster: {
        clusterId: 'c0ffee',
        nameOf: (node) => `node-${node}`,
        addressOf: (node) => `node-${node}:9220`,
        isUp: (node) => node === 2,
        get plainProblem() {
          return world.plainProblem;
        },
      },
      metrics: {
        add: () => {
          world.livenessFailures += 1;
        },
        get: (_name, series) => (series === 0 ? world.certificateEnd / 1000 : 0),
      },
      page: async (isReady) => `ready ${isReady}`,
      now: () => world.now,
      startedAt: -2100,
      wallClock: () => world.now,
    };
    return new NodeStatus(options);
  }
}

let world: World;

beforeEach(() => {
  world = new World();
});

const unready = (): string | null => problemOf(world.status().ready());

describe('a ready node', () => {
  test('a node is ready when all is well, and says so on the page of figures', async () => {
    expect(unready()).toBeNull();
    expect(await world.status().metrics()).toBe('ready true');
  });

  test.each<[string, Partial<World>]>([
    ['the node has been starting for 3.1 s', { phase: Phase.STARTING }],
    ['the node is shutting down', { phase: Phase.LEAVING }],
    ['the node is shutting down', { phase: Phase.DRAINING }],
    ['the engine thread has been silent for 2.1 s', { engineSilence: 2100 }],
    ['the state was not read yet', { sinceLocalRead: null }],
    ['the state could not be read for 4.0 s', { sinceLocalRead: 4000 }],
    ['no leader is known yet', { missingTicks: null }],
    ['no leader for 4.2 s', { missingTicks: 42, leader: 0 }],
    ['the node is catching up', { isCaughtUp: false }],
    ['what the node knows of users is older than it may be (auth_max_stale_ms)', { rootAge: 10_001 }],
  ])('it is not, because %s', async (reason, otherwise) => {
    Object.assign(world, otherwise);
    expect(unready()).toBe(reason);
    expect(await world.status().metrics()).toBe('ready false');
  });

  test('an election, a busy engine thread and a full disk leave it ready: reads go on', () => {
    Object.assign(world, {
      missingTicks: 20,
      leader: 0,
      engineSilence: 1900,
      sinceLocalRead: 1900,
      diskLevel: 'full',
    });
    expect(unready()).toBeNull();
  });

  test('a node that lags far behind is not ready until it is near', () => {
    const status = world.status();
    const reasons = [4900, 5200, 3000, 800].map((ms) => {
      world.lag = { group: 5, ms };
      status.look();
      return problemOf(status.ready());
    });
    expect(reasons).toEqual([
      null,
      'group 5 is 5.2 s behind its leader',
      'group 5 is 3.0 s behind its leader',
      null,
    ]);
  });
});

describe('a healthy node', () => {
  test('a node is healthy without a leader, behind, with a full disk, and while it starts or drains', () => {
    Object.assign(world, { missingTicks: null, isCaughtUp: false, diskLevel: 'full', sinceLocalRead: null });
    for (const phase of [Phase.STARTING, Phase.READY, Phase.LEAVING, Phase.DRAINING]) {
      world.phase = phase;
      expect(problemOf(world.status().healthy())).toBeNull();
    }
  });

  test('a node is not healthy when the disk or the engine thread is silent for too long, and that is counted', () => {
    const status = world.status();
    world.diskSilence = 29_000;
    world.engineSilence = 29_000;
    expect(problemOf(status.healthy())).toBeNull();
    world.diskSilence = 31_000;
    expect(problemOf(status.healthy())).toBe('the disk has not answered for 31.0 s');
    expect(problemOf(status.healthy())).not.toBeNull();
    world.engineSilence = 32_000;
    expect(problemOf(status.healthy())).toBe('the engine thread has been silent for 32.0 s');
    expect(world.livenessFailures).toBe(1);
  });

  test('a query that may run for long is no reason to end the node', () => {
    world.engineSilenceMs = 61_000;
    world.engineSilence = 70_000;
    expect(problemOf(world.status().healthy())).toBeNull();
    world.engineSilence = 72_000;
    expect(problemOf(world.status().healthy())).not.toBeNull();
  });
});

describe('a leading node', () => {
  test('a node leads when a majority has confirmed it', () => {
    Object.assign(world, { role: 'leader', leader: 1, isConfirmed: true });
    expect(problemOf(world.status().leading())).toBeNull();
    world.isConfirmed = false;
    expect(problemOf(world.status().leading())).toBe('no majority has confirmed this node as leader');
  });

  test('a node that does not lead names the leader, or says since when there is none', () => {
    expect(problemOf(world.status().leading())).toBe('node-2 leads');
    Object.assign(world, { leader: 0, missingTicks: 42 });
    expect(problemOf(world.status().leading())).toBe('no leader for 4.2 s');
  });
});

describe('the summary', () => {
  test('tells of the node, the root group and the members', () => {
    expect(world.status().summary()).toEqual({
      status: 'READY',
      version: '1.2.3',
      node_name: 'node-1',
      level: 2,
      node_id: 1,
      cluster_id: 'c0ffee',
      term: 7,
      role: 'follower',
      leader: 'node-2',
      commit: 90,
      applied: 88,
      groups: 2,
      leading: 1,
      connections: 4,
      long_run: null,
      disk: { level: 'ok', free_bytes: 123 },
      root: { role: 'follower', term: 7, commit: 90 },
      members: [
        {
          node_id: 1,
          name: 'node-1',
          address: 'node-1:9220',
          role: 'voter',
          is_leader: false,
          connected: true,
        },
        {
          node_id: 2,
          name: 'node-2',
          address: 'node-2:9220',
          role: 'voter',
          is_leader: true,
          connected: true,
        },
        {
          node_id: 3,
          name: 'node-3',
          address: 'node-3:9220',
          role: 'learner',
          is_leader: false,
          connected: false,
        },
      ],
      alarms: [],
    });
  });

  test.each<[string, string, Partial<World>]>([
    ['NOSPACE', 'the disk is full', { diskLevel: 'full' }],
    ['LOWSPACE', 'the disk is almost full', { diskLevel: 'low' }],
    ['ENGINE', 'the engine thread has been silent for 3.0 s', { engineSilence: 3000 }],
    ['ENGINE', 'the state could not be read for 3.0 s', { sinceLocalRead: 3000 }],
    ['STORAGE', 'the disk has not answered for 3.5 s', { diskSilence: 3500 }],
    ['LAG', 'group 5 is 6.0 s behind its leader', { lag: { group: 5, ms: 6000 } }],
    ['CERTIFICATE', 'a certificate ends at 1970-01-14T00:00:00.000Z', { certificateEnd: 13 * DAY_MS }],
    ['PLAINTEXT', 'it can be read', { plainProblem: 'it can be read' }],
    ['CERTIFICATE', 'a certificate ended at 1970-01-01T00:00:01.000Z', { certificateEnd: 1000 }],
  ])('has an alarm %s: %s', (name, reason, otherwise) => {
    Object.assign(world, otherwise);
    const status = world.status();
    status.look();
    expect(status.summary()).toMatchObject({ alarms: [{ name, reason }] });
  });

  test('has none of a certificate that holds', () => {
    world.certificateEnd = 15 * DAY_MS;
    expect(world.status().summary()).toMatchObject({ alarms: [] });
  });
});

describe('an order to end what runs', () => {
  const LONG = { run: 7, ms: 6000 };

  test.each<[string, Partial<World>, number, string | undefined, string]>([
    ['is carried out for a token', { longRun: LONG }, 7, 'Bearer key-of-ann', 'told'],
    ['finds no other call than the one it names', { longRun: LONG }, 6, 'token key-of-ann', 'not_running'],
    ['finds nothing where nothing runs for long', {}, 7, 'Bearer key-of-ann', 'not_running'],
    ['is refused without credentials', { longRun: LONG }, 7, undefined, 'unauthorized'],
    ['is refused for a key of nobody', { longRun: LONG }, 7, 'Bearer key-of-eve', 'unauthorized'],
    [
      'is refused for a token that has expired',
      { longRun: LONG, now: 11_000 },
      7,
      'Bearer key-of-bob',
      'unauthorized',
    ],
    [
      'is refused by a node that was cut off',
      { longRun: LONG, rootAge: 11_000 },
      7,
      'Bearer key-of-ann',
      'stale',
    ],
  ])('%s', (_title, otherwise, run, authorization, outcome) => {
    Object.assign(world, otherwise);
    expect(world.status().cancel(run, authorization)).toBe(outcome);
    expect(world.cancelledRuns).toEqual(outcome === 'told' ? [7] : []);
    expect(world.told).toEqual(outcome === 'told' ? ['ann 7'] : []);
  });
});
