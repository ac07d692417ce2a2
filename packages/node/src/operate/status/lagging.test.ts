import { expect, test } from '@jest/globals';
import { Lagging } from './lagging.js';

test('a node lags from 5 s on, until it is less than 1 s behind', () => {
  const lagging = new Lagging();
  const said = [0, 1500, 4900, 5100, 3000, 1100, 4000, 900, 4900].map((ms) => {
    lagging.note(ms);
    return lagging.isTooFar;
  });
  expect(said).toEqual([false, false, false, true, true, true, true, false, false]);
});
