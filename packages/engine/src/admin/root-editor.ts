/**
 * Changes of the root scope's state: each applies a primitive of `RootGroup`, records it as an effect, and records its
 * inverse.
 */
import type { ByteWriter } from '../bytes.js';
import type { Undo } from '../state/transaction.js';
import { type Invitation, writeInvitation } from './invitation.js';
import { type MemberInfo, writeMember } from './member.js';
import {
  type CollectionInfo,
  RootEffect,
  type RootGroup,
  type ScopeDefaults,
  type Target,
  writeCollection,
  writeTarget,
} from './root-group.js';
import { type User, writeUser } from './user.js';

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
    const lost = root.deleteUser(user.id);
    this.recorder.onUndo(() => {
      root.putUser(user);
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
    const lost = root.deleteCollection(collection.id);
    this.recorder.onUndo(() => {
      root.putCollection(collection);
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
    root.deleteInvitation(invitation.number);
    this.recorder.onUndo(() => root.putInvitation(invitation));
  }

  deleteMember(member: MemberInfo): void {
    const { root } = this;
    const { effects } = this.recorder;
    effects.u8(RootEffect.DELETE_MEMBER);
    effects.varint(member.nodeId);
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
    root.setAccess(target, userId, mask);
    this.recorder.onUndo(() => root.setAccess(target, userId, old));
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
