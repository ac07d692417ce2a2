/** Many things that every change of them counts up together: what each holds is known by what the others do. */
import { checkRealTime, type Point } from './check-order.js';
import { Anomaly, isOk, type Operation } from './history.js';

/**
 * Each change answers the same number for all things, one more than the change before; a read sees all of a change or nothing.
 *
 * @throws Anomaly
 */
export function checkTiles(operations: readonly Operation[]): void {
  const points: Point[] = [];
  for (const operation of operations) {
    const { kind } = operation.action;
    if ((kind !== 'sweep' && kind !== 'look') || !isOk(operation)) continue;
    const seen = Array.isArray(operation.answer) ? operation.answer.map(Number) : [];
    const [at = Number.NaN] = seen;
    if (Number.isNaN(at) || seen.some((value) => value !== at)) {
      throw new Anomaly('tiles', `operation ${operation.id} (${kind}) saw ${seen.join(' ')}`);
    }
    points.push({ operation, at, isChange: kind === 'sweep' });
  }
  checkRealTime('tiles', points);
}
