import { ErrorCode, QueryError } from '@althing/engine';
import { describe, expect, test } from '@jest/globals';
import { errorBody, formatOf, statusOf } from './reply.js';

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

  test('as JSON, whatever the message', () => {
    const message = 'a "quoted"\\ line\n\u0000\u001b[31m </script> \ud83d\ude00';
    expect(JSON.parse(String(errorBody(new QueryError(ErrorCode.LOOKUP, message), 'json')))).toEqual({
      error: { code: -54, name: 'lookup_err', message },
    });
  });

  test('as MessagePack', () => {
    const body = errorBody(new QueryError(ErrorCode.TYPE, 'no'), 'msgpack');
    expect(Buffer.from(body).toString('latin1')).toBe(
      '\x81\xa5error\x83\xa4code\xd0\xc3\xa4name\xa8type_err\xa7message\xa2no',
    );
  });

  test('a code of a user has a body like all others', () => {
    expect(JSON.parse(String(errorBody(new QueryError(-100, 'mine'), 'json')))).toEqual({
      error: { code: -100, name: 'err', message: 'mine' },
    });
  });
});
