import {
  ERROR_NAMES,
  ErrorCode,
  errorName,
  MESSAGE_BYTES_MAX,
  QueryError,
  typeError,
  valueError,
} from '../error.js';
import { type Entry, func, In, method, type Receiver, variadic } from '../run/builtin.js';
import { textFor } from '../run/charge.js';
import { STEPS_PER_ERROR } from '../run/limits.js';
import * as p from '../run/params.js';
import { toText } from '../value/convert.js';
import { isTruthy } from '../value/kinds.js';
import { Bytes, ErrorValue, Float, MpData } from '../value/scalars.js';
import { Tag } from '../value/tag.js';
import { Thing } from '../value/thing.js';
import { typeName, type Value } from '../value/value.js';

const ERROR: Receiver<ErrorValue> = { tags: [Tag.ERROR] };

const CODE: p.Param<number> = { ...p.any('code'), type: 'an int from -127 to -50', accept: errorCode };
const MESSAGE = p.checked(p.str('message'), checkedMessage);

/** Errors, and the small functions around the running query. */
export const CORE: readonly Entry[] = [
  variadic('try', {
    doc: 'Gives the value of an expression, or the error value when it fails with one of the given errors (default: any). What it changed before it failed stays.',
    params: [p.lazy('expression')],
    rest: p.lazy('error'),
    run: (rt, expression, errors) => {
      const { signal } = rt;
      try {
        return expression();
      } catch (error) {
        if (!(error instanceof QueryError) || error.fatal) throw error;
        rt.step(STEPS_PER_ERROR);
        rt.signal = signal;
        if (errors.length > 0 && !errors.some((code) => codeOf(code()) === error.code)) throw error;
        return new ErrorValue(error.code, error.message);
      }
    },
  }),
  func('alt_raise', {
    doc: 'Gives the value of an expression; when it fails, raises another error instead.',
    params: [p.lazy('expression'), p.later(CODE), p.optional(p.later(MESSAGE))],
    run: (rt, expression, code, message) => {
      try {
        return expression();
      } catch (error) {
        if (!(error instanceof QueryError) || error.fatal) throw error;
        rt.step(STEPS_PER_ERROR);
        throw new QueryError(code(), message === undefined ? error.message : message());
      }
    },
  }),
  func('raise', {
    doc: 'Ends the query with an error, or with code -100 and a message.',
    params: [p.optional(p.any('error'))],
    run: (_rt, value) => {
      if (value === undefined) throw new QueryError(USER_ERROR, defaultMessage(USER_ERROR));
      if (value instanceof ErrorValue) throw new QueryError(value.code, value.message, false);
      if (typeof value === 'string') throw new QueryError(USER_ERROR, checkedMessage(value));
      if (value instanceof Bytes || value instanceof MpData) {
        throw new QueryError(USER_ERROR, checkedMessage(toText(new Bytes(value.data))));
      }
      throw typeError(`raise() takes an error or a text, not ${typeName(value)}`);
    },
  }),
  func('assert', {
    doc: 'Raises assert_err with a message unless the condition holds.',
    params: [p.any('condition'), p.optional(p.later(MESSAGE))],
    run: (_rt, condition, message) => {
      if (isTruthy(condition)) return null;
      throw new QueryError(ErrorCode.ASSERT, message === undefined ? 'assertion failed' : message());
    },
  }),
  func('err', {
    doc: 'Makes an error value: code from -127 to -50 (default -100) and message.',
    params: [p.optional(CODE), p.optional(MESSAGE)],
    run: (_rt, code = USER_ERROR, message = defaultMessage(code)) => new ErrorValue(code, message),
  }),
  ...[...ERROR_NAMES].map(([code, name]) =>
    func(name, {
      doc: `Makes an error value with code ${code}.`,
      params: [p.optional(MESSAGE)],
      run: (_rt, message = defaultMessage(code)) => new ErrorValue(code, message),
    }),
  ),
  method(ERROR, 'code', { doc: 'The code of the error.', run: (_rt, error) => error.code }),
  method(ERROR, 'msg', { doc: 'The message of the error.', run: (_rt, error) => error.message }),

  func('wse', {
    in: In.ALL,
    doc: 'Gives its argument; makes the whole query a change ("with side effects").',
    params: [p.optional(p.any('value'))],
    changes: { scopes: In.DATA },
    run: (_rt, value = null) => value,
  }),
  func('nse', {
    role: 'nse',
    doc: 'Gives its argument; text behind it does not make the query a change ("no side effects").',
    params: [p.optional(p.any('value'))],
    run: (_rt, value = null) => value,
  }),
  func('change_id', {
    doc: 'Number of the change that runs; nil in a query without one. Rises with every change of the scope.',
    readsState: true,
    run: (rt) => (rt.transaction.writable ? rt.scope.changeId : null),
  }),
  func('deep', {
    doc: 'The depth of the result, 0 to 127; with an argument sets it first.',
    params: [p.optional(p.any('deep'))],
    readsState: true,
    run: (rt, deep) => {
      if (deep !== undefined) rt.setDeep(deep);
      return rt.deep;
    },
  }),
  func('log', {
    doc: 'Writes a text to the log of the node, with scope, user, procedure and request, and sends it to a client of the native protocol as a warning.',
    params: [p.any('value')],
    run: (rt, value) => {
      const text = textFor(rt, value);
      rt.environment.log(text, {
        scope: rt.scope.name,
        user: rt.user.name,
        procedure: rt.procedureName,
        task: rt.run?.id ?? null,
        request: rt.requestId,
      });
      rt.outlet?.log(text);
      return null;
    },
  }),
  func('refs', {
    doc: 'A hint of how many references to the value exist; for diagnosis only.',
    params: [p.any('value')],
    run: (_rt, value) => (value instanceof Thing ? value.refs + 1 : 1),
  }),
  func('timeit', {
    doc: 'Runs an expression and gives a thing with its value (data) and the seconds it took (time).',
    params: [p.lazy('expression')],
    run: (rt, expression) => {
      const start = rt.environment.monotonic();
      const data = expression();
      const seconds = (rt.environment.monotonic() - start) / 1000;
      const thing = new Thing(0, rt.shapes.empty(), []);
      rt.transaction.setProperty(thing, 'data', data);
      rt.transaction.setProperty(thing, 'time', new Float(seconds));
      return thing;
    },
  }),
  func('type', {
    doc: 'Name of the type of a value.',
    params: [p.any('value')],
    run: (rt, value) => {
      if (value instanceof Thing) rt.load(value);
      return typeName(value);
    },
  }),
  func('root', {
    doc: 'The root thing of the collection; nil in other scopes.',
    readsState: true,
    run: (rt) => (rt.store === null ? null : rt.store.root),
  }),
];

