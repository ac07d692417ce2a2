// @ts-check
/**
 * Sets of characters, as the generator reasons about them: each of the 128 ASCII codes for itself, and all the rest as
 * one ("other"). A set is a bigint with bit n for code n and bit 128 for the rest.
 *
 * @typedef {bigint} CharSet
 */

/** @type {CharSet} */
export const NONE = 0n;
/** @type {CharSet} */
export const OTHER = 1n << 128n;
/** @type {CharSet} */
export const ALL = (1n << 129n) - 1n;
/** Behind the last character the parser reads a 0, so the end of the text looks like this one. @type {CharSet} */
export const END = 1n;

/** @param {number} code @returns {CharSet} */
export const single = (code) => {
  if (code > 127) throw new Error(`character ${code}: the grammar may name ASCII characters only`);
  return 1n << BigInt(code);
};

/** @param {string} from @param {string} to @returns {CharSet} */
export function range(from, to) {
  let set = NONE;
  for (let code = from.charCodeAt(0); code <= to.charCodeAt(0); code++) set |= single(code);
  return set;
}

/** @param {CharSet} set @param {number} code */
export const has = (set, code) => (set & (1n << BigInt(code))) !== 0n;

/**
 * The stretches of codes in the set, `[from, to]` both included; the rest appears as a stretch that ends at Infinity.
 *
 * @param {CharSet} set
 * @returns {[number, number][]}
 */
function stretches(set) {
  /** @type {[number, number][]} */
  const found = [];
  for (let code = 0; code <= 128; code++) {
    if (!has(set, code)) continue;
    const from = code;
    while (code < 128 && has(set, code + 1)) code++;
    found.push([from, code === 128 ? Number.POSITIVE_INFINITY : code]);
  }
  return found;
}

/**
 * A TypeScript condition that holds when the character code in the variable `c` is in the set.
 *
 * @param {CharSet} set
 * @param {string} c
 * @returns {string}
 */
export function condition(set, c) {
  if (set === ALL) return 'true';
  const missing = ALL & ~set;
  if (stretches(missing).length < stretches(set).length) {
    return stretches(missing)
      .map(([from, to]) => (from === to ? `${c} !== ${from}` : `(${outside(c, from, to)})`))
      .join(' && ');
  }
  const tests = stretches(set).map(([from, to]) => {
    if (from === to) return `${c} === ${from}`;
    if (to === Number.POSITIVE_INFINITY) return `${c} >= ${from}`;
    if (from === 0) return `${c} <= ${to}`;
    return `(${c} >= ${from} && ${c} <= ${to})`;
  });
  return tests.length === 1 ? /** @type {string} */ (tests[0]) : `(${tests.join(' || ')})`;
}

/** @param {string} c @param {number} from @param {number} to */
function outside(c, from, to) {
  if (to === Number.POSITIVE_INFINITY) return `${c} < ${from}`;
  if (from === 0) return `${c} > ${to}`;
  return `${c} < ${from} || ${c} > ${to}`;
}
