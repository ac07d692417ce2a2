import { EMPTY_SOURCE, type Engine } from '@althing/engine';
import { LocalEngine } from '../harness/local-engine.js';

/** An engine with one collection. */
export class Machine {
  readonly engine: Engine;
  private readonly local = new LocalEngine({ durationMs: 60_000, memoryBytes: 4 * 1024 ** 3 });
  private readonly collection: number;

  constructor() {
    this.engine = this.local.engine;
    this.local.bootstrap();
    const id = this.local.idOf('stuff');
    if (id === undefined) throw new Error('a new cluster has a collection stuff');
    this.collection = id;
  }

  /** Puts an empty collection in the place of the present one. */
  clear(): void {
    this.local.openCollection(this.collection, EMPTY_SOURCE).create();
  }

  /** Runs a query; its result as JSON. */
  run(code: string): string {
    const body = { kind: 'query', prepared: this.engine.prepare(code), vars: null } as const;
    const scope = this.engine.scope(this.collection);
    if (scope === undefined) throw new Error('the collection is not open');
    const outcome = this.engine.run({ scope, user: this.local.admin, body, format: 'json' });
    if (outcome.kind === 'value') return String(outcome.result);
    throw new Error(outcome.kind === 'error' ? `${code}: ${outcome.error.message}` : 'a hash is asked for');
  }
}
