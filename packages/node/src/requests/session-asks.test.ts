import { expect, test } from '@jest/globals';
import type { SessionBody } from '../groups/request.js';
import { isEmit } from './emits.js';
import { decodeSession, encodeSession, isSession } from './session-asks.js';

const hash = Uint8Array.from({ length: 32 }, (_, i) => i);

test.each<SessionBody['ask']>([
  { act: 'begin', hash, proof: Uint8Array.of(1, 2, 3), readOnly: false },
  { act: 'begin', hash, proof: new Uint8Array(), readOnly: true },
  { act: 'renew', hash },
  { act: 'end', hash },
  { act: 'rehash', hash, proof: Uint8Array.of(1, 2, 3) },
])('a request to $act a session is read as it was written', (ask) => {
  const bytes = Buffer.from(encodeSession({ type: 'session', ask }));
  expect([isSession(bytes), isEmit(bytes)]).toEqual([true, false]);
  expect(decodeSession(bytes)).toEqual({ type: 'session', ask });
});

test('a body that is no such request is told from one', () => {
  expect([isSession(Buffer.of(0xc1, 1)), isSession(Buffer.of(0x82, 2))]).toEqual([false, false]);
  expect(() => decodeSession(Buffer.of(0xc1, 2, 4))).toThrow('unknown kind');
  expect(() => decodeSession(Buffer.of(0xc1, 2, 1, 0))).toThrow();
});
