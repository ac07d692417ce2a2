import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { newIdentity } from '../../base/identity.js';
import { SharedStatus } from '../../between/shared-status.js';
import { ExitCode } from '../../config/index.js';
import { Ending } from './ending.js';

/** The end of a node whose data folder takes no more files. */
function makeEnding(): { readonly ending: Ending; readonly lines: string[] } {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => lines.push(line) });
  const status = new SharedStatus();
  status.isCaughtUp = true;
  const path = '/nowhere/there is no such folder';
  const config = { rejoinWhenRemoved: false };
  return { ending: new Ending({ config, identity: newIdentity(), path, status, log }), lines };
}

test('a node that can not note why it ends has the same exit code, and says so', async () => {
  const { ending, lines } = makeEnding();
  ending.diverged('its collection stuff', { group: 2, index: 7 });
  expect(await ending.closed).toBe(ExitCode.DataDamaged);
  expect(lines.join('')).toContain('could not be noted');

  const { ending: other } = makeEnding();
  other.removed();
  expect(await other.closed).toBe(ExitCode.DataDamaged);
});
