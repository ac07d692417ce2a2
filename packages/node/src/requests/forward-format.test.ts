import { duplicateError, ErrorCode, FormatError, QueryError } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { conflictingKey, type RequestBody } from '../groups/request.js';
import { Float64, type Packable, packed } from '../testing/index.js';
import { MiniCluster } from '../testing/mini-cluster.js';
import { decodeBody } from './body.js';
import {
  decodeAnswer,
  decodeRequest,
  encodeAnswer,
  encodeRequest,
  type ForwardedAnswer,
  type ForwardedRequest,
} from './forward-format.js';
import { encodeBody } from './forwarded-body.js';

const { engine } = (await MiniCluster.begin(1)).node(1);

const plain: ForwardedRequest = {
  group: 12,
  incarnation: 1_700_000_000_000,
  sequence: 3,
  low: 2,
  rootIndex: 99,
  deadlineMs: 10_000,
  user: 1,
  format: 'json',
  scope: { kind: 'collection', name: 'stuff' },
  key: null,
  name: null,
  id: null,
  undecided: false,
  wantsLogs: false,
  saltKey: null,
  readOnly: false,
  dryRun: false,
  body: Uint8Array.of(1, 2, 3),
};

const requests: readonly ForwardedRequest[] = [
  plain,
  { ...plain, scope: { kind: 'thingsdb' }, format: 'msgpack', body: new Uint8Array(0) },
  { ...plain, scope: { kind: 'node', id: 0 } },
  { ...plain, scope: { kind: 'node', id: null } },
  { ...plain, key: { key: 'ключ', body: '\x05'.repeat(16) } },
  { ...plain, id: 'abc-1' },
  { ...plain, key: { key: 'k', body: '\x05'.repeat(16) }, id: 'abc-2' },
  { ...plain, undecided: true, id: 'abc-3' },
  { ...plain, wantsLogs: true },
  { ...plain, id: 'abc-4', saltKey: new Uint8Array(16).fill(7) },
  { ...plain, readOnly: true },
  { ...plain, dryRun: true },
  { ...plain, readOnly: true, dryRun: true },
  { ...plain, dryRun: 'explain' },
  { ...plain, id: 'abc-5', saltKey: new Uint8Array(16).fill(7), readOnly: true },
  { ...plain, name: { client: 'c', sequence: 2 ** 50, low: 1, body: '\x05'.repeat(16) }, id: 'a' },
];

const answers: readonly ForwardedAnswer[] = [
  { kind: 'reply', reply: { ok: true, result: '"ü"', index: 7 } },
  { kind: 'reply', reply: { ok: true, result: '', index: 0 } },
  { kind: 'reply', reply: { ok: true, result: '3', index: 9, outcome: 'made' } },
  { kind: 'reply', reply: { ok: false, error: new QueryError(-54, 'not there'), index: 8, outcome: 'none' } },
  {
    kind: 'reply',
    reply: { ok: false, error: new QueryError(-54, 'there already'), index: 8, outcome: 'none' },
  },
  { kind: 'reply', reply: { ok: false, error: new QueryError(12, 'of a user'), index: 0, outcome: 'none' } },
  {
    kind: 'reply',
    reply: {
      ok: false,
      error: QueryError.of(
        -54,
        'with places',
        false,
        [
          { line: 3, column: 5, offset: 40, length: 7, in: 'report' },
          { line: 1, column: 1, offset: 0, length: 9, in: null },
        ],
        null,
      ),
      index: 0,
      outcome: 'none',
    },
  },
  ...[['ann', true, false, -3, 2n ** 62n, 0.5], null].map((key): ForwardedAnswer => {
    const fields = ['a', 'b', 'c', 'd', 'e', 'f'];
    const detail = { type: 'T', index: 'i', fields, key, id: key === null ? null : 9 };
    const error = duplicateError('there already', detail);
    return { kind: 'reply', reply: { ok: false, error, index: 0, outcome: 'none' } };
  }),
  {
    kind: 'reply',
    reply: { ok: false, error: new QueryError(-51, 'who knows'), index: 0, outcome: 'unknown' },
  },
  { kind: 'reply', reply: { ok: false, error: new QueryError(-6, 'too large'), index: 5, outcome: 'made' } },
  {
    kind: 'reply',
    reply: { ok: false, error: new QueryError(-58, 'of a future'), index: 5, outcome: 'made', own: true },
  },
  { kind: 'elsewhere', leader: 2 ** 48 - 1 },
  { kind: 'lost', unknown: true },
  { kind: 'late', unknown: false },
  { kind: 'busy' },
];

