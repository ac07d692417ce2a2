/** Changes of the root scope's state: each makes one effect, and tells the audit log of it. */
import { type EffectRow, perform, type Recorder } from '../state/effect.js';
import { nextIdOf } from '../state/ids.js';
import type { Target } from './access-lists.js';
import type { CollectionInfo } from './collection-info.js';
import { type FeedKeep, FeedKeepEffect } from './feed-keeping.js';
import { type History, HistoryEffect } from './histories.js';
import type { Invitation } from './invitation.js';
import type { MemberInfo } from './member.js';
import { ModuleEffect, type ModuleInfo } from './modules.js';
import { RootEffect } from './root-effects.js';
import {
  accessEvent,
  limitFields,
  moduleEvent,
  type RootEvent,
  sessionEvents,
  userEvents,
  whitelistEvent,
} from './root-event.js';
import type { RootGroup } from './root-group.js';
import type { ScopeDefaults } from './scope-defaults.js';
import { isBackedBy, SessionEffect, type UserSession } from './sessions.js';
import type { User } from './user.js';
import { type UserLimit, UserLimitEffect } from './user-limits.js';
import type { WhitelistName, WhitelistRule } from './whitelist.js';

export class RootEditor {
  constructor(
    readonly root: RootGroup,
    private readonly recorder: Recorder,
  ) {}

  /** The id of the next user, collection or module. */
  nextId(): number {
    return nextIdOf(this.root, this.recorder);
  }

  /** Makes or changes a user. Sessions end with the password or the token that they were begun with. */
  putUser(user: User): void {
    for (const event of userEvents(this.root.users.get(user.id), user)) this.note(event);
    this.do(RootEffect.PUT_USER, user);
    const sessions = this.root.sessions.of(user.id);
    const left = sessions.filter((session) => isBackedBy(session, user));
    if (left.length < sessions.length) this.setSessions(user, left);
  }

  setSessions(user: User, sessions: readonly UserSession[]): void {
    for (const event of sessionEvents(user, this.root.sessions.of(user.id), sessions)) this.note(event);
    perform(this.recorder, SessionEffect.SET, this.root.sessions, user.id, sessions);
  }

  /** Sets what a user may take. */
  setLimit({ id, name }: User, limit: UserLimit): void {
    this.note({ event: 'limits_set', fields: { name, ...limitFields(limit) } });
    perform(this.recorder, UserLimitEffect.SET, this.root.userLimits, id, limit);
  }

  /** Sets how much of the log of a collection is kept for those who follow it. */
  setFeed({ id, name }: CollectionInfo, keep: FeedKeep): void {
    this.note({ event: 'feed_set', fields: { name, keep_bytes: keep.bytes, keep_s: keep.seconds } });
    perform(this.recorder, FeedKeepEffect.SET, this.root.feedKeeping, id, keep);
  }

  deleteUser({ id, name }: User): void {
    this.note({ event: 'user_deleted', fields: { name } });
    this.do(RootEffect.DELETE_USER, id);
  }

  putCollection(collection: CollectionInfo): void {
    const { name } = collection;
    const old = this.root.collections.get(collection.id)?.name;
    if (old === undefined) this.note({ event: 'collection_made', fields: { name } });
    else if (old !== name) this.note({ event: 'collection_renamed', fields: { name: old, to: name } });
    this.do(RootEffect.PUT_COLLECTION, collection);
  }

  deleteCollection({ id, name }: CollectionInfo): void {
    this.note({ event: 'collection_deleted', fields: { name } });
    this.do(RootEffect.DELETE_COLLECTION, id);
  }

  putMember(member: MemberInfo): void {
    const { number, name, host, port, leaving } = member;
    const old = this.root.members.get(member.nodeId);
    if (old === undefined) this.note({ event: 'node_joined', fields: { node: number, name, host, port } });
    else if (leaving && !old.leaving) this.note({ event: 'node_leaving', fields: { node: number, name } });
    this.do(RootEffect.PUT_MEMBER, member);
  }

  deleteMember({ nodeId, number, name }: MemberInfo): void {
    this.note({ event: 'node_removed', fields: { node: number, name } });
    this.do(RootEffect.DELETE_MEMBER, nodeId);
  }

  putInvitation(invitation: Invitation): void {
    const { number, host, port } = invitation;
    this.note({ event: 'node_invited', fields: { node: number, host, port } });
    this.do(RootEffect.PUT_INVITATION, invitation);
  }

  deleteInvitation({ number }: Invitation): void {
    this.note({ event: 'invitation_deleted', fields: { node: number } });
    this.do(RootEffect.DELETE_INVITATION, number);
  }

  /** Sets the privileges of a user on a target; null removes its entry. */
  setAccess(target: Target, userId: number, mask: number | null): void {
    const { root } = this;
    if ((root.access.maskOf(target, userId) ?? null) !== mask)
      this.note(accessEvent(root, target, userId, mask));
    if (mask === null) this.do(RootEffect.REMOVE_ACCESS, target, userId);
    else this.do(RootEffect.SET_ACCESS, target, userId, mask);
  }

  /** Sets a whitelist of a user; null removes it. */
  setWhitelist(userId: number, list: WhitelistName, rules: readonly WhitelistRule[] | null): void {
    this.note(whitelistEvent(this.root, userId, list, rules));
    if (rules === null) this.do(RootEffect.REMOVE_WHITELIST, userId, list);
    else this.do(RootEffect.SET_WHITELIST, userId, list, rules);
  }

  /** Gives a scope this commit history. */
  setHistory(history: History): void {
    perform(this.recorder, HistoryEffect.SET, this.root.histories, history);
  }

  /** A scope has no commit history any more. */
  removeHistory(target: number): void {
    perform(this.recorder, HistoryEffect.REMOVE, this.root.histories, target);
  }

  /** Makes a module, or changes its definition. */
  putModule(module: ModuleInfo): void {
    const { modules } = this.root;
    this.note(moduleEvent(modules.byId.get(module.id), module));
    perform(this.recorder, ModuleEffect.PUT, modules, module);
  }

  deleteModule({ id, name }: ModuleInfo): void {
    this.note({ event: 'module_deleted', fields: { name } });
    perform(this.recorder, ModuleEffect.DELETE, this.root.modules, id);
  }

  /** Deploys the code of a module. */
  setModuleCode({ id, name }: ModuleInfo, slices: readonly Uint8Array[]): void {
    const bytes = slices.reduce((sum, { length }) => sum + length, 0);
    this.note({ event: 'module_deployed', fields: { name, bytes } });
    perform(this.recorder, ModuleEffect.CODE, this.root.modules, id, slices);
  }

  /** The cluster is to work at a level that all of its members know. */
  setLevel(level: number): void {
    this.note({ event: 'level_raised', fields: { level } });
    this.do(RootEffect.SET_LEVEL, level);
  }

  setDefaults(scope: 'thingsdb' | 'node', defaults: ScopeDefaults): void {
    this.do(RootEffect.SET_DEFAULTS, scope, defaults);
  }

  private do<Args extends readonly unknown[], Result>(
    row: EffectRow<RootGroup, Args, Result>,
    ...args: Args
  ): void {
    perform(this.recorder, row, this.root, ...args);
  }

  /** Tells what a change does, unless it is taken back in time. */
  private note(event: RootEvent): void {
    const { events } = this.root;
    events.push(event);
    this.recorder.onUndo(() => {
      const at = events.lastIndexOf(event);
      if (at !== -1) events.splice(at, 1);
    }, NS_PER_EVENT);
  }
}

/** Time it takes to forget an event, in nanoseconds. */
const NS_PER_EVENT = 2000;
