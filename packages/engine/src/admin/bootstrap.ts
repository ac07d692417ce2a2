import { ByteWriter } from '../bytes.js';
import type { Undo } from '../state/transaction.js';
import type { MemberInfo } from './member.js';
import { Privilege } from './privileges.js';
import { RootEditor } from './root-editor.js';
import type { RootGroup } from './root-group.js';
import type { PasswordHash } from './user.js';

/**
 * The first change of a new cluster: the nodes that found it, user `admin` with all privileges on everything, and one
 * empty collection `stuff`, whose group begins with those nodes. It is made here as a query would make it, and has to be
 * replicated like one.
 *
 * @param createdAt Unix seconds
 */
export function bootstrap(
  root: RootGroup,
  createdAt: number,
  password: PasswordHash,
  members: readonly MemberInfo[],
): { readonly effects: Uint8Array; readonly undo: readonly Undo[] } {
  const effects = new ByteWriter();
  const undo: Undo[] = [];
  const editor = new RootEditor(root, { effects, onUndo: (step) => undo.push(step) });
  for (const member of members) editor.putMember(member);
  const admin = { id: root.nextId, name: 'admin', createdAt, password, tokens: [] };
  editor.putUser(admin);
  const stuff = {
    id: root.nextId,
    name: 'stuff',
    createdAt,
    ...root.defaults.thingsdb,
    members: members.map(({ nodeId }) => nodeId),
  };
  editor.putCollection(stuff);
  for (const target of ['node', 'thingsdb', stuff.id] as const) {
    editor.setAccess(target, admin.id, Privilege.FULL);
  }
  root.changeCount += 1;
  undo.push(() => {
    root.changeCount -= 1;
  });
  return { effects: effects.take(), undo };
}
