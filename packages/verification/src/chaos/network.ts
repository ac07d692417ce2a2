/** The network between the nodes of a chaos run, and its disturbances. */

/** Where a node is on its network. */
export interface NetworkPlace {
  /** Name of the node, under which the others reach it. */
  readonly name: string;
  readonly bindNodeAddress: string;
  readonly bindClientAddress: string;
  /** Host of its ports for clients, as clients reach them. */
  readonly apiHost: string;
  readonly apiPort: number;
  /** The port of the native protocol. */
  readonly clientPort: number;
  readonly statusPort: number;
  readonly nodePort: number;
  /** The words before the command that starts it. */
  readonly prefix: readonly string[];
}

/** Messages from one node to another are lost; by places, from 0. */
export type Cut = readonly [from: number, to: number];

/** Connections that died in silence. */
export interface Deadened {
  /** The number of them that a node takes for alive. */
  remaining(): number;
}

export interface Network {
  readonly title: string;
  readonly places: readonly NetworkPlace[];
  /** True if `lose` is there. */
  readonly canLose: boolean;
  /** True if `delay` is there. */
  readonly canDelay: boolean;
  /** True if `damage` is there. */
  readonly canDamage: boolean;
  /** Cuts links, on top of what is cut. */
  cut(cuts: readonly Cut[]): void;
  /** Loses so many of a hundred packets between all nodes. */
  lose(percent: number): void;
  /** Delays everything between all nodes. */
  delay(ms: number): void;
  /**
   * Flips a bit now and then in what nodes send each other, in a way that the checksum of TCP does not find.
   *
   * @param perMille in so many of a thousand pieces that go over a connection
   */
  damage(perMille: number): void;
  /**
   * Connections that stand lose everything from now on, and nobody is told; new ones are fine.
   *
   * @param links from who dialled to who was dialled
   */
  deaden(links: readonly Cut[]): Deadened;
  /** Everything gets through again. */
  heal(): void;
  close(): Promise<void>;
}
