import { wireMap } from '@althing/client';
import { expect, test } from '@jest/globals';
import { consoleOf } from '../state/consoles.js';
import { groupsOf, lagText, summed } from './sums.js';

const member = (node: bigint, match: bigint, state = 'replicate') => wireMap({ node, match, state });

test('a group is shown as its leader knows it, or else as the first node that answers', () => {
  const group = (scope: string, role: string, term: bigint) => wireMap({ scope, role, term });
  const own = [
    { node: '0', name: 'a', answer: { groups: [group('x', 'follower', 4n), group('y', 'follower', 2n)] } },
    { node: '1', name: 'b', answer: null },
    { node: '2', name: 'c', answer: { groups: [group('x', 'leader', 5n), group('y', 'follower', 3n)] } },
  ];
  expect(
    groupsOf(own).map((each) => (each instanceof Map ? [each.get('scope'), each.get('term')] : [])),
  ).toEqual([
    ['x', 5n],
    ['y', 2n],
  ]);
});

test('counters are those of all nodes that answer', () => {
  const own = [
    { node: '0', name: 'a', answer: { counters: wireMap({ queries_success: 3n }) } },
    { node: '1', name: 'b', answer: null },
    { node: '2', name: 'c', answer: { counters: wireMap({ queries_success: 4n }) } },
  ];
  expect(summed(own, 'queries_success')).toBe(7);
  expect(summed(own, 'no_such_counter')).toBe(0);
});

test('nodes that lack entries are named, and how they are sent them', () => {
  const members = [member(1n, 10n), member(2n, 7n), member(3n, 0n, 'snapshot')];
  expect(lagText(wireMap({ last: 10n, members }))).toBe('node 2: 3, node 3: 10 (snapshot)');
  expect(lagText(wireMap({ last: 10n, members: null }))).toBe('');
});

test('the console of a node is at its name and the port of its API; a name that is no host gives none', () => {
  const info = (name: string, port: bigint) => wireMap({ node_name: name, http_api_port: port });
  expect(consoleOf(info('node1', 9210n), 'https:')?.url).toBe('https://node1:9210/@console/');
  expect(consoleOf(info('fd00::1', 9210n), 'http:')?.url).toBe('http://[fd00::1]:9210/@console/');
  expect(consoleOf(info('node1', 0n), 'http:')).toBeNull();
  expect(consoleOf(info('x/@evil', 9210n), 'http:')).toBeNull();
});
