import { ErrorCode, QueryError } from '@althing/engine';
import { expect, test } from '@jest/globals';
import {
  decodeReply,
  encodeBegun,
  encodeFailure,
  encodeRefusal,
  encodeReply,
  encodeSecret,
  REPLY_BYTES_MAX,
  TOO_LARGE,
} from './kept-reply.js';

test('answers that are kept come back as they were', () => {
  expect(decodeReply(encodeReply('{"é": 1}'))).toEqual({
    kind: 'result',
    format: 'json',
    result: '{"é": 1}',
  });
  const bytes = Uint8Array.of(1, 2, 3);
  const { kind, ...kept } = decodeReply(encodeReply(bytes));
  expect([kind, kept]).toEqual(['result', { format: 'msgpack', result: Buffer.from(bytes) }]);
  expect(decodeReply(encodeReply('x'.repeat(REPLY_BYTES_MAX + 1)))).toEqual({ kind: 'too_large' });
  expect(decodeReply(TOO_LARGE)).toEqual({ kind: 'too_large' });
  expect(decodeReply(encodeSecret('a hint'))).toEqual({ kind: 'secret', hint: 'a hint' });
});

test.each([ErrorCode.CANCELLED, ErrorCode.TIMEOUT, -1, -127])(
  'an error with the code %i is kept with its message',
  (code) => {
    const error = new QueryError(code, 'what went wrong: é');
    expect(decodeReply(encodeFailure(error))).toEqual({ kind: 'failure', error });
    expect(decodeReply(encodeRefusal(error))).toEqual({ kind: 'refusal', error });
    expect(decodeReply(encodeBegun(error))).toEqual({ kind: 'begun', error });
  },
);

test('an answer of an unknown kind is refused', () => {
  expect(() => decodeReply(Uint8Array.of(9))).toThrow('unknown kind 9');
});
