import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Recorder } from '../chaos/record.js';
import type { Response } from '../chaos/requests.js';
import { BalancedClients } from './balanced-clients.js';

const UNAVAILABLE = { outcome: 'failed', status: 503, error: '503 no node is ready' } as const;
const LOST = { outcome: 'unknown', status: 502, error: '502 the node was lost' } as const;
const ENDED = {
  outcome: 'unknown',
  status: 500,
  error: '500 made its futures were ended',
  isMade: true,
} as const;
const KEY = { 'Idempotency-Key': '1' };

let folder: string;
let recorder: Recorder;
let clients: BalancedClients;
let response: Response;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'althing-clients-'));
  recorder = new Recorder(join(folder, 'record'), { seed: 1, nodes: 3, network: 'none', version: 'none' });
  clients = new BalancedClients({ ask: () => Promise.resolve(response) }, recorder);
});
afterEach(async () => {
  await recorder.close();
  rmSync(folder, { recursive: true });
});

async function ask(answered: Partial<Response>, headers = {}, code = '1;'): Promise<Response> {
  response = { outcome: 'ok', value: null, index: 0, status: 200, node: '', error: '', ...answered };
  return clients.place().ask('//stuff', code, headers);
}

describe('a request that fails', () => {
  test.each([
    ['none', UNAVAILABLE, {}, false],
    ['none', LOST, {}, false],
    ['lost', UNAVAILABLE, {}, false],
    ['lost', LOST, KEY, false],
    ['lost', LOST, {}, true],
    ['any', UNAVAILABLE, KEY, true],
  ] as const)('in a scene that allows %s: %j %j may: %s', async (allows, failure, headers, isAllowed) => {
    clients.turn('scene', allows);
    await ask(failure, headers);
    expect(clients.turn('next', 'none')).toEqual(
      isAllowed ? { failures: 0, forgiven: 1, repeated: 0 } : { failures: 1, forgiven: 0, repeated: 0 },
    );
    expect(recorder.findings).toHaveLength(isAllowed ? 0 : 1);
  });

  test.each([
    ['lost', 'future(|| .x = 1);', 0],
    ['lost', '.x = 1;', 1],
    ['none', 'future(|| .x = 1);', 1],
  ] as const)(
    'with a key after its change was made may, where %s may, for its futures: %s',
    async (allows, code, failures) => {
      clients.turn('scene', allows);
      await ask(ENDED, KEY, code);
      expect(clients.turn('next', allows)).toMatchObject({ failures });
    },
  );

  test('a request that fails for a closed connection is repeated with its key when nodes are killed', async () => {
    const cut = { outcome: 'unknown', status: 0, error: 'ECONNRESET' } as const;
    clients.turn('scene', 'lost');
    await ask(cut, KEY);
    expect(clients.turn('scene', 'none')).toEqual({ failures: 1, forgiven: 0, repeated: 1 });
    await ask(cut, KEY);
    expect(clients.turn('next', 'none')).toEqual({ failures: 1, forgiven: 0, repeated: 0 });
  });

  test('a request that fails on purpose is no failure', async () => {
    clients.turn('scene', 'none');
    await ask({ outcome: 'failed', status: 422, error: '422 on purpose' });
    expect(recorder.findings).toEqual([]);
  });

  test('a request with a key may have been carried out: the balancer may have sent it before', async () => {
    clients.turn('scene', 'any');
    expect(await ask(UNAVAILABLE, KEY)).toMatchObject({ outcome: 'unknown' });
    expect(await ask(UNAVAILABLE)).toMatchObject({ outcome: 'failed' });
  });
});

test('the nodes that answered are known', async () => {
  await ask({ node: 'node1' });
  expect([...clients.answered]).toEqual(['node1']);
});
