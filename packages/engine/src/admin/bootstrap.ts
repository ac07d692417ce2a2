import type { Undo } from '../state/transaction.js';
import { LEVEL_FIRST } from './level.js';
import type { MemberInfo } from './member.js';
import { Privilege } from './privileges.js';
import { changeRoot } from './root-change.js';
import type { RootGroup } from './root-group.js';
import type { PasswordHash } from './user.js';

/**
 * The first change of a new cluster: the nodes that found it, user `admin` with all privileges on everything, and one
 * empty collection `stuff`, whose group begins with those nodes. It is made here as a query would make it, and has to be
 * replicated like one.
 *
 * @param createdAt Unix seconds
 * @param level the level that it works at from its beginning: one that all of these nodes are known to know
 */
export function bootstrap(
  root: RootGroup,
  createdAt: number,
  password: PasswordHash,
  members: readonly MemberInfo[],
  level: number = LEVEL_FIRST,
): { readonly effects: Uint8Array; readonly undo: readonly Undo[] } {
  return changeRoot(root, (editor) => {
    if (level > LEVEL_FIRST) editor.setLevel(level);
    for (const member of members) editor.putMember(member);
    const admin = { id: root.nextId, name: 'admin', createdAt, password, tokens: [] };
    editor.putUser(admin);
    const nodes = members.map(({ nodeId }) => nodeId);
    const stuff = { id: root.nextId, name: 'stuff', createdAt, ...root.defaults.thingsdb, members: nodes };
    editor.putCollection(stuff);
    for (const target of ['node', 'thingsdb', stuff.id] as const) {
      editor.setAccess(target, admin.id, Privilege.FULL);
    }
  });
}
