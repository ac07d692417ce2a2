/**
 * A map by ids that may get millions of entries, and never stands still to grow: a `Map` of a million moves all of them at once, for some
 * hundred milliseconds, and has room for sixteen million.
 */
export class ShardedMap<V> {
  private readonly shards = Array.from({ length: SHARDS }, () => new Map<number, V>());

  get(id: number): V | undefined {
    return this.shardOf(id).get(id);
  }

  has(id: number): boolean {
    return this.shardOf(id).has(id);
  }

  set(id: number, value: V): void {
    this.shardOf(id).set(id, value);
  }

  *keys(): Generator<number, void, undefined> {
    for (const shard of this.shards) yield* shard.keys();
  }

  *values(): Generator<V, void, undefined> {
    for (const shard of this.shards) yield* shard.values();
  }

  clear(): void {
    for (const shard of this.shards) shard.clear();
  }

  private shardOf(id: number): Map<number, V> {
    return this.shards[id % SHARDS]!;
  }
}

const SHARDS = 256;
