/** Code that moves to the second tier when it runs hot. */
import type { Code, Unit } from '../unit.js';

/** Has a body counted, and moved to the second tier when it has run often enough. */
export function warm(unit: Unit, hotRuns: number, translation: () => Code | null): void {
  const cold = unit.body;
  let runs = 0;
  unit.body = () => {
    runs += 1;
    if (runs < hotRuns) return cold();
    unit.body = translation() ?? cold;
    return unit.body();
  };
}