describe('forwarded requests', () => {
  test.each(requests)('are read as they were written: %j', (request) => {
    const encoded = encodeRequest(request);
    const decoded = decodeRequest(encoded);
    expect({ ...decoded, body: [...decoded.body] }).toEqual({ ...request, body: [...request.body] });
    // Else a node of the version before tells nothing of what became of it.
    expect((encoded[1] ?? 0) & 4).toBe(4);
  });

  test('requests of another version, with unknown flags, or cut off are refused', () => {
    const whole = encodeRequest({ ...plain, body: new Uint8Array(0) });
    expect(() => decodeRequest(Uint8Array.of(2, ...whole.subarray(1)))).toThrow(FormatError);
    expect(() => decodeRequest(Uint8Array.of(1, 16, ...whole.subarray(2)))).toThrow(FormatError);
    const withModes = encodeRequest({ ...plain, readOnly: true, body: new Uint8Array(0) });
    expect(() => decodeRequest(Uint8Array.of(...withModes.subarray(0, -1), 128))).toThrow(FormatError);
    for (let length = 0; length < whole.length; length++) {
      expect(() => decodeRequest(whole.subarray(0, length))).toThrow(FormatError);
    }
  });
});

describe('answers', () => {
  test.each(answers)('are read as they were written: %j', (answer) => {
    expect(decodeAnswer(encodeAnswer(answer))).toEqual(answer);
  });

  test('answers in MessagePack stay bytes, and a conflict stays one', () => {
    const packed = decodeAnswer(
      encodeAnswer({ kind: 'reply', reply: { ok: true, result: Uint8Array.of(0xc0), index: 1 } }),
    );
    expect(packed.kind === 'reply' && packed.reply.ok && [...packed.reply.result]).toEqual([0xc0]);
    const conflict = decodeAnswer(encodeAnswer({ kind: 'reply', reply: conflictingKey() }));
    expect(conflict).toMatchObject({ reply: { ok: false, conflict: true } });
    const throttled = {
      ok: false,
      error: new QueryError(ErrorCode.MAX_QUOTA, 'x'),
      throttled: true,
    } as const;
    const told = decodeAnswer(encodeAnswer({ kind: 'reply', reply: throttled }));
    expect(told).toMatchObject({ reply: { ok: false, throttled: true } });
  });

  test('answers of another version or an unknown kind are refused', () => {
    expect(() => decodeAnswer(Uint8Array.of(2, 5))).toThrow(FormatError);
    expect(() => decodeAnswer(Uint8Array.of(1, 99))).toThrow(FormatError);
    expect(() => decodeAnswer(Uint8Array.of(1, 0, 0, 4))).toThrow(FormatError);
    expect(() => decodeAnswer(Uint8Array.of(1, 1, 0, 9, 6, 0))).toThrow(FormatError);
    expect(() => decodeAnswer(new Uint8Array(0))).toThrow(FormatError);
  });
});

describe('bodies', () => {
  const decode = (bytes: Uint8Array): RequestBody =>
    decodeBody(Buffer.from(bytes), 'msgpack', { msgpackNestingMax: 100 });
  const whole = (body: RequestBody): Uint8Array => encodeBody(body, ({ data }) => Buffer.from(data));

  test.each<[string, Packable]>([
    ['a query', { type: 'query', code: '.x = "ü";' }],
    [
      'a query with variables',
      { type: 'query', code: 'a;', vars: { a: [1, { b: 'ü' }], b: new Float64(1) } },
    ],
    ['a run', { type: 'run', name: 'p' }],
    ['a run with arguments', { type: 'run', name: 'p', args: [null, Uint8Array.of(0, 255)] }],
    ['a run with named arguments', { type: 'run', name: 'p', args: { x: -(2n ** 63n) } }],
  ])('bodies in MessagePack go on as they came: %s', (_what, body) => {
    expect(whole(decode(packed(body)))).toEqual(new Uint8Array(packed(body)));
  });

  test('bodies in JSON go on as MessagePack of the same values', () => {
    const args = [1, 2 ** 40, 'ü', [[], {}], { a: { b: null } }, true];
    const came = decodeBody(Buffer.from(JSON.stringify({ type: 'run', name: 'p', args })), 'json', {
      msgpackNestingMax: 100,
    });
    const sent = encodeBody(came, (values) => engine.toMsgpack(values));
    expect(sent).toEqual(new Uint8Array(packed({ type: 'run', name: 'p', args })));
    const named = decodeBody(Buffer.from('{"type":"query","code":"a;","vars":{"a":-1}}'), 'json', {
      msgpackNestingMax: 100,
    });
    expect(encodeBody(named, (values) => engine.toMsgpack(values))).toEqual(
      new Uint8Array(packed({ type: 'query', code: 'a;', vars: { a: -1 } })),
    );
  });

  test('bodies that are no values are told before they are sent', () => {
    const body = decodeBody(Buffer.from('{"type":"run","name":"p","args":[1e999]}'), 'json', {
      msgpackNestingMax: 100,
    });
    expect(() => encodeBody(body, (values) => engine.toMsgpack(values))).toThrow('too large');
  });
});
