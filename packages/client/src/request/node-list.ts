/**
 * The choice of a node. A client stays at one node until that fails or says that the connection ends; a node that failed is avoided for a
 * while, longer each time.
 */

const AVOID_FIRST_MS = 1000;
const AVOID_MAX_MS = 30_000;

/** An address of a node. */
export interface NodeAddress {
  /** Without credentials. */
  readonly url: URL;
  /** The IP address, where the name has several; null for what the name says. */
  readonly address: string | null;
}

interface Entry {
  readonly place: NodeAddress;
  failures: number;
  avoidUntil: number;
}

export class NodeList {
  readonly #random: () => number;
  #entries: Entry[] = [];
  #current: Entry | null = null;

  constructor(places: readonly NodeAddress[], random: () => number) {
    this.#random = random;
    this.replace(places);
  }

  /** Sets which nodes there are; those that are known already keep what is known of them. */
  replace(places: readonly NodeAddress[]): void {
    const known = new Map(this.#entries.map((entry) => [keyOf(entry.place), entry]));
    this.#entries = places.map((place) => known.get(keyOf(place)) ?? { place, failures: 0, avoidUntil: 0 });
    if (this.#current !== null && !this.#entries.includes(this.#current)) this.#current = null;
  }

  /** The node to ask now, if possible none of those that were tried. */
  choose(now: number, tried: ReadonlySet<NodeAddress>): NodeAddress {
    const current = this.#current;
    if (current !== null && current.avoidUntil <= now && !tried.has(current.place)) return current.place;
    const untried = this.#entries.filter(({ place }) => !tried.has(place));
    const usable = (untried.length > 0 ? untried : this.#entries).filter(
      ({ avoidUntil }) => avoidUntil <= now,
    );
    const next = usable.length > 0 ? this.#anyOf(usable) : this.#soonest(untried);
    // A node that is avoided is asked only for want of another one, and stays so.
    if (next.avoidUntil <= now) this.#current = next;
    return next.place;
  }

  /** True if a call has tried every node. */
  areAllIn(tried: ReadonlySet<NodeAddress>): boolean {
    return this.#entries.every(({ place }) => tried.has(place));
  }

  /** A node answered. */
  served(place: NodeAddress): void {
    const entry = this.#entryOf(place);
    if (entry === undefined) return;
    entry.failures = 0;
    entry.avoidUntil = 0;
  }

  /** A node failed, or refused for want of something; @param ms it asks to be left alone for */
  failed(place: NodeAddress, now: number, ms = 0): void {
    const entry = this.#entryOf(place);
    if (entry === undefined) return;
    const avoidMs = Math.min(AVOID_MAX_MS, AVOID_FIRST_MS * 2 ** Math.min(entry.failures, 8));
    // Requests that were open when it died fail together: they count once.
    if (now >= entry.avoidUntil) entry.failures += 1;
    entry.avoidUntil = Math.max(entry.avoidUntil, now + Math.max(ms, avoidMs));
    if (this.#current === entry) this.#current = null;
  }

  /** A node ends its connections: others are asked, as far as there are some. */
  leaves(place: NodeAddress, now: number): void {
    const entry = this.#entryOf(place);
    if (entry === undefined || this.#entries.length === 1) return;
    entry.avoidUntil = Math.max(entry.avoidUntil, now + AVOID_FIRST_MS);
    if (this.#current === entry) this.#current = null;
  }

  #anyOf(entries: readonly Entry[]): Entry {
    return required(entries[Math.floor(this.#random() * entries.length)]);
  }

  #soonest(untried: readonly Entry[]): Entry {
    const entries = untried.length > 0 ? untried : this.#entries;
    return required([...entries].sort((a, b) => a.avoidUntil - b.avoidUntil)[0]);
  }

  #entryOf(place: NodeAddress): Entry | undefined {
    return this.#entries.find((entry) => entry.place === place);
  }
}

function keyOf({ url, address }: NodeAddress): string {
  return `${url.href} ${address}`;
}

function required(entry: Entry | undefined): Entry {
  if (entry === undefined) throw new TypeError('a list of nodes without a node');
  return entry;
}
