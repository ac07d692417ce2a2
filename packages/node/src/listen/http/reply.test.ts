import { decodeMessagePack, stringifyJson } from '@althing/client';
import { duplicateError, ErrorCode, QueryError } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { conflictingKey, failedBehind } from '../../groups/request.js';
import { errorBody, formatOf, statusOf, statusOfReply } from './reply.js';

describe('the format of a request', () => {
  test.each([
    ['application/json', 'json'],
    ['text/json', 'json'],
    ['application/msgpack', 'msgpack'],
    ['application/x-msgpack', 'msgpack'],
    ['Application/JSON', 'json'],
    ['application/json; charset=utf-8', 'json'],
    ['application/json;charset=UTF-8', 'json'],
    ['application/json; charset="utf-8"', 'json'],
    ['application/json; charset=utf8; profile=x', 'json'],
    ['application/json ; version=1', 'json'],
    ['APPLICATION/MSGPACK; v=2', 'msgpack'],
  ] as const)('%s is %s', (contentType, format) => {
    expect(formatOf(contentType)).toBe(format);
  });

  test.each([
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json, application/msgpack',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'json',
    '__proto__',
    'constructor',
  ])('%p is none', (contentType) => {
    expect(formatOf(contentType)).toBeNull();
  });
});

describe('errors', () => {
  test('about what exists already are conflicts, and not about what is not found', () => {
    const exists = new QueryError(ErrorCode.LOOKUP, "there is a type or enum 'T' already", false, true);
    expect(statusOfReply({ ok: false, error: exists })).toBe('409 Conflict');
    const quota = new QueryError(ErrorCode.MAX_QUOTA, 'x');
    expect(statusOfReply({ ok: false, error: quota, throttled: true })).toBe('429 Too Many Requests');
    expect(statusOfReply({ ok: false, error: quota })).toBe('422 Unprocessable Entity');
    expect(statusOfReply({ ok: false, error: new QueryError(ErrorCode.LOOKUP, 'x') })).toBe('404 Not Found');
  });

  test.each([
    [-64, 422],
    [-63, 422],
    [-62, 422],
    [-61, 422],
    [-60, 422],
    [-59, 422],
    [-58, 422],
    [-57, 422],
    [-56, 401],
    [-55, 403],
    [-54, 404],
    [-53, 400],
    [-52, 400],
    [-51, 503],
    [-50, 422],
    [-6, 500],
    [-5, 504],
    [-4, 500],
    [-3, 500],
    [-2, 500],
    [-1, 500],
    [-100, 422],
    [-127, 422],
  ])('code %i has status %i', (code, status) => {
    expect(statusOf(new QueryError(code, 'x'))).toMatch(new RegExp(`^${status} [A-Z]`));
  });

  test('errors as JSON are well-formed, whatever the message', () => {
    const message = 'a "quoted"\\ line\n\u0000\u001b[31m </script> \ud83d\ude00';
    expect(JSON.parse(String(errorBody(new QueryError(ErrorCode.LOOKUP, message), 'json')))).toEqual({
      error: { code: -54, name: 'lookup_err', message, outcome: 'none' },
    });
  });

  test('errors as MessagePack are well-formed', () => {
    const body = errorBody(new QueryError(ErrorCode.TYPE, 'no'), 'msgpack');
    expect(Buffer.from(body).toString('latin1')).toBe(
      '\x81\xa5error\x84\xa4code\xd0\xc3\xa4name\xa8type_err\xa7message\xa2no\xa7outcome\xa4none',
    );
  });

  test('a code of a user has a body like all others', () => {
    expect(JSON.parse(String(errorBody(new QueryError(-100, 'mine'), 'json')))).toEqual({
      error: { code: -100, name: 'err', message: 'mine', outcome: 'none' },
    });
  });

  test('says where the error came from, in the query or in a procedure, and who called that', () => {
    const place = { line: 2, column: 3, offset: 9, length: 4 };
    const call = { line: 1, column: 1, offset: 0, length: 5 };
    const error = QueryError.of(
      -54,
      'no',
      false,
      [
        { ...place, in: 'report' },
        { ...call, in: null },
      ],
      null,
    );
    const told = { at: place, in: 'report', calls: [call] };
    expect(JSON.parse(String(errorBody(error, 'json')))).toMatchObject({ error: told });
    const packed = JSON.parse(stringifyJson(decodeMessagePack(Buffer.from(errorBody(error, 'msgpack')))));
    expect(packed).toMatchObject({ error: told });
    const alone = QueryError.of(-54, 'no', false, [{ ...place, in: null }], null);
    expect(Object.keys(JSON.parse(String(errorBody(alone, 'json'))).error)).toEqual([
      'code',
      'name',
      'message',
      'outcome',
      'at',
    ]);
  });

  test('says what the error is about, for programs', () => {
    const detail = { type: 'User', index: 'email', fields: ['email', 'nr'], key: ['ann"x', 1.5], id: 7 };
    const error = duplicateError('no', detail);
    expect(JSON.parse(String(errorBody(error, 'json')))).toMatchObject({ error: { detail } });
    const packed = stringifyJson(decodeMessagePack(Buffer.from(errorBody(error, 'msgpack'))));
    expect(JSON.parse(packed)).toMatchObject({ error: { detail } });
    const secret = { ...detail, key: null, id: null };
    expect(JSON.parse(String(errorBody(duplicateError('no', secret), 'json')))).toMatchObject({
      error: { detail: secret },
    });
    const odd = { ...detail, key: [2n ** 63n - 1n, Number.NaN] };
    expect(String(errorBody(duplicateError('no', odd), 'json'))).toContain('[9223372036854775807,"NaN"]');
  });

  test.each(['none', 'unknown', 'made'] as const)('says what became of the changes: %s', (outcome) => {
    const error = new QueryError(ErrorCode.NODE, 'no');
    expect(JSON.parse(String(errorBody(error, 'json', outcome)))).toMatchObject({ error: { outcome } });
    expect(Buffer.from(errorBody(error, 'msgpack', outcome)).toString('latin1')).toContain(
      `outcome${String.fromCharCode(0xa0 + outcome.length)}${outcome}`,
    );
  });

  test.each([-51, -5, -6, -54, -63])(
    'code %i has status 504 when nobody knows, and is not 503 when the change was made',
    (code) => {
      expect(statusOf(new QueryError(code, 'x'), 'unknown')).toBe('504 Gateway Timeout');
      expect(statusOf(new QueryError(code, 'x'), 'made')).toBe('500 Internal Server Error');
    },
  );

  test.each([
    [-58, '422 Unprocessable Entity'],
    [-54, '404 Not Found'],
    [-55, '403 Forbidden'],
    [-53, '400 Bad Request'],
    [-127, '422 Unprocessable Entity'],
    [-6, '500 Internal Server Error'],
    [-1, '500 Internal Server Error'],
    [-5, '500 Internal Server Error'],
    [-51, '500 Internal Server Error'],
    [-64, '500 Internal Server Error'],
  ])('code %i of a future that failed behind what was made has status %s', (code, status) => {
    expect(statusOfReply(failedBehind(new QueryError(code, 'x'), 1))).toBe(status);
  });

  test('a key of another request has status 409, unless nobody knows what became of the change', () => {
    const reply = conflictingKey();
    if (reply.ok) throw new Error('a conflict is no value');
    expect(statusOfReply(reply)).toBe('409 Conflict');
    expect(statusOfReply({ ...reply, outcome: 'unknown' })).toBe('504 Gateway Timeout');
  });
});
