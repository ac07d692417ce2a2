/**
 * Changes of the root scope's state: each applies a primitive of `RootGroup`, records it as an effect, and records its
 * inverse.
 */
import type { ByteWriter } from '../bytes.js';
import type { Undo } from '../state/transaction.js';
import { type Target, writeTarget } from './access-lists.js';
import { type CollectionInfo, writeCollection } from './collection-info.js';
import { type History, writeRemoveHistory, writeSetHistory } from './histories.js';
import { type Invitation, writeInvitation } from './invitation.js';
import { type MemberInfo, writeMember } from './member.js';
import { type ModuleInfo, writeDeleteModule, writeModuleCode, writePutModule } from './modules.js';
import { RootEffect } from './root-effects.js';
import { accessEvent, moduleEvent, type RootEvent, userEvents, whitelistEvent } from './root-event.js';
import type { RootGroup } from './root-group.js';
import type { ScopeDefaults } from './scope-defaults.js';
import { type User, writeUser } from './user.js';
import { type WhitelistName, type WhitelistRule, whitelistNumber, writeWhitelist } from './whitelist.js';

/** Where effects and inverses are recorded: a `Transaction`, or less. */
export interface Recorder {
  readonly effects: ByteWriter;
  onUndo(undo: Undo): void;
}

export class RootEditor {
  readonly root: RootGroup;
  private readonly recorder: Recorder;

  constructor(root: RootGroup, recorder: Recorder) {
    this.root = root;
    this.recorder = recorder;
  }

  putUser(user: User): void {
    const { root } = this;
    const { effects } = this.recorder;
    effects.u8(RootEffect.PUT_USER);
    writeUser(effects, user);
    const old = root.users.get(user.id);
    const { nextId } = root;
    for (const event of userEvents(old, user)) this.note(event);
    root.putUser(user);
    this.recorder.onUndo(() => {
      if (old !== undefined) {
        root.putUser(old);
        return;
      }
      root.deleteUser(user.id);
      root.nextId = nextId;
    });
  }

  deleteUser(user: User): void {
    const { root } = this;
    const { effects } = this.recorder;
    effects.u8(RootEffect.DELETE_USER);
    effects.varint(user.id);
    this.note({ event: 'user_deleted', fields: { name: user.name } });
    const lists = root.whitelistsOf(user.id);
    const lost = root.deleteUser(user.id);
    this.recorder.onUndo(() => {
      root.putUser(user);
      for (const [list, rules] of lists) root.setWhitelist(user.id, list, rules);
      for (const [target, mask] of lost) root.setAccess(target, user.id, mask);
    });
  }

  putCollection(collection: CollectionInfo): void {
    const { root } = this;
    const { effects } = this.recorder;
    effects.u8(RootEffect.PUT_COLLECTION);
    writeCollection(effects, collection);
    const old = root.collections.get(collection.id);
    const { nextId } = root;
    const { name } = collection;
    if (old === undefined) this.note({ event: 'collection_made', fields: { name } });
    else if (old.name !== name)
      this.note({ event: 'collection_renamed', fields: { name: old.name, to: name } });
    root.putCollection(collection);
    this.recorder.onUndo(() => {
      if (old !== undefined) {
        root.putCollection(old);
        return;
      }
      root.deleteCollection(collection.id);
      root.nextId = nextId;
    });
  }

  deleteCollection(collection: CollectionInfo): void {
    const { root } = this;
    const { effects } = this.recorder;
    effects.u8(RootEffect.DELETE_COLLECTION);
    effects.varint(collection.id);
    this.note({ event: 'collection_deleted', fields: { name: collection.name } });
    const history = root.histories.of(collection.id);
    const lost = root.deleteCollection(collection.id);
    this.recorder.onUndo(() => {
      root.putCollection(collection);
      if (history !== undefined) root.histories.put(history);
      for (const [userId, mask] of lost) root.setAccess(collection.id, userId, mask);
    });
  }

  putMember(member: MemberInfo): void {
    const { root } = this;
    const { effects } = this.recorder;
    effects.u8(RootEffect.PUT_MEMBER);
    writeMember(effects, member);
    const old = root.members.get(member.nodeId);
    const { nextNumber } = root;
    const { number, name, host, port, leaving } = member;
    if (old === undefined) this.note({ event: 'node_joined', fields: { node: number, name, host, port } });
    else if (leaving && !old.leaving) this.note({ event: 'node_leaving', fields: { node: number, name } });
    root.putMember(member);
    this.recorder.onUndo(() => {
      if (old === undefined) root.deleteMember(member.nodeId);
      else root.putMember(old);
      root.nextNumber = nextNumber;
    });
  }

  putInvitation(invitation: Invitation): void {
    const { root } = this;
    const { effects } = this.recorder;
    effects.u8(RootEffect.PUT_INVITATION);
    writeInvitation(effects, invitation);
    const { nextNumber } = root;
    const { number, host, port } = invitation;
    this.note({ event: 'node_invited', fields: { node: number, host, port } });
    root.putInvitation(invitation);
    this.recorder.onUndo(() => {
      root.deleteInvitation(invitation.number);
      root.nextNumber = nextNumber;
    });
  }

