/** The binary operators on two ints that are JavaScript numbers, as expressions; everything else goes to `operate`. */
import type { BinaryOp } from '@althing/language';

/** An expression over two names, right only while a condition holds that may use a third one for the result. */
interface NumberOperator {
  readonly kind: 'number' | 'boolean';
  /** The condition, which may leave the result in `r`; empty when it always holds. */
  readonly holds: (a: string, b: string, r: string) => string;
  readonly result: (a: string, b: string, r: string) => string;
}

const SAFE = '9007199254740991';

const inRange = (operator: string): NumberOperator => ({
  kind: 'number',
  holds: (a, b, r) => `(${r} = ${a} ${operator} ${b}) <= ${SAFE} && ${r} >= -${SAFE}`,
  result: (_a, _b, r) => r,
});

const comparison = (operator: string): NumberOperator => ({
  kind: 'boolean',
  holds: () => '',
  result: (a, b) => `${a} ${operator} ${b}`,
});

const bitwise = (operator: string): NumberOperator => ({
  kind: 'number',
  holds: (a, b) => `(${a} | 0) === ${a} && (${b} | 0) === ${b}`,
  result: (a, b) => `(${a} ${operator} ${b})`,
});

/** The same conditions as in `value/numbers.ts`. What is not here has no fast way. */
export const NUMBER_OPERATORS: Readonly<Partial<Record<BinaryOp, NumberOperator>>> = {
  '+': inRange('+'),
  '-': inRange('-'),
  // A product of 0 and a negative number is -0, which no int is.
  '*': { ...inRange('*'), result: (_a, _b, r) => `(${r} + 0)` },
  '/': {
    kind: 'number',
    holds: (a, b) => `${b} !== 0 && ${a} < 4503599627370496 && ${a} > -4503599627370496`,
    result: (a, b) => `(Math.trunc(${a} / ${b}) + 0)`,
  },
  '%': {
    kind: 'number',
    holds: (_a, b) => `${b} !== 0`,
    result: (a, b) => `(${a} % ${b} + 0)`,
  },
  '&': bitwise('&'),
  '|': bitwise('|'),
  '^': bitwise('^'),
  '==': comparison('==='),
  '!=': comparison('!=='),
  '<': comparison('<'),
  '>': comparison('>'),
  '<=': comparison('<='),
  '>=': comparison('>='),
};
