/** All checks of what was done to one collection. */
import { checkExpiry } from './check-expiry.js';
import { checkFutures } from './check-futures.js';
import { checkBank, checkCounter, checkIndexes, checkList, checkPair, listsOf } from './check-order.js';
import { checkRegister, type Verdict } from './check-register.js';
import { checkTasks } from './check-tasks.js';
import { checkTiles } from './check-tiles.js';
import type { Operation } from './history.js';
import { ACCOUNTS, BALANCE, LISTS, REGISTERS } from './workload.js';

/**
 * Checks operations on one collection, given what it holds in the end: the answer to `READ_ALL`.
 *
 * @returns `undecided` if the search for an order of the registers' operations took too long
 * @throws {Anomaly}
 */
export function checkHistory(operations: readonly Operation[], final: unknown): Exclude<Verdict, 'wrong'> {
  const [lists, counter, balances, runs, steps, vault] = Array.isArray(final)
    ? (final as readonly unknown[])
    : [];
  const finalLists = listsOf(lists);
  for (const [at, list] of LISTS.entries()) checkList(list, operations, finalLists[at] ?? []);
  checkPair(['l0', 'l1'], operations, [finalLists[0] ?? [], finalLists[1] ?? []]);
  checkCounter(operations, Number(counter));
  checkBank(operations, balances, ACCOUNTS.length * BALANCE);
  checkTiles(operations);
  const [finalRuns = [], finalSteps = [], spared = []] = listsOf([runs, steps, vault]);
  checkTasks(operations, finalRuns);
  checkFutures(operations, finalSteps);
  checkExpiry(operations, spared);
  const verdicts = REGISTERS.map((register) => checkRegister(register, operations, 0));
  checkIndexes(operations);
  return verdicts.includes('undecided') ? 'undecided' : 'ok';
}
