import { isDiskFull } from '@althing/storage';
import type { DiskLevel } from '../between/protocol.js';

export interface DiskKeeperOptions {
  readonly reserve: Reserve;
  /** Free bytes on the disk of the state. */
  readonly freeBytes: () => Promise<number>;
  /** Free bytes that opening the state again takes. */
  readonly bytesToReopen: () => Promise<number>;
  /** Size of the reserve; 0 for none. */
  readonly reserveBytes: number;
  /** Changes are taken, or not, from now on. */
  readonly setLevel: (level: DiskLevel) => void;
  /**
   * Opens the state again while nothing works on it, if there is room then.
   *
   * @returns whether that was done
   */
  readonly reopenState: (makeRoom: () => Promise<boolean>) => Promise<boolean>;
  /** Called with what happens, for the log. */
  readonly report: (event: DiskEvent) => void;
  /** The node can't go on. */
  readonly onFailure: (error: unknown) => void;
}

/** The space that is kept aside. */
export interface Reserve {
  readonly hasReserve: boolean;
  releaseReserve(): Promise<void>;
  restoreReserve(): Promise<void>;
}

export type DiskEvent =
  | { readonly kind: 'level'; readonly level: DiskLevel }
  | { readonly kind: 'reserve_released' }
  | { readonly kind: 'reserve_restored' }
  /** The room that the state needed to be opened again was taken meanwhile: nothing of it can be read. */
  | { readonly kind: 'state_shut' }
  | { readonly kind: 'state_reopened' };

/**
 * Brings a node through a full disk. Changes are refused from when little is left. When the log or the state
 * can't be written, the reserve is given up, so that a checkpoint can be made and the log be cut. A state
 * that had no room is opened again as soon as there is some. Once there is enough, the reserve is taken again
 * and changes go on.
 */
export class DiskKeeper {
  private logLevel: DiskLevel = 'ok';
  /** The state had no room, and takes no writes until it is opened again. */
  private stateFull = false;
  private stateShut = false;
  private said: DiskLevel = 'ok';
  private busy = false;

  constructor(private readonly options: DiskKeeperOptions) {}

  /** The room that there is, all in all: `full` when the log or the state has none. */
  get level(): DiskLevel {
    return this.said;
  }

  /** True if the state had no room for a write, and takes no further ones until it was opened again. */
  get isStateFull(): boolean {
    return this.stateFull;
  }

  /** The room that the log has is another one than before. */
  noteLevel(level: DiskLevel): void {
    this.logLevel = level;
    this.judge();
    this.consider();
  }

  /** A write of the state had no room. */
  noteStateFull(): void {
    if (this.stateFull) return;
    this.stateFull = true;
    this.judge();
    this.consider();
  }

  /** Does what can be done now. To be called now and then. */
  consider(): void {
    if (this.busy || !this.isWanting) return;
    this.busy = true;
    this.work()
      .catch((error: unknown) => {
        if (!isDiskFull(error)) this.options.onFailure(error);
      })
      .finally(() => {
        this.busy = false;
      });
  }

  private get isWanting(): boolean {
    const { reserve, reserveBytes } = this.options;
    return this.logLevel !== 'ok' || this.stateFull || (reserveBytes > 0 && !reserve.hasReserve);
  }

  private async work(): Promise<void> {
    const { reserve, reserveBytes, report } = this.options;
    // First, since the log would take of the reserve what the state needs.
    if (this.stateFull) await this.reopenState();
    if (this.logLevel === 'full' && reserve.hasReserve) await this.releaseReserve();
    if (this.logLevel !== 'ok' || this.stateFull || reserve.hasReserve || reserveBytes === 0) return;
    if ((await this.options.freeBytes()) < 2 * reserveBytes) return;
    await reserve.restoreReserve();
    report({ kind: 'reserve_restored' });
  }

  private async reopenState(): Promise<void> {
    const { reserve, freeBytes, bytesToReopen, reopenState, report } = this.options;
    const hasRoom = async (): Promise<boolean> => (await freeBytes()) >= (await bytesToReopen());
    const makeRoom = async (): Promise<boolean> => {
      // At the last moment: others on a full disk take whatever they find.
      if (reserve.hasReserve) await this.releaseReserve();
      return hasRoom();
    };
    if (!reserve.hasReserve && !(await hasRoom())) return;
    try {
      if (!(await reopenState(makeRoom))) return;
    } catch (error) {
      this.noteShut(error);
      throw error;
    }
    this.stateFull = false;
    this.stateShut = false;
    this.judge();
    report({ kind: 'state_reopened' });
  }

  private noteShut(error: unknown): void {
    if (this.stateShut || !isDiskFull(error)) return;
    this.stateShut = true;
    this.options.report({ kind: 'state_shut' });
  }

  private async releaseReserve(): Promise<void> {
    await this.options.reserve.releaseReserve();
    this.options.report({ kind: 'reserve_released' });
  }

  private judge(): void {
    const level = this.stateFull ? 'full' : this.logLevel;
    if (level === this.said) return;
    this.said = level;
    this.options.setLevel(level);
    this.options.report({ kind: 'level', level });
  }
}
