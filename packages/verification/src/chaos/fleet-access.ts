/** Clients that go to the nodes themselves. */
import type { Draw } from '../simulation/random.js';
import type { Access, Place } from './clients.js';
import type { Fleet } from './fleet.js';

/** One of so many clients roams. */
const ROAMS = 4;

export class FleetAccess implements Access {
  constructor(
    private readonly fleet: Fleet,
    private readonly draw: Draw,
  ) {}

  /**
   * Some ask any node, whatever its state; the others one of their own, or, as a balancer would, another one while it does
   * not run. So never do all of them wait at a node that has no majority or sleeps.
   */
  place(client: number): Place {
    const { draw, fleet } = this;
    if (client % ROAMS === ROAMS - 1) return draw.pick(fleet.members);
    const own = fleet.node((client - Math.floor(client / ROAMS)) % fleet.nodes.length);
    return own.isUp ? fleet.member(own.at) : this.any();
  }

  /** A node that is up. */
  any(): Place {
    const { draw, fleet } = this;
    const up = fleet.nodes.filter(({ isUp }) => isUp);
    return fleet.member(draw.pick(up.length > 0 ? up : fleet.nodes).at);
  }
}
