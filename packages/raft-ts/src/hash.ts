/**
 * The chain hash of a log: `hash(i) = mix(hash(i - 1), index, term, kind, length, hashPayload(payload))`, 32
 * bits. Two logs with the same hash at the same index hold the same entries up to there; the leader sends the
 * hash of the entry before an append, the follower compares it with its own (log matching, Raft dissertation
 * section 3.5, checked in production). It guards against errors, not against an attacker.
 *
 * The mixing is MurmurHash3_x86_32 by Austin Appleby (public domain).
 */
import { ENTRY_KIND_CODES, type Entry, type EntryKind, type Index, type Term } from './types.js';

/** A 32-bit hash of a payload. Every node of a group must use the same function. */
export type PayloadHash = (payload: Uint8Array) => number;

/** The hash before the first entry. */
export const ROOT_HASH = 0;

const WORD = 2 ** 32;

/** Builds the entry that follows one whose chain hash is `previous`. */
export function chainEntry(
  previous: number,
  index: Index,
  term: Term,
  kind: EntryKind,
  payload: Uint8Array,
  hashPayload: PayloadHash,
): Entry {
  return { index, term, kind, hash: chainHash(previous, index, term, kind, payload, hashPayload), payload };
}

/** The chain hash of an entry whose predecessor's is `previous`; an unsigned 32-bit integer. */
export function chainHash(
  previous: number,
  index: Index,
  term: Term,
  kind: EntryKind,
  payload: Uint8Array,
  hashPayload: PayloadHash,
): number {
  let hash = previous | 0;
  hash = mix(hash, index | 0);
  hash = mix(hash, (index / WORD) | 0);
  hash = mix(hash, term | 0);
  hash = mix(hash, (term / WORD) | 0);
  hash = mix(hash, ENTRY_KIND_CODES[kind]);
  hash = mix(hash, payload.byteLength);
  if (payload.byteLength > 0) hash = mix(hash, hashPayload(payload));
  return finish(hash);
}

/** The payload hash that is used when the host brings none: MurmurHash3_x86_32 with seed 0. */
export function murmur3(payload: Uint8Array): number {
  const length = payload.byteLength;
  const whole = length - (length % 4);
  let hash = 0;
  let at = 0;
  for (; at < whole; at += 4) {
    const word = payload[at]! | (payload[at + 1]! << 8) | (payload[at + 2]! << 16) | (payload[at + 3]! << 24);
    hash = mix(hash, word);
  }
  let rest = 0;
  for (let shift = 0; at < length; at += 1, shift += 8) rest |= payload[at]! << shift;
  hash ^= scramble(rest);
  return finish(hash ^ length);
}

function mix(hash: number, word: number): number {
  const mixed = hash ^ scramble(word);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function scramble(word: number): number {
  const first = Math.imul(word, 0xcc9e2d51);
  return Math.imul((first << 15) | (first >>> 17), 0x1b873593);
}

function finish(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
