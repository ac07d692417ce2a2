import type { Engine } from '@althing/engine';
import type { StateStore } from '@althing/storage';
import type { Clock } from '../base/clock.js';
import type { Consensus, GroupId } from '../between/protocol.js';

/** Time between two looks, in milliseconds. */
const LOOK_MS = 30_000;

/** The state on disk, as far as it is needed here. */
interface SizedState {
  use<T>(work: (store: Pick<StateStore, 'groups' | 'approximateBytes'>) => Promise<T>): Promise<T>;
}

/** The sizes of the groups on the disk of this node. The disk is asked now and then, since its answer takes a moment. */
export class CollectionSizes {
  private bytes: ReadonlyMap<GroupId, number> = new Map();
  private isLooking = false;

  /**
   * @param engine knows what a group has in memory
   * @param line to the consensus thread, which serves the figures, and is told of what a look has found
   */
  constructor(
    private readonly state: SizedState,
    private readonly engine: () => Pick<Engine, 'scope'>,
    private readonly line: Pick<Consensus, 'send'>,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  /** @returns what ends that */
  start(clock: Pick<Clock, 'every'>): () => void {
    void this.look();
    return clock.every(LOOK_MS, () => void this.look());
  }

  /** Null where it is not known yet. */
  of(group: GroupId): number | null {
    return this.bytes.get(group) ?? null;
  }

  private async look(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    try {
      await this.state.use(async (store) => {
        const bytes = new Map<GroupId, number>();
        for (const group of store.groups()) bytes.set(group, await store.approximateBytes(group));
        this.bytes = bytes;
      });
      const engine = this.engine();
      const sizes = [...this.bytes].map(([group, diskBytes]) => {
        const memoryBytes = engine.scope(group)?.store?.bytes ?? 0;
        return { group, diskBytes, memoryBytes };
      });
      this.line.send({ kind: 'sizes', sizes });
    } catch (error) {
      this.onFailure(error);
    } finally {
      this.isLooking = false;
    }
  }
}
