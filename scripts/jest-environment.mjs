/**
 * Jest's environment for Node.js, with an ordinary global object. In Jest's own each use of a global (`Math`, `Map`, `Uint8Array`)
 * goes through a proxy: tests that compute much take twice the time.
 */
import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

export default class PlainEnvironment extends TestEnvironment {
  constructor(config, context) {
    const { createContext } = vm;
    const plain = vm.constants?.DONT_CONTEXTIFY;
    // Earlier versions of Node.js do not know it.
    if (plain !== undefined) vm.createContext = () => createContext(plain);
    try {
      super(config, context);
    } finally {
      vm.createContext = createContext;
    }
  }
}
