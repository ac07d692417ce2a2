import { expect, test } from '@jest/globals';
import { networkOf } from './network-of.js';

test('an IPv4 address stands for itself, one of IPv6 for its network of 64 bits', () => {
  expect(
    ['10.1.2.3', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::6', '2001:db8::6', '::1', '::', 'fe80::1'].map(
      networkOf,
    ),
  ).toEqual(['10.1.2.3', '2001:db8:1:2', '2001:db8:1:2', '2001:db8:0:0', '0:0:0:0', '0:0:0:0', 'fe80:0:0:0']);
});
