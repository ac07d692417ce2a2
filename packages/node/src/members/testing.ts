import { LEVEL_NEWEST, type MemberInfo, RootGroup } from '@althing/engine';

/** A level that software to come will know, and the states of these tests do. */
export const LEVEL_NEXT = LEVEL_NEWEST + 1;

/** A member that is known by its number: node id 100 + number, `node-N` at port 9220. */
export function memberOf(number: number, more: Partial<MemberInfo> = {}): MemberInfo {
  const name = `node-${number}`;
  return { nodeId: 100 + number, number, name, host: `${name}.example`, port: 9220, leaving: false, ...more };
}

/** The state of the root scope with these members. */
export function rootOf(...members: readonly MemberInfo[]): RootGroup {
  const root = new RootGroup(LEVEL_NEXT);
  for (const member of members) root.putMember(member);
  return root;
}