const USER_ERROR = -100;

function errorCode(value: Value, where: p.Where): number {
  if (typeof value !== 'number' && typeof value !== 'bigint')
    throw p.wrongType(value, where, 'code', 'an int');
  if (value < -127 || value > -50) throw valueError(`an error code must be from -127 to -50, not ${value}`);
  return Number(value);
}

function checkedMessage(message: string): string {
  if (message.length * 3 > MESSAGE_BYTES_MAX && Buffer.byteLength(message) > MESSAGE_BYTES_MAX) {
    throw valueError(`an error message has at most ${MESSAGE_BYTES_MAX} bytes`);
  }
  return message;
}

function defaultMessage(code: number): string {
  const name = errorName(code);
  return name === 'err' ? `error:${code}` : (DEFAULT_MESSAGES[name] ?? name);
}

/** Programs show and compare these, so they are the texts that ThingsDB documents. */
const DEFAULT_MESSAGES: Readonly<Record<string, string>> = {
  cancelled_err: 'operation is cancelled before completion',
  operation_err: 'operation is not valid in the current context',
  num_arguments_err: 'wrong number of arguments',
  type_err: 'object of inappropriate type',
  value_err: 'object has the right type but an inappropriate value',
  overflow_err: 'integer overflow',
  zero_div_err: 'division or modulo by zero',
  max_quota_err: 'max quota is reached',
  auth_err: 'authentication error',
  forbidden_err: 'forbidden (access denied)',
  lookup_err: 'requested resource not found',
  bad_data_err: 'unable to handle request due to invalid data',
  syntax_err: 'syntax error in query',
  node_err: 'node is temporary unable to handle the request',
  assert_err: 'assertion statement has failed',
};

/** The code of an error value given to `try`. */
function codeOf(value: Value): number {
  if (value instanceof ErrorValue) return value.code;
  throw typeError(`try() takes error values after the expression, not ${typeName(value)}`);
}
