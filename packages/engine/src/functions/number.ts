import { type Entry, method, type Receiver } from '../run/builtin.js';
import { Tag } from '../value/tag.js';

const INT: Receiver<number | bigint> = { tags: [Tag.INT] };

/** Methods of ints. */
export const NUMBER: readonly Entry[] = [
  method(INT, 'bit_count', {
    doc: 'Number of one bits in the absolute value.',
    run: (_rt, value) => {
      if (typeof value === 'bigint') {
        const bits = BigInt.asUintN(64, value < 0n ? -value : value);
        return ones(Number(bits >> 32n)) + ones(Number(bits & 0xffffffffn));
      }
      const magnitude = Math.abs(value);
      return ones(Math.floor(magnitude / 2 ** 32)) + ones(magnitude % 2 ** 32);
    },
  }),
];

/**
 * Number of one bits in 32 bits, by adding up neighbours in parallel: Henry S. Warren, "Hacker's Delight" (2nd edition),
 * section 5-1.
 */
function ones(word: number): number {
  let bits = word | 0;
  bits -= (bits >>> 1) & 0x55555555;
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  bits = (bits + (bits >>> 4)) & 0x0f0f0f0f;
  return Math.imul(bits, 0x01010101) >>> 24;
}
