import { describe, expect, test } from '@jest/globals';
import { Admission } from './admission.js';
import { RetryBudget } from './retry-budget.js';

describe('admission', () => {
  test('lets so many in, and others in their order when one leaves', () => {
    const admission = new Admission(2, 2);
    const entered: string[] = [];
    expect([admission.enter(), admission.enter(), admission.enter()]).toEqual([true, true, false]);
    admission.queue(() => entered.push('third'));
    const stop = admission.queue(() => entered.push('fourth'));
    expect(admission.queue(() => entered.push('fifth'))).toBeNull();
    stop?.();
    admission.queue(() => entered.push('sixth'));
    admission.leave();
    admission.leave();
    expect(entered).toEqual(['third', 'sixth']);
    expect(admission.enter()).toBe(false);
    admission.leave();
    expect(admission.enter()).toBe(true);
  });
});

describe('the budget of repeats', () => {
  test('has a reserve for all that are open when a node dies', () => {
    const budget = new RetryBudget(64);
    for (let i = 0; i < 128; i++) expect(budget.take(0)).toBe(0);
    expect(budget.take(0)).toBeGreaterThan(0);
  });

  test('earns one repeat with ten requests', () => {
    const budget = new RetryBudget(1);
    while (budget.take(0) === 0);
    for (let i = 0; i < 9; i++) budget.earn();
    expect(budget.take(0)).toBeGreaterThan(0);
    budget.earn();
    expect(budget.take(0)).toBe(0);
    expect(budget.take(0)).toBeGreaterThan(0);
  });

  test('lets a client without other requests go on, slowly', () => {
    const budget = new RetryBudget(1);
    while (budget.take(0) === 0);
    const waitMs = budget.take(0);
    expect(waitMs).toBeLessThanOrEqual(1000);
    expect(budget.take(waitMs + 1)).toBe(0);
  });
});
