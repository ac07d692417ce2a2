import { beforeEach, describe, expect, test } from '@jest/globals';
import type { MemberInfo } from '../admin/member.js';
import type { RootGroup } from '../admin/root-group.js';
import { COUNTER_KEYS, NODE_INFO_KEYS } from '../node-view.js';
import { FakeNode } from '../testing/fake-node.js';
import { FIRST_NODE, Harness } from '../testing/harness.js';
import { Float } from '../value/scalars.js';

const NODE = { scope: 'node' } as const;
const ROOT = { scope: 'thingsdb' } as const;

let view: FakeNode;
let h: Harness;
let root: RootGroup;

beforeEach(() => {
  view = new FakeNode();
  h = new Harness({ node: view });
  ({ root } = h.engine);
});

describe('information on nodes', () => {
  test('node_info has its keys in their order, and uptime as float', () => {
    expect(h.run('node_info().load().keys();', NODE)).toEqual(NODE_INFO_KEYS);
    expect(h.run('i = node_info().load(); [i.uptime, i.node_id, i.status, i.next_free_id];', NODE)).toEqual([
      new Float(1.5),
      0,
      'READY',
      root.nextId,
    ]);
  });

  test('counters have their keys in their order, and durations as floats', () => {
    expect(h.run('counters().load().keys();', NODE)).toEqual(COUNTER_KEYS);
    expect(h.run('c = counters().load(); [c.queries_success, c.longest_query_duration];', NODE)).toEqual([
      3,
      new Float(3),
    ]);
  });

  test('queries_info and procedure_stats have counts, and times in seconds', () => {
    const figures = {
      count: 2,
      failures: 1,
      run_total: new Float(0.006),
      run_mean: new Float(0.003),
      run_p99: new Float(0.004),
      run_max: new Float(0.004),
      wait_total: new Float(0.006),
      wait_mean: new Float(0.003),
      wait_p99: new Float(0.006),
      wait_max: new Float(0.006),
      things_read: 6,
      cold_reads: 1,
      last: 1_700_000_000,
    };
    const query = { query: '.x = ?', scope: '@collection:stuff' };
    expect(h.run('queries_info()[0].load();', NODE)).toEqual({ ...query, ...figures });
    const procedure = { procedure: 'add', scope: '@thingsdb' };
    expect(h.run('procedure_stats()[0].load();', NODE)).toEqual({ ...procedure, ...figures });
  });

  test('metrics_history has lists of values by name, and marks', () => {
    expect(h.run('metrics_history(20).load();', NODE)).toEqual({
      step: 5,
      times: [20, 25],
      requests: { ok: [1, null], error: [1, null] },
      connections: [new Float(1), null],
      marks: [{ at: 7, kind: 'start', text: 'the node was started' }],
    });
    expect(h.run('metrics_history().load().times;', NODE)).toEqual([0, 5]);
    expect(h.run('metrics_history(-2.0).load().times;', NODE)).toEqual([-2, 3]);
    expect(h.error("metrics_history('now');", NODE)).toBe('type_err');
    expect(h.error('metrics_history(1, 2);', NODE)).toBe('num_arguments_err');
    expect(h.error('metrics_history();', ROOT)).toBe('lookup_err');
  });

  test('connections_info has who is connected', () => {
    const connection = { transport: 'tcp', address: '192.0.2.1', user: 'kim', since: 1_700_000_000 };
    expect(h.run('connections_info().map(|c| c.load());', NODE)).toEqual([
      { id: 3, ...connection, requests: 1, count: 1 },
      { id: null, transport: 'http', address: null, user: null, since: null, requests: null, count: 12 },
    ]);
  });

  test('requests_info has what runs and waits', () => {
    expect(h.run('requests_info()[0].load();', NODE)).toEqual({
      id: 5,
      request: 'r-5',
      state: 'waiting',
      waits_for: 'commit',
      since: new Float(h.nowMs / 1000 - 1.5),
      run: new Float(0.002),
      user: 'kim',
      address: null,
      from: null,
      scope: '@collection:stuff',
      kind: 'run',
      text: 'add',
    });
  });

  test('cancel_request takes the id of a request, and needs CHANGE on the node', () => {
    h.run('cancel_request(5);', NODE);
    h.run('cancel_request(INT_MAX);', NODE);
    expect(view.done).toEqual(['cancel 5', 'cancel 9223372036854775807']);
    h.run("new_user('kim'); grant('@node', 'kim', QUERY);", ROOT);
    expect(h.error('cancel_request(5);', { ...NODE, user: 'kim' })).toBe('forbidden_err');
    expect(h.error("cancel_request('r-5');", NODE)).toBe('type_err');
    expect(h.error('cancel_request();', NODE)).toBe('num_arguments_err');
    expect(view.done).toHaveLength(2);
  });

  test('nodes_info has an entry for each node', () => {
    expect(h.run('nodes_info().map(|n| n.load());', { ...NODE })).toEqual([
      {
        node_id: 0,
        syntax_version: 'v1',
        status: 'READY',
        zone: 3,
        committed_change_id: 7,
        stored_change_id: 5,
        node_name: 'first',
        port: 9220,
        stream: null,
      },
    ]);
  });

  test('groups_info tells who leads a group and who votes', () => {
    expect(h.run('groups_info()[0].load();', NODE)).toEqual({
      scope: '@thingsdb',
      role: 'follower',
      leader: 2,
      applied: 7,
      voters: [0, 2],
      learners: [3],
      term: 4,
      commit: 8,
      last: 9,
      members: [{ node: 2, match: 7, state: 'replicate' }],
    });
  });

  test('level_info tells which level the cluster works at, and whom a higher one waits for', () => {
    expect(h.run('level_info().load();', NODE)).toEqual({
      level: 1,
      known: 2,
      waits_for: ['second'],
      warnings: ['mind this'],
    });
  });

  test('an engine without a node says so', () => {
    expect(new Harness().error('node_info();', NODE)).toBe('operation_err');
  });
});

