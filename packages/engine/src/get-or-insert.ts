/**
 * The value of a key, made and kept first where there is none: `Map.prototype.getOrInsertComputed`, which Node.js 20 lacks.
 * Each call makes a closure, so what runs for every request or value does the same by hand.
 */
export function getOrInsertComputed<K, V extends object>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
