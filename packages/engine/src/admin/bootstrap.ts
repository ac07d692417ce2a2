import { ByteWriter } from '../bytes.js';
import { Privilege } from './privileges.js';
import { type Recorder, RootEditor } from './root-editor.js';
import { RootGroup } from './root-group.js';
import type { PasswordHash } from './user.js';

/**
 * The effects of the first entry of a new cluster: user `admin` with all privileges on everything, and one empty
 * collection `stuff`.
 *
 * @param createdAt Unix seconds
 */
export function bootstrapEffects(createdAt: number, password: PasswordHash): Uint8Array {
  const effects = new ByteWriter();
  const recorder: Recorder = { effects, onUndo: () => {} };
  const root = new RootGroup();
  const editor = new RootEditor(root, recorder);
  const admin = { id: root.nextId, name: 'admin', createdAt, password, tokens: [] };
  editor.putUser(admin);
  const stuff = { id: root.nextId, name: 'stuff', createdAt, ...root.defaults.thingsdb };
  editor.putCollection(stuff);
  for (const target of ['node', 'thingsdb', stuff.id] as const) {
    editor.setAccess(target, admin.id, Privilege.FULL);
  }
  return effects.take();
}
