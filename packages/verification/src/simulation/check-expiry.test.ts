import { expect, test } from '@jest/globals';
import { checkExpiry } from './check-expiry.js';
import type { Operation, Outcome } from './history.js';

const REST = { client: 0, collection: 'stuff', node: 'n0', begin: 0, end: 1, index: 0, error: '' };

function made(value: string, until: number | null, outcome: Outcome = 'ok'): Operation {
  return { id: 1, action: { kind: 'mortal', value, until }, outcome, answer: true, ...REST };
}

function spared(answer: string | null, outcome: Outcome = 'ok'): Operation {
  return { id: 2, action: { kind: 'reprieve' }, outcome, answer, ...REST };
}

test.each<[string, Operation[], string[], string | null]>([
  ['what expires is gone, what never does is there', [made('a', 1), made('b', null)], ['b'], null],
  ['what was given more time is there', [made('a', 1), spared('a')], ['a'], null],
  ['what may have been made need not be there', [made('a', null, 'unknown')], [], null],
  ['somebody may have given it more time', [made('a', 1), spared(null, 'unknown')], ['a'], null],
  ['nobody gave more time where none was', [made('a', 1), spared(null)], [], null],
  ['what never expires is gone', [made('a', null)], [], 'a of operation 1 never expires'],
  ['what was given more time is gone', [made('a', 1), spared('a')], [], 'a was given more time'],
  ['what was refused is there', [made('a', null, 'failed')], ['a'], 'was refused'],
  ['more live on than may', [made('a', 1), made('b', 1), spared('a')], ['a', 'b'], 'more things live on'],
  ['there is something that nobody made', [], ['a'], 'nobody made a'],
])('%s', (_title, operations, left, anomaly) => {
  const check = (): void => checkExpiry(operations, left);
  if (anomaly === null) expect(check).not.toThrow();
  else expect(check).toThrow(anomaly);
});
