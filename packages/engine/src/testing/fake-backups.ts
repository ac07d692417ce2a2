import type { BackupInfo, BackupOrder, BackupsView } from '../node-view.js';

/** Backups of which none is ever taken. */
export class FakeBackups implements BackupsView {
  readonly orders: BackupOrder[] = [];
  /** Calls of `remove`. */
  readonly removed: (readonly [id: number, deleteFiles: boolean])[] = [];
  infos: BackupInfo[] = [];

  add(order: BackupOrder): number {
    const { start, ...rest } = order;
    const id = this.orders.push(order) - 1;
    this.infos.push({ ...rest, id, nextRun: start === 0 ? 'pending' : start, result: null, files: [] });
    return id;
  }

  remove(id: number, deleteFiles: boolean): boolean {
    const found = this.infos.some((info) => info.id === id);
    if (found) this.removed.push([id, deleteFiles]);
    this.infos = this.infos.filter((info) => info.id !== id);
    return found;
  }

  all(): readonly BackupInfo[] {
    return this.infos;
  }
}
