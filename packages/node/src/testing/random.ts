import { seeded } from 'raft-ts';

/** @returns a function that gives so many random bytes, which no compression makes smaller */
export function seededBytes(seed: number): (count: number) => Buffer {
  const random = seeded(seed);
  return (count) => Buffer.from(Uint8Array.from({ length: count }, () => random() * 256));
}
