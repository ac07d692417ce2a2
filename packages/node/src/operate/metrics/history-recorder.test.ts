import { expect, test } from '@jest/globals';
import type { NodeId } from '../../between/protocol.js';
import { HistoryRecorder } from './history-recorder.js';

test('a step has what others tell, and marks groups that have another leader than before', async () => {
  const marks: string[] = [];
  const steps: (number | null)[] = [];
  let step = (): void => {};
  let leaders: readonly NodeId[] = [1, 0, 1, 1, 1];
  const recorder = new HistoryRecorder({
    history: {
      mark: (at, kind, text) => marks.push(`${at} ${kind} ${text}`),
      step: (_now, { diskFreeBytes }) => steps.push(diskFreeBytes),
    },
    leaders: () => leaders.map((leader, id) => ({ id, leader })),
    scopeOf: (group) => `@${group}`,
    nameOf: (node) => `node-${node}`,
    connections: () => 0,
    inFlight: () => 0,
    freeBytes: async () => 77,
    wallClock: () => 5000,
  });
  recorder.start({
    every: (_ms, work) => {
      step = work;
      return () => {};
    },
  });
  await Promise.resolve();

  leaders = [1, 2, 0, 1, 1];
  step();
  // The first leader of a group, and one that is not known, are no elections.
  expect(marks).toEqual([]);
  leaders = [1, 3, 2, 1, 1];
  step();
  expect(marks.splice(0)).toEqual(['5 election @1: node-3 leads', '5 election @2: node-2 leads']);
  leaders = [2, 3, 3, 2, 2];
  step();
  expect(marks).toEqual(['5 election 4 groups have new leaders']);
  expect(steps).toEqual([77, 77, 77]);
});