describe('information on the work of others', () => {
  test.each(['queries_info', 'procedure_stats', 'connections_info', 'requests_info'])(
    '%s needs CHANGE on the node, and takes no arguments',
    (name) => {
      h.run("new_user('kim'); grant('@node', 'kim', QUERY);", ROOT);
      expect(h.error(`${name}();`, { ...NODE, user: 'kim' })).toBe('forbidden_err');
      expect(h.error(`${name}(1);`, NODE)).toBe('num_arguments_err');
      expect(h.error(`${name}();`, ROOT)).toBe('lookup_err');
    },
  );
});

describe('functions that change a node', () => {
  test('counters are reset, levels are kept within bounds', () => {
    h.run('reset_counters(); set_log_level(-5); set_log_level(99); set_log_level(ERROR);', NODE);
    expect(view.done).toEqual(['reset', 'level 0', 'level 4', 'level 3']);
  });

  test('settings are handed over as texts', () => {
    h.run("set_config('cache_size_mb', 100); set_config('garbage_interval_ms', '30s');", NODE);
    expect(view.done).toEqual(['cache_size_mb = 100', 'garbage_interval_ms = 30s']);
    expect(h.error("set_config('cache_size_mb', true);", NODE)).toBe('type_err');
    expect(h.error("set_config('cache_size_mb');", NODE)).toBe('num_arguments_err');
  });

  test('it is shut down, again is no harm', () => {
    expect(h.run('shutdown();', NODE)).toBeNull();
    expect(h.run('shutdown();', NODE)).toBeNull();
    expect(view.done).toEqual(['stop', 'stop']);
  });

  test('it gives what it leads to another one, or to any', () => {
    root.putMember(SECOND);

    h.run('transfer_leadership(1);', NODE);
    h.run('transfer_leadership();', NODE);

    expect(view.done).toEqual(['hand over to second', 'hand over']);
    expect(h.error('transfer_leadership(7);', NODE)).toBe('lookup_err');
  });

  test('none of it is there in other scopes', () => {
    for (const call of ['node_info()', 'nodes_info()', 'counters()', 'shutdown()', 'transfer_leadership()']) {
      expect([call, h.error(`${call};`, ROOT)]).toEqual([call, 'lookup_err']);
    }
  });
});

