/**
 * Clients that ask for snapshots, at every node, while all else goes on. What one shows is what the entries up to its
 * `Althing-Index` make, which are repeated for that at the end; and where it has to hold all that was acknowledged, it does (I29).
 */
import { EMPTY_SOURCE } from '@althing/engine';
import { decodeEntry, type GroupId, ORDINARY_TERMS, type Reply } from '@althing/node/parts';
import { LocalEngine } from '../harness/local-engine.js';
import { Repetition } from './contents.js';
import type { Process } from './process.js';
import type { Draw } from './random.js';
import { Violation } from './watcher.js';
import { ADMIN, READ_ALL } from './workload.js';

/** Reads a list of things first, of which not all are in one page. */
const CODE = `tiles = .tiles.map(|tile| tile.n); [tiles, ${READ_ALL.slice(0, -1)}];`;

/** Mean time between two questions at a node, in milliseconds, and how many of a run are asked. */
const PAUSE_MS = 1500;
const LOOKS_MAX = 30;

interface Look {
  readonly node: string;
  readonly group: GroupId;
  readonly index: number;
  readonly result: string;
}

export interface SnapshotLooksOptions {
  readonly draw: Draw;
  /** The entries of a group that are committed, by their index; undefined for one of Raft's own. */
  readonly entriesOf: (group: GroupId) => ReadonlyMap<number, Uint8Array | undefined>;
  readonly onViolation: (error: unknown) => void;
  readonly onReached: (place: string) => void;
}

export class SnapshotLooks {
  private readonly looks: Look[] = [];
  private asked = 0;
  private working = false;

  constructor(private readonly options: SnapshotLooksOptions) {}

  /** Lets a process be asked, as long as it lives. */
  attend(process: Process, collections: readonly string[]): void {
    const { draw } = this.options;
    const look = (): void => {
      if (!process.alive) return;
      if (this.working && this.asked < LOOKS_MAX) this.ask(process, draw.pick(collections));
      process.engineThread.after(draw.exponential(PAUSE_MS), look);
    };
    look();
  }

  start(): void {
    this.working = true;
  }

  /** Nobody asks any more. */
  stop(): void {
    this.working = false;
  }

  private ask({ root, side, machine }: Process, name: string): void {
    const { draw, entriesOf } = this.options;
    const user = root?.usersByName.get(ADMIN);
    const group = root?.collectionsByName.get(name)?.id;
    if (user === undefined || group === undefined || side === null) return;
    this.asked += 1;
    const isNew = draw.chance(0.3);
    const known = Math.max(0, ...entriesOf(group).keys());
    side.router.handle(
      {
        scope: { kind: 'collection', name },
        user,
        body: { type: 'query', code: CODE, vars: null },
        format: 'json',
        client: { gone: false },
        terms: { ...ORDINARY_TERMS, snapshot: { maxAgeMs: isNew ? 0 : null } },
      },
      (reply) => this.note(reply, machine.name, group, isNew ? known : 0),
    );
  }

  /** @param known the index that it has to hold at least */
  private note(reply: Reply, node: string, group: GroupId, known: number): void {
    const { onViolation, onReached } = this.options;
    // Before a collection has what it begins with.
    if (!reply.ok) return;
    const { index = 0, result } = reply;
    onReached(known > 0 ? 'a snapshot holds all that was acknowledged' : 'a snapshot is read');
    if (index < known)
      onViolation(new Violation('I29', `a snapshot on ${node} is of ${index}, and ${known} was committed`));
    this.looks.push({ node, group, index, result: String(result) });
  }

  /**
   * Compares what was read with what the entries make.
   *
   * @throws Violation
   */
  check(): void {
    for (const group of new Set(this.looks.map((look) => look.group))) {
      const looks = this.looks.filter((look) => look.group === group).sort((a, b) => a.index - b.index);
      const repeated = new Repeated(group, this.options.entriesOf(group));
      for (const { index, result, node } of looks) {
        if (!repeated.entries.advance(index)) break;
        const expected = repeated.read();
        if (expected === result) continue;
        const text = `a snapshot of group ${group} at ${index} on ${node} shows ${result}, not ${expected}`;
        throw new Violation('I29', text);
      }
    }
  }
}

/** A collection as the entries of its group make it. */
class Repeated {
  private readonly local = new LocalEngine();
  readonly entries: Repetition;

  constructor(
    private readonly id: GroupId,
    entries: ReadonlyMap<number, Uint8Array | undefined>,
  ) {
    this.local.bootstrap();
    const group = this.local.openCollection(id, EMPTY_SOURCE);
    group.create();
    this.entries = new Repetition(entries, (payload) => group.apply(decodeEntry(payload).effects));
  }

  read(): string {
    const { engine, admin } = this.local;
    const scope = engine.scope(this.id);
    if (scope === undefined) throw new Error('the collection is open');
    const prepared = engine.prepare(CODE);
    const body = { kind: 'query', prepared, vars: null } as const;
    const outcome = engine.run({ scope, user: admin, format: 'json', body });
    return outcome.kind === 'value' ? String(outcome.result) : outcome.kind;
  }
}
