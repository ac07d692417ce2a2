import { assert } from '../assert.js';
import type { NodeId } from '../types.js';
import { Violation } from './checker.js';

/** Sees that each read that was asked for is answered or dropped, once, where it was asked. */
export class ReadWitness {
  /** Reads that were answered. */
  answered = 0;
  private count = 0;
  /** The nodes where reads were asked that were not yet answered or dropped, by the names of the reads. */
  private readonly places = new Map<string, NodeId>();

  /** A name for a read. */
  next(node: NodeId): string {
    this.count += 1;
    return `${node}:${this.count}`;
  }

  /** Names of the reads that were not yet answered or dropped. */
  get open(): string[] {
    return [...this.places.keys()];
  }

  asked(name: string, node: NodeId): void {
    this.places.set(name, node);
  }

  /** The process of a node has died, and its reads with it. */
  crashed(node: NodeId): void {
    for (const [name, id] of this.places) if (id === node) this.places.delete(name);
  }

  /** @throws Violation */
  told(node: NodeId, outcome: 'ready' | 'dropped', context: unknown): void {
    assert(
      typeof context === 'object' && context !== null && 'name' in context,
      'A context comes back as it was',
    );
    const name = String(context.name);
    if (this.places.get(name) !== node) throw new Violation('I8', `the read ${name} is answered twice`);
    this.places.delete(name);
    if (outcome === 'ready') this.answered += 1;
  }
}
