import { expect, test } from '@jest/globals';
import { Harness } from '../testing/harness.js';

const db = new Harness();

test.each([
  ['cancelled_err', -64, 'operation is cancelled before completion'],
  ['operation_err', -63, 'operation is not valid in the current context'],
  ['num_arguments_err', -62, 'wrong number of arguments'],
  ['type_err', -61, 'object of inappropriate type'],
  ['value_err', -60, 'object has the right type but an inappropriate value'],
  ['overflow_err', -59, 'integer overflow'],
  ['zero_div_err', -58, 'division or modulo by zero'],
  ['max_quota_err', -57, 'max quota is reached'],
  ['auth_err', -56, 'authentication error'],
  ['forbidden_err', -55, 'forbidden (access denied)'],
  ['lookup_err', -54, 'requested resource not found'],
  ['bad_data_err', -53, 'unable to handle request due to invalid data'],
  ['syntax_err', -52, 'syntax error in query'],
  ['node_err', -51, 'node is temporary unable to handle the request'],
  ['assert_err', -50, 'assertion statement has failed'],
])('%s without a message has the documented text', (name, code, text) => {
  expect(db.run(`[${name}(), err(${code})].map(|e| [e.code(), e.msg()]);`)).toEqual([
    [code, text],
    [code, text],
  ]);
  expect(db.failure(`raise(${name}());`).message).toBe(text);
});
