/** Comparing trees that may nest deeper than a recursive comparison could follow. */

/** The path to the first difference between two values of plain data, or null. Undefined fields do not exist. */
export function difference(a: unknown, b: unknown): string | null {
  const work: [unknown, unknown, string][] = [[a, b, '']];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const [left, right, path] = next;
    if (Object.is(left, right)) continue;
    if (!isObject(left) || !isObject(right)) return `${path}: ${String(left)} is not ${String(right)}`;
    if (Array.isArray(left) !== Array.isArray(right)) return `${path}: one is a list`;
    const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
    for (const key of keys) work.push([left[key], right[key], `${path}.${key}`]);
  }
  return null;
}

/** A copy of a tree without the places in the source. */
export function withoutPlaces(value: unknown): unknown {
  const copies = new Map<object, unknown>();
  const copyOf = (each: unknown): unknown => {
    if (!isObject(each)) return each;
    const copy = Array.isArray(each) ? [] : {};
    copies.set(each, copy);
    return copy;
  };
  const root = copyOf(value);
  for (const [original, copy] of copies) {
    if (!isObject(original) || !isObject(copy)) continue;
    for (const [key, each] of Object.entries(original)) {
      if (key !== 'start' && key !== 'end') copy[key] = copyOf(each);
    }
  }
  return root;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
