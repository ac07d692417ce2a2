import { describe, expect, test } from '@jest/globals';
import { RaftNode } from '../node.js';
import { Planter, type RaftNodeClass } from '../testing/plant.js';
import { type Bounds, BoundsError, DEFAULT_BOUNDS, modelOf } from './bounds.js';
import { explore, type Report } from './explore.js';
import { Explorer } from './explorer.js';
import { PLANTED } from './planted.js';

const SMALL: Bounds = { ...DEFAULT_BOUNDS, terms: 1, entries: 0, crashes: 1, messages: 2 };

function exploreAll(bounds: Bounds, nodeClass: RaftNodeClass = RaftNode): Report {
  const limits = { states: 1_000_000, ms: Number.POSITIVE_INFINITY };
  return explore(bounds, nodeClass, limits, () => {});
}

describe('an exploration', () => {
  test('an exploration of a small cluster sees every state, always the same number, and no violation', () => {
    const { outcome } = exploreAll(SMALL);
    expect(outcome).toMatchObject({ complete: true, finding: null, states: 6694, depth: 20 });
  });

  test('an exploration of groups that fall silent, with all nodes or without one, finds no violation', () => {
    const { outcome } = exploreAll({ ...SMALL, crashes: 0, entries: 1, writes: 0, sleeps: 1 });
    expect(outcome).toMatchObject({ complete: true, finding: null });
  });

  test('takes states for the same only if the same follows from them', () => {
    const explorer = new Explorer(modelOf(SMALL, RaftNode));
    explorer.run(() => false);
    expect(explorer.automaton.audit()).toBeGreaterThan(200);
  });

  test('an exploration with nodes renamed sees less, and nothing else', () => {
    const bounds = { ...SMALL, crashes: 0 };
    const model = modelOf(bounds, RaftNode);
    const merged = new Explorer(model).run(() => false);
    const single = new Explorer({ ...model, renamings: model.renamings.slice(0, 1) }).run(() => false);
    expect(single).toMatchObject({ complete: true, finding: null, depth: merged.depth });
    expect(merged.states).toBeLessThan(single.states);
    expect(merged.states * model.renamings.length).toBeGreaterThanOrEqual(single.states);
  });

  test('tells a planted bug by a shortest path', async () => {
    const bounds = PLANTED.get('vote_twice_after_restart')!;
    const { outcome, lines } = exploreAll(
      bounds,
      await new Planter().plant(new Set(['vote_twice_after_restart'])),
    );
    expect(outcome.finding?.problem).toMatch(/^I1: (\d) votes for \1 and for \d in term 2$/);
    expect(lines.filter((line) => /^ +\d+ {2}/.test(line))).toHaveLength(outcome.finding!.steps.length);
    expect(lines.join('\n')).toContain('dies and starts again');
    expect(lines.at(-1)).toContain('Violation: I1');
  });

  test('stops at its limit', () => {
    const report = explore(
      DEFAULT_BOUNDS,
      RaftNode,
      { states: 5000, ms: Number.POSITIVE_INFINITY },
      () => {},
    );
    expect(report.outcome).toMatchObject({ complete: false, finding: null });
    expect(report.outcome.states).toBeGreaterThanOrEqual(5000);
  });

  test('has bounds that make sense', () => {
    expect(() => modelOf({ ...SMALL, changes: ['+9'] }, RaftNode)).toThrow(BoundsError);
    expect(() => modelOf({ ...SMALL, changes: ['4'] }, RaftNode)).toThrow(BoundsError);
    expect(() => modelOf({ ...SMALL, changes: ['+1+2+3'] }, RaftNode)).toThrow(BoundsError);
  });
});
