import { setFlagsFromString } from 'node:v8';

/**
 * Bytecode that a function runs, in bytes, before V8 looks whether it is to be compiled; V8's own is 67,584. A node runs the same
 * paths at each request, so it compiles them sooner than a program that ends. Until it has, a request takes up to three times the
 * processor time, and with few requests a second that lasts for minutes.
 */
const INTERRUPT_BUDGET = 20_000;

/**
 * Has this process and its threads compile what they run often sooner than programs do by default: on Node.js 20. Newer versions
 * count calls, and print an error for a flag that they do not know.
 */
export function compileSooner(): void {
  if (process.version.startsWith('v20.')) setFlagsFromString(`--interrupt-budget=${INTERRUPT_BUDGET}`);
}