describe('new_node', () => {
  test('gives the number that the node will have, and notes that it is to come', () => {
    expect(h.run("new_node('secret', 'node-1');", ROOT)).toBe(1);
    expect(h.run("del_node(1); new_node('secret', 'node-2', 9999);", ROOT)).toBe(2);

    expect([...root.invitations.values()]).toEqual([{ number: 2, host: 'node-2', port: 9999 }]);
    expect(h.run('[has_node(0), has_node(2), has_node(3)];', ROOT)).toEqual([true, true, false]);
  });

  test('waits for the one before, unless there are so many nodes that it can be missed', () => {
    h.run("new_node('secret', 'a');", ROOT);
    expect(h.failure("new_node('secret', 'b');", ROOT).message).toContain('del_node(1)');
    expect(h.error("new_node('secret', 'a');", ROOT)).toBe('lookup_err');
    for (const number of [7, 8]) root.putMember({ ...SECOND, number, nodeId: number, host: `n${number}` });
    expect(h.run("new_node('secret', 'b');", ROOT)).toBe(9);
    expect(h.error("new_node('secret', 'c');", ROOT)).toBe('operation_err');
  });

  test('keeps a one-time secret with the invitation, once every node knows such ones', () => {
    h.run("new_node('one-time!', 'node-1', 65535);", ROOT);

    expect(root.invitations.get(1)).toEqual({
      number: 1,
      host: 'node-1',
      port: 65_535,
      secret: 'one-time!',
    });
    h.run('del_node(1);', ROOT);
    const copy = new Harness({ node: view }).engine.root;
    const outcome = h.outcome("new_node('one-time!', 'node-3'); nil;", ROOT);
    if (outcome.kind !== 'value' || outcome.change === null) throw new Error('the query makes a change');
    copy.apply(outcome.change.effects);
    expect(copy.invitations.get(2)).toEqual({ number: 2, host: 'node-3', port: 9220, secret: 'one-time!' });
    h.run('del_node(2);', ROOT);
    expect(h.run("new_node('known', 'node-2');", ROOT)).toBe(3);
  });

  test('refuses an address that is known', () => {
    h.run("new_node('secret', 'node-1');", ROOT);

    expect(h.error("new_node('secret', 'node-1', 9220);", ROOT)).toBe('lookup_err');
    expect(h.error(`new_node('secret', '${FIRST_NODE.host}');`, ROOT)).toBe('lookup_err');
  });

  test('says why no node can be asked', () => {
    view.problem = 'not now';
    expect(h.failure("new_node('secret', 'node-1');", ROOT).message).toBe('not now');
    expect(root.invitations.size).toBe(0);
  });

  test('checks one argument before it evaluates the next', () => {
    expect(h.error("new_node('', raise('later'));", ROOT)).toBe('value_err');
    expect(h.error("new_node('s', '', raise('later'));", ROOT)).toBe('value_err');
    expect(h.error(`new_node('s', '${'x'.repeat(256)}');`, ROOT)).toBe('value_err');
    expect(h.error("new_node('s', 'a b');", ROOT)).toBe('value_err');
  });

  test('goes with the query that fails', () => {
    expect(h.error("new_node('secret', 'node-1'); 1/0;", ROOT)).toBe('zero_div_err');
    expect(root.invitations.size).toBe(0);
    expect(h.run("new_node('secret', 'node-1');", ROOT)).toBe(1);
  });

  test('uses a number again only when all were used, and knows the limit', () => {
    root.putMember({ ...SECOND, number: 63 });

    expect(h.run("new_node('secret', 'again');", ROOT)).toBe(1);
    for (let number = 2; number < 63; number++)
      root.putMember({ ...SECOND, number, nodeId: 1000 + number, host: `n${number}` });

    expect(h.error("new_node('secret', 'one-more');", ROOT)).toBe('max_quota_err');
  });
});

describe('del_node and remove_node', () => {
  test.each(['del_node', 'remove_node'])('%s notes that a member is to leave', (name) => {
    root.putMember(SECOND);

    expect(h.run(`${name}(1);`, ROOT)).toBeNull();
    expect(h.run(`${name}(1);`, ROOT)).toBeNull();

    expect(root.members.get(SECOND.nodeId)?.leaving).toBe(true);
    expect(h.run('has_node(1);', ROOT)).toBe(true);
  });

  test('only remove_node removes one that is active', () => {
    root.putMember(SECOND);
    for (const status of ['READY', 'SYNCHRONIZING']) {
      view.statuses = ['READY', status];
      expect(h.error('del_node(0);', ROOT)).toBe('operation_err');
      expect(h.failure('del_node(1);', ROOT).message).toContain('remove_node(1)');
    }
    expect(h.run('remove_node(1);', ROOT)).toBeNull();

    root.putMember(SECOND);
    view.statuses = ['READY', 'SHUTTING_DOWN'];
    expect(h.run('del_node(1);', ROOT)).toBeNull();
  });

  test('takes back an invitation; its number is not used again', () => {
    h.run("new_node('secret', 'node-1'); del_node(1);", ROOT);

    expect(root.invitations.size).toBe(0);
    expect(h.run("new_node('secret', 'node-1');", ROOT)).toBe(2);
  });

  test('says why a node can not go', () => {
    view.problem = 'it is the last one';
    expect(h.failure('remove_node(0);', ROOT).message).toBe('it is the last one');
    for (const name of ['del_node', 'remove_node']) {
      expect(h.error(`${name}(5);`, ROOT)).toBe('lookup_err');
      expect(h.error(`${name}(-1);`, ROOT)).toBe('lookup_err');
    }
  });

  test('is the same on other nodes', () => {
    const other = new Harness({ node: view });
    const outcome = h.outcome("new_node('s', 'a'); del_node(1); new_node('s', 'b'); nil;", ROOT);
    if (outcome.kind !== 'value' || outcome.change === null) throw new Error('the query makes a change');

    other.engine.root.apply(outcome.change.effects);

    expect(other.engine.root.invitations).toEqual(root.invitations);
    expect(other.engine.root.nextNumber).toBe(3);
  });
});

const SECOND: MemberInfo = {
  nodeId: 88,
  number: 1,
  name: 'second',
  host: 'second.example',
  port: 9220,
  leaving: false,
};
