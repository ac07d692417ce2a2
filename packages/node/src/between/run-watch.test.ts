import { expect, test } from '@jest/globals';
import { RunWatch } from './run-watch.js';
import { SharedStatus } from './shared-status.js';

test('a call is ended by its number, and no other one', () => {
  const engine = new SharedStatus();
  const consensus = new SharedStatus(engine.buffer);
  const watch = new RunWatch(engine);
  const numberOf = (begun: number): number => {
    const before = engine.noteRun();
    expect(watch.isCancelled(begun)).toBe(false);
    return before + 1;
  };
  const [first, second] = [numberOf(1000), numberOf(2000)];
  consensus.cancelRun(first);
  expect(watch.isCancelled(2000)).toBe(false);
  consensus.cancelRun(second);
  expect(watch.isCancelled(2000)).toBe(true);
  expect(watch.isCancelled(3000)).toBe(false);
});

test('the other thread knows of no call while the engine thread turns its event loop', () => {
  const status = new SharedStatus();
  expect(status.longRun).toBeNull();
  status.beat();
  status.noteRun();
  expect(status.longRun).toBeNull();
});
