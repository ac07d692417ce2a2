import { Bytes, Float, FormatError, List, QueryError, Thing, type Value } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { decodeBody } from '../http/body.js';
import { conflictingKey, type RequestBody } from '../request.js';
import { MiniCluster } from '../testing/mini-cluster.js';
import {
  decodeAnswer,
  decodeRequest,
  encodeAnswer,
  encodeBody,
  encodeRequest,
  type ForwardedAnswer,
  type ForwardedRequest,
} from './format.js';

const { shapes } = new MiniCluster(1).node(1).engine.runtime;

const plain: ForwardedRequest = {
  group: 12,
  epoch: 1_700_000_000_000,
  sequence: 3,
  low: 2,
  rootIndex: 99,
  deadlineMs: 10_000,
  user: 1,
  format: 'json',
  scope: { kind: 'collection', name: 'stuff' },
  key: null,
  id: null,
  body: Uint8Array.of(1, 2, 3),
};

const requests: readonly ForwardedRequest[] = [
  plain,
  { ...plain, scope: { kind: 'thingsdb' }, format: 'msgpack', body: new Uint8Array(0) },
  { ...plain, scope: { kind: 'node', id: 0 } },
  { ...plain, scope: { kind: 'node', id: null } },
  { ...plain, key: { key: 'ключ', body: new Uint8Array(16).fill(5) } },
  { ...plain, id: 'abc-1' },
  { ...plain, key: { key: 'k', body: new Uint8Array(16).fill(5) }, id: 'abc-2' },
];

const answers: readonly ForwardedAnswer[] = [
  { kind: 'reply', reply: { ok: true, result: '"ü"', index: 7 } },
  { kind: 'reply', reply: { ok: true, result: '', index: 0 } },
  { kind: 'reply', reply: { ok: false, error: new QueryError(-54, 'not there'), index: 8 } },
  { kind: 'reply', reply: { ok: false, error: new QueryError(12, 'of a user'), index: 0 } },
  { kind: 'elsewhere', leader: 2 ** 48 - 1 },
  { kind: 'lost', unknown: true },
  { kind: 'late', unknown: false },
  { kind: 'busy' },
];

describe('forwarded requests', () => {
  test.each(requests)('are read as they were written: %j', (request) => {
    const decoded = decodeRequest(encodeRequest(request));
    expect({ ...decoded, body: [...decoded.body] }).toEqual({ ...request, body: [...request.body] });
  });

  test('of another version, with unknown flags, or cut off are refused', () => {
    const whole = encodeRequest({ ...plain, body: new Uint8Array(0) });
    expect(() => decodeRequest(Uint8Array.of(2, ...whole.subarray(1)))).toThrow(FormatError);
    expect(() => decodeRequest(Uint8Array.of(1, 8, ...whole.subarray(2)))).toThrow(FormatError);
    for (let length = 0; length < whole.length; length++) {
      expect(() => decodeRequest(whole.subarray(0, length))).toThrow(FormatError);
    }
  });
});

describe('answers', () => {
  test.each(answers)('are read as they were written: %j', (answer) => {
    expect(decodeAnswer(encodeAnswer(answer))).toEqual(answer);
  });

  test('in MessagePack stay bytes, and a conflict stays one', () => {
    const packed = decodeAnswer(
      encodeAnswer({ kind: 'reply', reply: { ok: true, result: Uint8Array.of(0xc0), index: 1 } }),
    );
    expect(packed.kind === 'reply' && packed.reply.ok && [...packed.reply.result]).toEqual([0xc0]);
    const conflict = decodeAnswer(encodeAnswer({ kind: 'reply', reply: conflictingKey() }));
    expect(conflict).toMatchObject({ reply: { ok: false, conflict: true } });
  });

  test('of another version or an unknown kind are refused', () => {
    expect(() => decodeAnswer(Uint8Array.of(2, 5))).toThrow(FormatError);
    expect(() => decodeAnswer(Uint8Array.of(1, 99))).toThrow(FormatError);
    expect(() => decodeAnswer(new Uint8Array(0))).toThrow(FormatError);
  });
});

describe('bodies', () => {
  const thing = new Thing(0, shapes.empty(), []);
  const values: readonly Value[] = [
    null,
    true,
    -5,
    2 ** 40,
    9_223_372_036_854_775_807n,
    -9_223_372_036_854_775_808n,
    new Float(1),
    new Float(-0),
    new Float(Number.NaN),
    new Float(Number.POSITIVE_INFINITY),
    'text ü€𝄞',
    '',
    new Bytes(Uint8Array.of(0, 255)),
    new List([1, new List([])]),
    thing,
  ];

  test.each<RequestBody>([
    { type: 'query', code: '.x = "ü";', vars: null },
    { type: 'query', code: 'a;', vars: new Map(values.map((value, i) => [`v${i}`, value])) },
    { type: 'run', name: 'p', args: [] },
    { type: 'run', name: 'p', args: values },
    { type: 'run', name: 'p', args: new Map(values.map((value, i) => [`v${i}`, value])) },
  ])('are read as they were written: $type', (body) => {
    const decode = (bytes: Uint8Array): RequestBody =>
      decodeBody(Buffer.from(bytes), 'msgpack', { shapes, msgpackNestingMax: 100 });
    const sent = encodeBody(body);
    const arrived = decode(sent);
    expect(encodeBody(arrived)).toEqual(sent);
    expect(decode(encodeBody(arrived))).toEqual(arrived);
    expect(scalarsOf(arrived)).toEqual(scalarsOf(body));
  });
});

/** The values of a body that are the same in memory wherever they come from. */
function scalarsOf(body: RequestBody): Value[] {
  const all = body.type === 'query' ? [...(body.vars ?? new Map()).values()] : [...body.args.values()];
  return all.filter((value) => typeof value !== 'object' || value === null || value instanceof Float);
}
