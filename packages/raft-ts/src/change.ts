/**
 * The payload of an entry of kind `change`:
 *
 *   change  = version:u8 flags:u8 count:varint step* context
 *   version = 1; a higher one is refused, never skipped: a node that does not understand a change must stop
 *   flags   = bit 0: transition is joint   bit 1: the host leaves the joint configuration
 *   step    = action:u8 node:varint
 *   action  = 1 add voter   2 add learner   3 add learner and promote it   4 remove
 *   context = all bytes that are left
 */
import { ByteReader, ByteWriter } from './bytes.js';
import { type ChangeStep, MAX_CHANGE_STEPS, type MembershipChange } from './membership.js';

/** Bytes of the host that a change may carry. */
export const MAX_CHANGE_CONTEXT_BYTES = 64 * 1024;

/** A change with the usual options: direct when possible, and a joint configuration is left automatically. */
export function changeOf(...steps: ChangeStep[]): MembershipChange {
  return { steps, transition: 'auto', leave: 'auto', context: NO_BYTES };
}

/** The payload of an entry of kind `change`. */
export function encodeChange(change: MembershipChange): Uint8Array {
  const writer = new ByteWriter(16 + change.context.byteLength);
  writer.u8(VERSION);
  writer.u8(
    (change.transition === 'joint' ? FLAG_JOINT : 0) | (change.leave === 'explicit' ? FLAG_EXPLICIT : 0),
  );
  writer.varint(change.steps.length);
  for (const step of change.steps) {
    writer.u8(actionCode(step));
    writer.varint(step.node);
  }
  writer.raw(change.context);
  return writer.finish();
}

/** Throws `CodecError` if the bytes are no change. */
export function decodeChange(bytes: Uint8Array): MembershipChange {
  const reader = new ByteReader(bytes);
  if (reader.u8() !== VERSION) reader.fail('unknown_kind', 'Membership change of an unknown version');
  const flags = reader.u8();
  if (flags > (FLAG_JOINT | FLAG_EXPLICIT)) reader.fail('invalid', 'Unknown flags of a membership change');
  const count = reader.count(2);
  if (count > MAX_CHANGE_STEPS) reader.fail('invalid', 'Too many steps in a membership change');
  const steps: ChangeStep[] = [];
  for (let at = 0; at < count; at += 1) steps.push(readStep(reader));
  if (reader.remaining > MAX_CHANGE_CONTEXT_BYTES)
    reader.fail('invalid', 'Context of a membership change is too long');
  return {
    steps,
    transition: (flags & FLAG_JOINT) === 0 ? 'auto' : 'joint',
    leave: (flags & FLAG_EXPLICIT) === 0 ? 'auto' : 'explicit',
    context: reader.rest(),
  };
}

const VERSION = 1;
const FLAG_JOINT = 1;
const FLAG_EXPLICIT = 2;
const NO_BYTES = new Uint8Array(0);

function actionCode(step: ChangeStep): number {
  if (step.action === 'addVoter') return 1;
  if (step.action === 'remove') return 4;
  return step.promote ? 3 : 2;
}

function readStep(reader: ByteReader): ChangeStep {
  const action = reader.u8();
  const node = reader.varint();
  switch (action) {
    case 1:
      return { action: 'addVoter', node };
    case 2:
    case 3:
      return { action: 'addLearner', node, promote: action === 3 };
    case 4:
      return { action: 'remove', node };
    default:
      return reader.fail('unknown_kind', 'Unknown action of a membership change');
  }
}
