import type { NodeId } from '@althing/node/parts';
import { Draw } from './random.js';
import type { Scheduler } from './scheduler.js';

export interface NetworkQuality {
  /** Mean time of a message on its way, in milliseconds. */
  readonly delayMs: number;
  /** Messages of a thousand. A connection that loses one loses everything until it is made anew. */
  readonly lostPerMille: number;
  readonly doubledPerMille: number;
  /** True if messages of Raft may overtake each other, and calls. Calls keep their order: they go over a connection. */
  readonly reorders: boolean;
}

/** Links between nodes, each of one direction. */
export class Network {
  private readonly draws = new Map<string, Draw>();
  private readonly cutLinks = new Set<string>();
  /** The delay of each slow link, in milliseconds. */
  private readonly slowLinks = new Map<string, number>();
  private readonly lastArrival = new Map<string, number>();

  constructor(
    private readonly scheduler: Scheduler,
    private readonly seed: number,
    public quality: NetworkQuality,
  ) {}

  /**
   * Brings something over, if it arrives at all.
   *
   * @param isCall whether it goes over a connection: it does not arrive twice, and not before one that was sent earlier
   */
  carry(from: NodeId, to: NodeId, isCall: boolean, arrive: () => void): void {
    const { quality } = this;
    const draw = this.drawOf(`${from}>${to}${isCall ? ' call' : ''}`);
    if (this.isCut(from, to) || draw.int(0, 999) < quality.lostPerMille) return;
    const track = isCall ? `${from}>${to} call` : quality.reorders ? null : `${from}>${to}`;
    this.plan(from, to, draw, track, arrive);
    if (!isCall && draw.int(0, 999) < quality.doubledPerMille) this.plan(from, to, draw, track, arrive);
  }

  /** True if nothing gets from one node to another. */
  isCut(from: NodeId, to: NodeId): boolean {
    return this.cutLinks.size > 0 && this.cutLinks.has(`${from}>${to}`);
  }

  cut(from: NodeId, to: NodeId): void {
    this.cutLinks.add(`${from}>${to}`);
  }

  slow(from: NodeId, to: NodeId, ms: number): void {
    this.slowLinks.set(`${from}>${to}`, ms);
  }

  hasten(from: NodeId, to: NodeId): void {
    this.slowLinks.delete(`${from}>${to}`);
  }

  heal(): void {
    this.cutLinks.clear();
    this.slowLinks.clear();
  }

  /** Heals each link with some probability. */
  healSome(probability: number): void {
    for (const link of [...this.cutLinks]) {
      if (this.drawOf(link).chance(probability)) this.cutLinks.delete(link);
    }
  }

  /** @param track on which everything arrives in order; null for none */
  private plan(from: NodeId, to: NodeId, draw: Draw, track: string | null, arrive: () => void): void {
    const { now } = this.scheduler;
    const late = this.slowLinks.get(`${from}>${to}`) ?? 0;
    let time = now + draw.exponential(this.quality.delayMs) + late;
    if (track !== null) {
      time = Math.max(time, this.lastArrival.get(track) ?? 0);
      this.lastArrival.set(track, time);
    }
    this.scheduler.at(time, () => {
      if (!this.isCut(from, to)) arrive();
    });
  }

  /** Draws for one link, so that its fate does not depend on what others carry. */
  private drawOf(link: string): Draw {
    let draw = this.draws.get(link);
    if (draw === undefined) {
      draw = new Draw(this.seed, `network ${link}`, this.scheduler);
      this.draws.set(link, draw);
    }
    return draw;
  }
}
