import type { HttpResponse } from 'uWebSockets.js';
import type { User } from '@althing/engine';
import { expect, test } from '@jest/globals';
import type { ProgramRequest } from '../../groups/request.js';
import { ByteBudget } from '../limits/byte-budget.js';
import { ClientAddresses } from '../limits/client-addresses.js';
import { AnswerBuffer } from './answer-buffer.js';
import { Bodies } from './bodies.js';
import { Exchange } from './exchange.js';
import { Heads } from './reply.js';

const MiB = 1024 * 1024;

/** Bodies of one user that come at once, what became of them, and the memory that they take. */
function receiving(count: number) {
  const budget = new ByteBudget(100 * MiB);
  const requests: ProgramRequest[] = [];
  const charged: number[] = [];
  const paused = new Set<number>();
  const bodies = new Bodies({
    root: { level: 1 },
    body: { msgpackNestingMax: 100 },
    bodySizeMax: 16 * MiB,
    bodyTimeoutMs: 1000,
    gate: { memory: budget },
    refuse: (exchange, error, answer) => exchange.fail(error, answer),
    handle: (request) => {
      requests.push(request);
      return false;
    },
    readsLater: () => false,
    charge: (userId) => charged.push(userId),
    sessions: { carryOut: () => {} },
    waits: () => {},
    onDefect: (error) => {
      throw error;
    },
  });
  const parts = {
    heads: new Heads('test'),
    answerBuffer: new AnswerBuffer(budget),
    clients: new ClientAddresses([]),
    done: () => {},
  };
  const exchanges: Exchange[] = [];
  const takers = Array.from({ length: count }, (_, i) => {
    let take = (_chunk: ArrayBuffer, _isLast: boolean): void => {};
    const res = {
      onData: (taker: typeof take) => {
        take = taker;
      },
      pause: () => paused.add(i),
      resume: () => paused.delete(i),
      cork: (work: () => void) => work(),
      writeHeader: () => {},
      end: () => {},
    } as unknown as HttpResponse;
    const headers = { terms: null, id: '', isLast: false, forwardedFor: '' };
    const batch = { closesNext: () => false };
    const exchange = new Exchange(res, { kind: 'thingsdb' }, 'json', parts, batch, headers, '');
    exchanges.push(exchange);
    exchange.identify({ user: { id: 7 } as User, readOnly: false });
    bodies.receive(exchange, res);
    exchange.leaveCallback();
    return (text: string, isLast: boolean): void => take(new Uint8Array(Buffer.from(text)).buffer, isLast);
  });
  return {
    budget,
    requests,
    exchanges,
    charged,
    paused,
    come: (i: number, text: string, isLast = false) => takers[i]?.(text, isLast),
  };
}

const BEGIN = '{"type":"query","code":"x;","vars":{"x":"';

test('time for which large bodies come is charged, and they come one a turn', async () => {
  const { requests, exchanges, charged, paused, come } = receiving(3);
  for (const i of [0, 1, 2]) come(i, BEGIN);
  expect([charged, paused.size]).toEqual([[], 0]);
  come(0, 'x'.repeat(2 * MiB));
  expect(charged).toEqual([7]);
  expect([...paused]).toEqual([0, 1, 2]);
  await new Promise(setImmediate);
  expect([...paused]).toEqual([1, 2]);
  // More of it had come before it was told to wait, and all of another one.
  come(0, 'x'.repeat(MiB));
  come(1, '"}}', true);
  expect([...paused]).toEqual([1, 2, 0]);
  for (const i of [0, 2]) come(i, '"}}', true);
  // Resumed behind its body, a connection would be closed after ten seconds, with an answer or without.
  expect([requests.length, paused.size]).toEqual([3, 3]);
  for (const exchange of exchanges) exchange.reply({ ok: true, result: '1', index: 1 });
  expect(paused.size).toBe(0);
});

test('values of a large body are in memory once: as the text that is read, where that is ASCII', () => {
  const { budget, requests, come } = receiving(2);
  const values = (text: string): (string | boolean)[] => {
    const [request] = requests.splice(0);
    if (request?.body.type !== 'query') throw new Error('there is no query');
    const { vars } = request.body;
    return [typeof vars?.data, vars?.data.toString().includes(text) ?? false];
  };
  come(0, `${BEGIN}${'x'.repeat(2 * MiB)}`);
  come(0, `${'x'.repeat(2 * MiB)}"}}`, true);
  expect(values('xxx')).toEqual(['string', true]);
  expect(budget.used).toBeLessThan(5 * MiB);
  come(1, `${BEGIN}${'é'.repeat(MiB)}`);
  come(1, `${'é'.repeat(MiB)}"}}`, true);
  expect(values('éé')).toEqual(['object', true]);
});
