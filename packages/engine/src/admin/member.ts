/**
 * A node of the cluster, as the root scope knows it.
 *
 *   member := node:varint number:varint flags:u8 name:text host:text port:varint       flags: 1 leaving
 */
import { type ByteReader, type ByteWriter, FormatError } from '../bytes.js';

export interface MemberInfo {
  /** Random, and made with its data folder: no two folders have the same. What Raft knows it by. */
  readonly nodeId: number;
  /** The number that users know it by, as in `/node/2`. A node that takes the place of a lost one gets the number of that. */
  readonly number: number;
  readonly name: string;
  /** Where other nodes reach it: a name or an IP address. */
  readonly host: string;
  readonly port: number;
  /** True if it is to be removed: Raft is told first, then it goes from the list. */
  readonly leaving: boolean;
}

export function writeMember(out: ByteWriter, member: MemberInfo): void {
  out.varint(member.nodeId);
  out.varint(member.number);
  out.u8(member.leaving ? LEAVING : 0);
  out.text(member.name);
  out.text(member.host);
  out.varint(member.port);
}

/** @throws FormatError for flags of a newer version */
export function readMember(input: ByteReader): MemberInfo {
  const nodeId = input.varint();
  const number = input.varint();
  const flags = input.u8();
  if (flags > LEAVING) throw new FormatError(`a member with the flags ${flags}`);
  return {
    nodeId,
    number,
    leaving: flags === LEAVING,
    name: input.text(),
    host: input.text(),
    port: input.varint(),
  };
}

const LEAVING = 1;

/** The member of a number; of two, the one that does not leave. */
export function memberByNumber(members: Iterable<MemberInfo>, number: number): MemberInfo | undefined {
  return stayingOf([...members].filter((member) => member.number === number));
}

/** The member of a name; else the one whose name begins with it and a dot, unless such members have different names. */
export function memberByName(members: Iterable<MemberInfo>, name: string): MemberInfo | undefined {
  const all = [...members];
  const whole = stayingOf(all.filter((member) => member.name === name));
  if (whole !== undefined) return whole;
  const beginning = all.filter((member) => member.name.startsWith(`${name}.`));
  return new Set(beginning.map((member) => member.name)).size === 1 ? stayingOf(beginning) : undefined;
}

function stayingOf(members: readonly MemberInfo[]): MemberInfo | undefined {
  return members.find((member) => !member.leaving) ?? members[0];
}
