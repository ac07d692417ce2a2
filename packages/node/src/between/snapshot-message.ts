import { decodeMessage, type InstallSnapshot } from 'raft-ts';

/** Reads the message of Raft that a snapshot goes with. Throws for another one: only such messages come from the engine side. */
export function snapshotOf(bytes: Uint8Array): InstallSnapshot {
  const message = decodeMessage(bytes);
  if (message.kind !== 'snapshot') throw new Error('a message is no snapshot message');
  return message;
}
