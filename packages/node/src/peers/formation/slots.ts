/** The setting `cluster`: where the first members of a cluster are. */
import { createHash } from 'node:crypto';
import { ConfigurationError, shown } from '../../config/problem.js';

/** The place of one of the first members. */
export interface Slot {
  /** In lower case, without brackets. */
  readonly host: string;
  readonly port: number;
}

export interface Slots {
  /** In an order that is the same on all nodes: by host, then by port. */
  readonly all: readonly Slot[];
  /** Number of this node's own slot; -1: none, then it founds nothing, and waits to join. */
  readonly own: number;
  /** Tells whether another node has the same ones. */
  readonly digest: Uint8Array;
}

/**
 * Reads the setting. A node's own entry is its name and node port.
 *
 * @param port of this node, and of entries that name none
 * @throws ConfigurationError when a place is named twice
 */
export function slotsOf(cluster: readonly string[], name: string, port: number): Slots {
  const all = cluster.map((entry) => slotOf(entry, port)).sort(compareSlots);
  for (const [at, slot] of all.entries()) {
    if (at > 0 && compareSlots(slot, all[at - 1]!) === 0) {
      const message = `cluster names the node ${shown(`${slot.host}:${slot.port}`)} twice: name each node once`;
      throw new ConfigurationError([{ key: 'cluster', message }]);
    }
  }
  const host = normalHost(name);
  const text = all.map((slot) => `${slot.host} ${slot.port}`).join('\n');
  return {
    all,
    own: all.findIndex((slot) => slot.host === host && slot.port === port),
    digest: createHash('sha256').update(text).digest().subarray(0, 8),
  };
}

/** Names of hosts that differ only in how they are written are the same. */
export function normalHost(name: string): string {
  return name
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

function slotOf(entry: string, defaultPort: number): Slot {
  const match = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry);
  const [, host = entry, port] = match ?? [];
  return { host: normalHost(host), port: port === undefined ? defaultPort : Number(port) };
}

function compareSlots(a: Slot, b: Slot): number {
  if (a.host !== b.host) return a.host < b.host ? -1 : 1;
  return a.port - b.port;
}