  deleteInvitation(invitation: Invitation): void {
    const { root } = this;
    const { effects } = this.recorder;
    effects.u8(RootEffect.DELETE_INVITATION);
    effects.varint(invitation.number);
    this.note({ event: 'invitation_deleted', fields: { node: invitation.number } });
    root.deleteInvitation(invitation.number);
    this.recorder.onUndo(() => root.putInvitation(invitation));
  }

  deleteMember(member: MemberInfo): void {
    const { root } = this;
    const { effects } = this.recorder;
    effects.u8(RootEffect.DELETE_MEMBER);
    effects.varint(member.nodeId);
    this.note({ event: 'node_removed', fields: { node: member.number, name: member.name } });
    root.deleteMember(member.nodeId);
    this.recorder.onUndo(() => root.putMember(member));
  }

  /** Sets the privileges of a user on a target; null removes its entry. */
  setAccess(target: Target, userId: number, mask: number | null): void {
    const { root } = this;
    const { effects } = this.recorder;
    effects.u8(mask === null ? RootEffect.REMOVE_ACCESS : RootEffect.SET_ACCESS);
    writeTarget(effects, target);
    effects.varint(userId);
    if (mask !== null) effects.u8(mask);
    const old = root.maskOf(target, userId) ?? null;
    if (old !== mask) this.note(accessEvent(root, target, userId, mask));
    root.setAccess(target, userId, mask);
    this.recorder.onUndo(() => root.setAccess(target, userId, old));
  }

  /** Sets a whitelist of a user; null removes it. */
  setWhitelist(userId: number, list: WhitelistName, rules: readonly WhitelistRule[] | null): void {
    const { root } = this;
    const { effects } = this.recorder;
    effects.u8(rules === null ? RootEffect.REMOVE_WHITELIST : RootEffect.SET_WHITELIST);
    effects.varint(userId);
    effects.u8(whitelistNumber(list));
    if (rules !== null) writeWhitelist(effects, rules);
    const old = root.whitelistOf(userId, list) ?? null;
    this.note(whitelistEvent(root, userId, list, rules));
    root.setWhitelist(userId, list, rules);
    this.recorder.onUndo(() => root.setWhitelist(userId, list, old));
  }

  /** Gives a scope this commit history. */
  setHistory(history: History): void {
    const { histories } = this.root;
    const old = histories.of(history.target);
    writeSetHistory(this.recorder.effects, history);
    histories.put(history);
    this.recorder.onUndo(() => {
      if (old === undefined) histories.remove(history.target);
      else histories.put(old);
    });
  }

  /** A scope has no commit history any more. */
  removeHistory(target: number): void {
    const { histories } = this.root;
    const old = histories.of(target);
    if (old === undefined) return;
    writeRemoveHistory(this.recorder.effects, target);
    histories.remove(target);
    this.recorder.onUndo(() => histories.put(old));
  }

  /** Makes a module, or changes its definition. */
  putModule(module: ModuleInfo): void {
    const { root } = this;
    const { modules, nextId } = root;
    const { id } = module;
    const old = modules.byId.get(id);
    writePutModule(this.recorder.effects, module);
    this.note(moduleEvent(old, module));
    modules.put(module);
    this.recorder.onUndo(() => {
      if (old !== undefined) {
        modules.put(old);
        return;
      }
      modules.delete(id);
      root.nextId = nextId;
    });
  }

  deleteModule(module: ModuleInfo): void {
    const { modules } = this.root;
    const code = modules.codeOf(module.id);
    writeDeleteModule(this.recorder.effects, module.id);
    this.note({ event: 'module_deleted', fields: { name: module.name } });
    modules.delete(module.id);
    this.recorder.onUndo(() => {
      modules.put(module);
      modules.setCode(module.id, code);
    });
  }

  /** Deploys the code of a module. */
  setModuleCode(module: ModuleInfo, slices: readonly Uint8Array[]): void {
    const { modules } = this.root;
    const { id, name } = module;
    const old = modules.codeOf(id);
    writeModuleCode(this.recorder.effects, id, slices);
    const bytes = slices.reduce((sum, { length }) => sum + length, 0);
    this.note({ event: 'module_deployed', fields: { name, bytes } });
    modules.setCode(id, slices);
    this.recorder.onUndo(() => modules.setCode(id, old));
  }

  /** Tells what a change does, unless it is taken back in time. */
  private note(event: RootEvent): void {
    const { events } = this.root;
    events.push(event);
    this.recorder.onUndo(() => {
      const at = events.lastIndexOf(event);
      if (at !== -1) events.splice(at, 1);
    });
  }

  /** The cluster is to work at a level that all of its members know. */
  setLevel(level: number): void {
    const { root } = this;
    const { effects } = this.recorder;
    effects.u8(RootEffect.SET_LEVEL);
    effects.varint(level);
    this.note({ event: 'level_raised', fields: { level } });
    const old = root.writeLevel(level);
    this.recorder.onUndo(() => root.writeLevel(old));
  }

  setDefaults(kind: 'thingsdb' | 'node', defaults: ScopeDefaults): void {
    const { root } = this;
    const { effects } = this.recorder;
    effects.u8(RootEffect.SET_DEFAULTS);
    effects.u8(kind === 'thingsdb' ? 0 : 1);
    effects.u8(defaults.deep);
    effects.text(defaults.timeZone);
    const old = root.defaults[kind];
    root.setDefaults(kind, defaults);
    this.recorder.onUndo(() => root.setDefaults(kind, old));
  }
}
