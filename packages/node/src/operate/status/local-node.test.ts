import { beforeEach, describe, expect, test } from '@jest/globals';
import { membershipOf } from 'raft-ts';
import { Phase } from '../../between/shared-status.js';
import type { Positions } from '../../groups/positions.js';
import { memberOf, rootOf } from '../../members/testing.js';
import { Counters } from '../../requests/counters.js';
import { type GroupLook, LocalNode } from './local-node.js';

const SECRET = 'a secret of sixteen or more';

let groups: GroupLook[];
let stored: Map<number, number>;
let positions: Positions['present'];
let log: { level: string };
let phase: Phase;
let secret: string | undefined;
let peerTls: 'auto' | 'on' | 'off';
let done: string[];
let node: LocalNode;

beforeEach(() => {
  groups = [
    { id: 0, leading: false, leader: 100, membership: membershipOf([100, 101]), appliedIndex: 10 },
    { id: 2, leading: true, leader: 0, membership: membershipOf([100, 101], [102]), appliedIndex: 30 },
  ];
  stored = new Map([
    [0, 8],
    [2, 20],
  ]);
  const members = [
    { node: 102, match: 20, state: 'replicate' },
    // One that was removed meanwhile.
    { node: 999, match: 1, state: 'probe' },
  ];
  positions = new Map([[2, { group: 2, term: 3, commit: 31, last: 33, members }]]);
  log = { level: 'info' };
  phase = Phase.READY;
  secret = SECRET;
  peerTls = 'auto';
  done = [];
  const root = rootOf(memberOf(0), memberOf(1), memberOf(2));
  root.putCollection({ id: 2, name: 'stuff', createdAt: 0, deep: 1, timeZone: 'UTC', members: [] });
  node = new LocalNode({
    nodeId: 101,
    version: '1.2.3',
    get config() {
      return {
        nodeName: 'node-1',
        httpApiPort: 9210,
        listenClientPort: 9200,
        ipSupport: 'all' as const,
        httpStatusPort: 0,
        listenNodePort: 9220,
        zone: 5,
        storagePath: './data',
        pythonInterpreter: 'python3',
        resultSizeLimit: 1000,
        clusterSecret: secret,
        tlsClientCaFile: undefined,
        peerTls,
        bindNodeAddr: '0.0.0.0',
      };
    },
    engine: () => ({ root, cachedPrograms: 3 }),
    members: () => ({
      overview: {
        entries: () => [],
        lowest: () => ({ committed: 35, stored: 20 }),
        level: () => ({ level: 1, known: 2, waitsFor: ['node-1'] }),
      },
      handOver: (to) => done.push(`hand over to ${to?.name}`),
      removalProblem: () => 'no',
    }),
    groups: () => groups,
    positions: () => positions,
    storedIndex: (group) => stored.get(group) ?? 0,
    phase: () => phase,
    connections: () => 4,
    counters: () =>
      new Counters(
        () => 0,
        () => ({ changes: 0, garbage: 0, cacheHits: 0 }),
      ),
    clients: () => [],
    present: () => ({ all: () => [], cancel: () => {} }),
    sizes: { of: () => null },
    history: { since: () => ({ stepSeconds: 5, times: [], series: [], marks: [] }) },
    runs: { queries: () => [], procedureCalls: () => [], reset: () => done.push('figures of runs reset') },
    log,
    setConfig: () => {},
    stop: () => done.push('stop'),
    backups: () => null,
    restores: () => null,
    modules: () => ({
      path: './data/modules',
      deploys: false,
      look: () => {
        throw new Error('there are no modules');
      },
      restart: () => {},
    }),
    clock: { now: () => 12_345 },
  });
});

describe('node_info', () => {
  test('tells who the node is and how far its state is', () => {
    expect(node.info()).toMatchObject({
      node_id: 1,
      version: '1.2.3',
      status: 'READY',
      log_level: 'INFO',
      storage_path: './data/',
      uptime: 12.345,
      client_port: 9200,
      ip_support: 'ALL',
      http_api_port: 9210,
      http_status_port: 'disabled',
      local_committed_change_id: 40,
      local_stored_change_id: 28,
      global_committed_change_id: 35,
      global_stored_change_id: 20,
      next_change_id: 41,
      connected_clients: 4,
      cached_queries: 3,
    });
  });

  test('tells in which phase it is', () => {
    const statuses = Object.values(Phase).map((each) => {
      phase = each;
      return node.info().status;
    });
    expect(statuses).toEqual(['SYNCHRONIZING', 'READY', 'SHUTTING_DOWN', 'SHUTTING_DOWN', 'SHUTTING_DOWN']);
  });

  test('never says that more is stored than there is', () => {
    stored.set(2, 99);
    expect(node.info().local_stored_change_id).toBe(38);
  });
});

describe('groups_info', () => {
  test('tells role, leader and voters by the numbers of members', () => {
    const unknown = { term: null, commit: null, last: null, members: null };
    const members = [{ node: 2, match: 20, state: 'replicate' }];
    expect([...(node.groups() ?? [])]).toEqual([
      {
        scope: '@thingsdb',
        role: 'follower',
        leader: 0,
        applied: 10,
        voters: [0, 1],
        learners: [],
        ...unknown,
      },
      {
        scope: '@collection:stuff',
        role: 'leader',
        leader: 1,
        applied: 30,
        voters: [0, 1],
        learners: [2],
        ...{ term: 3, commit: 31, last: 33, members },
      },
    ]);
  });

  test('has to find out first how far the logs are', () => {
    positions = null;
    expect(node.groups()).toBeNull();
  });

  test('tells when there is no leader, and when this node only listens', () => {
    groups = [{ id: 2, leading: false, leader: 0, membership: membershipOf([100], [101]), appliedIndex: 5 }];
    expect([...(node.groups() ?? [])]).toMatchObject([{ role: 'learner', leader: null }]);
  });
});

describe('an order that changes the node', () => {
  test('every level of the language is one of the log', () => {
    const levels = [0, 1, 2, 3, 4].map((level) => {
      node.setLogLevel(level);
      return [log.level, node.info().log_level];
    });
    expect(levels).toEqual([
      ['debug', 'DEBUG'],
      ['info', 'INFO'],
      ['warn', 'WARNING'],
      ['error', 'ERROR'],
      ['fatal', 'CRITICAL'],
    ]);
  });

  test('is passed on', () => {
    node.shutDown();
    node.handOver(memberOf(2));
    expect(done).toEqual(['stop', 'hand over to node-2']);
    expect(node.removalProblem(memberOf(2))).toBe('no');
  });
});

describe('level_info', () => {
  test('warns when others can read what the nodes say to each other', () => {
    expect(node.level()).toEqual({ level: 1, known: 2, waitsFor: ['node-1'], warnings: [] });
    peerTls = 'off';
    expect(node.level().warnings).toEqual([expect.stringContaining('peer_tls = off')]);
    secret = undefined;
    expect(node.level().warnings).toEqual([]);
  });
});

describe('the secret of an invitation', () => {
  test('is that of the cluster, or one for once', () => {
    expect(node.invitationProblem()).toBeNull();
    expect(node.isClusterSecret(SECRET)).toBe(true);
    expect(node.isClusterSecret(`${SECRET}!`)).toBe(false);
  });

  test('is none where there is none', () => {
    secret = undefined;
    expect(node.invitationProblem()).toContain('cluster_secret');
    expect(node.isClusterSecret('')).toBe(false);
  });
});
