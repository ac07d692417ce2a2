/**
 * Questions between nodes before they belong to one cluster, and to members after it.
 *
 *   question := format:u8 (1) kind:u8 body
 *     hello   (1) :=
 *     promise (2) := proposal                     by the node that proposes it
 *     founded (3) := record                       by the node that founded it
 *     join    (4) := founder [level:varint [invitation:varint]]
 *                                                 who wants to join, as it describes itself, the highest level that its
 *                                                 software knows (missing: the first), and the invitation by which it comes
 *     invite  (5) := host:bytes port:varint [number:varint]
 *                                                 of a member by which to join, and of the invitation
 *     adopt   (6) := secret:bytes                 that of the cluster, to a node that has a one-time secret only
 *   answer   := kind:u8 body
 *     unknown  (0) :=                             the question is of a later version, or none at all
 *     hello    (1) := founder slots:bytes state   the node itself; a hash of whom it expects; what it knows
 *     done     (2) :=
 *     declined (3) := reason:bytes
 *     accepted (4) := clusterId:bytes
 *     redirect (5) := host:bytes port:varint
 *     wait     (6) := reason:bytes
 *     refused  (7) := reason:bytes
 *     removed  (8) :=
 *
 * proposal, record, founder and state are those of cluster-record.ts. What follows is ignored: later versions
 * may append.
 */
import { ByteReader, ByteWriter, CodecError } from 'raft-ts';
import {
  type ClusterRecord,
  type ClusterState,
  type Founder,
  type Proposal,
  readFounder,
  readProposal,
  readRecord,
  readState,
  writeFounder,
  writeProposal,
  writeRecord,
  writeState,
} from '../../between/cluster-record.js';
import type { Joiner } from '../../between/protocol.js';

export type FormationQuestion =
  | { readonly kind: 'hello' }
  | { readonly kind: 'promise'; readonly proposal: Proposal }
  | { readonly kind: 'founded'; readonly record: ClusterRecord }
  | { readonly kind: 'join'; readonly joiner: Joiner }
  | {
      readonly kind: 'invite';
      readonly host: string;
      readonly port: number;
      /** Missing where the sender is older. */
      readonly number?: number;
    }
  | { readonly kind: 'adopt'; readonly secret: string };

export type FormationAnswer =
  | { readonly kind: 'unknown' }
  | {
      readonly kind: 'hello';
      readonly self: Founder;
      readonly slots: Uint8Array;
      readonly state: ClusterState;
    }
  | { readonly kind: 'done' }
  | { readonly kind: 'declined'; readonly reason: string }
  | { readonly kind: 'accepted'; readonly clusterId: Uint8Array }
  | { readonly kind: 'redirect'; readonly host: string; readonly port: number }
  | { readonly kind: 'wait' | 'refused'; readonly reason: string }
  | { readonly kind: 'removed' };

export function encodeQuestion(question: FormationQuestion): Uint8Array {
  const out = new ByteWriter();
  out.u8(FORMAT);
  out.u8(QUESTION_CODES[question.kind]);
  if (question.kind === 'promise') writeProposal(out, question.proposal);
  if (question.kind === 'founded') writeRecord(out, question.record);
  if (question.kind === 'join') {
    writeFounder(out, question.joiner);
    out.varint(question.joiner.level);
    if (question.joiner.invitation !== undefined) out.varint(question.joiner.invitation);
  }
  if (question.kind === 'invite') {
    writePlace(out, question);
    if (question.number !== undefined) out.varint(question.number);
  }
  if (question.kind === 'adopt') out.bytes(Buffer.from(question.secret));
  return out.finish();
}

/** Null: none that this version knows. */
export function decodeQuestion(bytes: Uint8Array): FormationQuestion | null {
  return decode(bytes, (reader) => {
    if (reader.u8() !== FORMAT) return null;
    switch (reader.u8()) {
      case QUESTION_CODES.hello:
        return { kind: 'hello' };
      case QUESTION_CODES.promise:
        return { kind: 'promise', proposal: readProposal(reader) };
      case QUESTION_CODES.founded:
        return { kind: 'founded', record: readRecord(reader) };
      case QUESTION_CODES.join:
        return { kind: 'join', joiner: readJoiner(reader) };
      case QUESTION_CODES.invite:
        return {
          kind: 'invite',
          ...readPlace(reader),
          ...(reader.remaining > 0 ? { number: reader.varint() } : {}),
        };
      case QUESTION_CODES.adopt:
        return { kind: 'adopt', secret: readText(reader) };
      default:
        return null;
    }
  });
}

export function encodeAnswer(answer: FormationAnswer): Uint8Array {
  const out = new ByteWriter();
  out.u8(ANSWER_CODES[answer.kind]);
  switch (answer.kind) {
    case 'hello':
      writeFounder(out, answer.self);
      out.bytes(answer.slots);
      writeState(out, answer.state);
      break;
    case 'accepted':
      out.bytes(answer.clusterId);
      break;
    case 'redirect':
      writePlace(out, answer);
      break;
    case 'declined':
    case 'wait':
    case 'refused':
      out.bytes(Buffer.from(answer.reason));
      break;
    default:
  }
  return out.finish();
}

/** Null: none that this version knows. */
export function decodeAnswer(bytes: Uint8Array): FormationAnswer | null {
  return decode(bytes, (reader) => {
    switch (reader.u8()) {
      case ANSWER_CODES.unknown:
        return { kind: 'unknown' };
      case ANSWER_CODES.hello:
        return { kind: 'hello', self: readFounder(reader), slots: reader.bytes(), state: readState(reader) };
      case ANSWER_CODES.done:
        return { kind: 'done' };
      case ANSWER_CODES.declined:
        return { kind: 'declined', reason: readText(reader) };
      case ANSWER_CODES.accepted: {
        const clusterId = Uint8Array.from(reader.bytes());
        return clusterId.length === 16 ? { kind: 'accepted', clusterId } : null;
      }
      case ANSWER_CODES.redirect:
        return { kind: 'redirect', ...readPlace(reader) };
      case ANSWER_CODES.wait:
        return { kind: 'wait', reason: readText(reader) };
      case ANSWER_CODES.refused:
        return { kind: 'refused', reason: readText(reader) };
      case ANSWER_CODES.removed:
        return { kind: 'removed' };
      default:
        return null;
    }
  });
}

const FORMAT = 1;
const QUESTION_CODES = { hello: 1, promise: 2, founded: 3, join: 4, invite: 5, adopt: 6 } as const;
const ANSWER_CODES = {
  unknown: 0,
  hello: 1,
  done: 2,
  declined: 3,
  accepted: 4,
  redirect: 5,
  wait: 6,
  refused: 7,
  removed: 8,
} as const;

function decode<T>(bytes: Uint8Array, read: (reader: ByteReader) => T): T | null {
  try {
    return read(new ByteReader(bytes));
  } catch (error) {
    if (error instanceof CodecError) return null;
    throw error;
  }
}

function readJoiner(reader: ByteReader): Joiner {
  const founder = readFounder(reader);
  const level = reader.varint();
  return reader.remaining > 0 ? { ...founder, level, invitation: reader.varint() } : { ...founder, level };
}

function writePlace(out: ByteWriter, { host, port }: { readonly host: string; readonly port: number }): void {
  out.bytes(Buffer.from(host));
  out.varint(port);
}

function readPlace(reader: ByteReader): { readonly host: string; readonly port: number } {
  return { host: readText(reader), port: reader.varint() };
}

function readText(reader: ByteReader): string {
  return Buffer.from(reader.bytes()).toString('utf8');
}
