import { type Engine, type Prepared, RecordKind, type User } from '@althing/engine';
import { ROOT_GROUP } from '../../between/protocol.js';
import type { GroupSession } from '../../groups/group-session.js';
import type { State } from '../../groups/state.js';

export interface LocalReadOptions {
  readonly engine: Pick<Engine, 'prepare' | 'run' | 'scope'>;
  readonly state: Pick<State, 'isOpen'> & { readonly store: Pick<State['store'], 'read'> };
  /** The session of the root group; null until it is open. */
  readonly session: () => Pick<GroupSession, 'readable'> | null;
  /** Called at the first failure in a row: damage for instance. */
  readonly onFailure: (error: unknown) => void;
}

/** Reads the state of the root scope, which every node has, and says nothing of what is there. */
const CODE = "has_collection('-');";

const NOBODY: User = { id: 0, name: '', createdAt: 0, password: null, tokens: [] };

/**
 * A little read on the way that the reads of clients take: a query that the engine runs on its state and
 * packs, and a record of LevelDB. It takes some microseconds, so it can be done again and again; a node that
 * turns its event loop and can't do this is of no use to anybody.
 */
export class LocalRead {
  private prepared: Prepared | null = null;
  private failed = false;

  constructor(private readonly options: LocalReadOptions) {}

  /** Reads, and tells whether it could. It can't while the state is being opened again, for instance. */
  attempt(): boolean {
    try {
      const done = this.read();
      if (done) this.failed = false;
      return done;
    } catch (error) {
      if (!this.failed) this.options.onFailure(error);
      this.failed = true;
      return false;
    }
  }

  private read(): boolean {
    const { engine, state, session } = this.options;
    const scope = engine.scope('thingsdb');
    if (scope === undefined || !state.isOpen || session()?.readable !== true) return false;
    state.store.read(ROOT_GROUP, RecordKind.META, 0);
    this.prepared ??= engine.prepare(CODE);
    const body = { kind: 'query', prepared: this.prepared, vars: null } as const;
    return engine.run({ scope, user: NOBODY, format: 'json', body }).kind === 'value';
  }
}
