import type { RootGroup } from '@althing/engine';
import type { Clock } from '../base/clock.js';
import { CallKind, type Calls } from '../calls/calls.js';
import { encodeHello, type Hello } from './hello.js';
import type { PeerTable } from './peer-table.js';

/** Time between two hellos to the other members, in milliseconds. */
export const HELLO_MS = 2000;

/** Turns of hellos that are left out while they would say what the last one said. */
const LEFT_OUT_MAX = 2;

export interface HellosOptions {
  readonly root: () => RootGroup;
  readonly hello: () => Hello;
  readonly calls: Pick<Calls, 'call'>;
  readonly peers: PeerTable;
  readonly clock: Pick<Clock, 'now'>;
}

/** The hellos that this node says to the members that it can reach; see `hello.ts`. */
export class Hellos {
  private dueAt = 0;
  /** The last one, and turns that were left out since; null when the next one is due in any case. */
  private said: { readonly hello: Uint8Array; leftOut: number } | null = null;

  constructor(private readonly options: HellosOptions) {}

  /** Says hello at the next tick: there is somebody who has heard none. */
  anew(): void {
    this.dueAt = 0;
    this.said = null;
  }

  /** To be called several times a second. */
  tick(): void {
    const { clock, hello } = this.options;
    if (clock.now() < this.dueAt) return;
    this.dueAt = clock.now() + HELLO_MS;
    const bytes = encodeHello(hello());
    const { said } = this;
    const isNews = said === null || Buffer.compare(said.hello, bytes) !== 0;
    if (!isNews && said.leftOut++ < LEFT_OUT_MAX) return;
    this.said = { hello: bytes, leftOut: 0 };
    this.say(bytes);
  }

  private say(hello: Uint8Array): void {
    const { root, peers, calls } = this.options;
    for (const node of root().members.keys()) {
      if (!peers.isUp(node)) continue;
      calls.call(node, CallKind.Member, hello, HELLO_MS).catch(() => {
        // The next one comes soon.
        this.said = null;
      });
    }
  }
}
