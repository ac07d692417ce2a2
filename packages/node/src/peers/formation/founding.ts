/** Rules about the nodes that found a cluster together, and the id that it gets. */
import { createHash } from 'node:crypto';
import { ByteWriter } from 'raft-ts';
import { type Founder, writeFounder } from '../../between/cluster-record.js';
import type { NetworkAddress, NodeId } from '../../between/protocol.js';
import type { FormationAnswer } from './formation-messages.js';
import { normalHost, type Slot } from './slots.js';

/** A node's answer about itself. */
export type Hello = Extract<FormationAnswer, { readonly kind: 'hello' }>;

/**
 * Why a node can't be one of those who found the cluster now; nothing where it can.
 *
 * @param hello its answer; null for none
 * @param self the id of this node
 * @param slots a hash of those that this node expects
 */
export function problemOf(slot: Slot, hello: Hello | null, self: NodeId, slots: Uint8Array): string[] {
  const place = `${slot.host}:${slot.port}`;
  if (hello === null) return [place];
  const { name, port, nodeId } = hello.self;
  if (nodeId === self) return [`${place} (this node itself answers there)`];
  if (normalHost(name) !== slot.host || port !== slot.port) {
    return [`${place} (its node_name and listen_node_port are ${name} and ${port})`];
  }
  if (Buffer.compare(hello.slots, slots) !== 0) {
    return [`${place} (it has another setting "cluster")`];
  }
  return [];
}

/** A proposal of other founders, or in another round, is another cluster. */
export function clusterIdOf(seed: Uint8Array, round: number, founders: readonly Founder[]): Uint8Array {
  const out = new ByteWriter();
  out.bytes(seed);
  out.varint(round);
  for (const founder of founders) writeFounder(out, founder);
  return Uint8Array.from(createHash('sha256').update(out.finish()).digest().subarray(0, 16));
}

export function areSame(a: readonly Founder[], b: readonly Founder[]): boolean {
  return (
    a.length === b.length &&
    a.every((founder, at) => isAt(founder, b[at]!) && founder.nodeId === b[at]?.nodeId)
  );
}

export function isAt(place: NetworkAddress, slot: NetworkAddress): boolean {
  return place.host === slot.host && place.port === slot.port;
}

export function isSameId(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
