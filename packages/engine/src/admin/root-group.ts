/**
 * Records: USER (id) holds `user`, COLLECTION (id) `collection`, MEMBER (id) `member`, INVITATION (id) `invitation`, LEVEL
 * `level:varint` once it is above the first, WHITELIST (id of the user, part: the number of the list) `whitelist`; access lists and defaults lie in META.
 */
import { ByteReader, ByteWriter, encoded } from '../bytes.js';
import { Dirty } from '../state/dirty.js';
import { effectsOn } from '../state/effect.js';
import { Group, type GroupRecord } from '../state/group.js';
import { RecordKind } from '../state/records.js';
import type { ScopeKind } from '../state/scope.js';
import { AccessLists, type Target } from './access-lists.js';
import { type CollectionInfo, readCollection, writeCollection } from './collection-info.js';
import { FeedKeeping } from './feed-keeping.js';
import { Histories } from './histories.js';
import { type Invitation, readInvitation, writeInvitation } from './invitation.js';
import { LEVEL_FIRST, LEVEL_NEWEST, LevelError } from './level.js';
import { type MemberInfo, memberByName, memberByNumber, readMember, writeMember } from './member.js';
import { Modules } from './modules.js';
import { Privilege } from './privileges.js';
import { RootEffect } from './root-effects.js';
import type { RootEvent } from './root-event.js';
import { FIRST_DEFAULTS, type ScopeDefaults } from './scope-defaults.js';
import { NODE_NUMBER_MAX } from './scope-name.js';
import { Sessions } from './sessions.js';
import { readUser, TOKEN_PREFIX_LENGTH, type Token, type User, writeUser } from './user.js';
import { NO_LIMIT, type UserLimit, UserLimits } from './user-limits.js';
import {
  isListed,
  readWhitelist,
  type WhitelistName,
  type WhitelistRule,
  Whitelists,
  whitelistNumber,
  whitelistOfNumber,
  writeWhitelist,
} from './whitelist.js';

/** A collection that was created or deleted. */
export interface CollectionEvent {
  readonly kind: 'created' | 'deleted';
  readonly id: number;
}

/** The state of the root scope: users, what they may do where, the list of collections, and the nodes of the cluster. */
export class RootGroup extends Group {
  /** The scopes that have a commit history. */
  readonly histories: Histories;
  readonly modules: Modules;
  readonly sessions: Sessions;
  readonly userLimits: UserLimits;
  readonly feedKeeping: FeedKeeping;
  readonly users = new Map<number, User>();
  readonly usersByName = new Map<string, User>();
  readonly collections = new Map<number, CollectionInfo>();
  readonly collectionsByName = new Map<string, CollectionInfo>();
  readonly members = new Map<number, MemberInfo>();
  /** Nodes that are to join, by the number that they will get. */
  readonly invitations = new Map<number, Invitation>();
  /** Rises with every change of the members and invitations. */
  membersVersion = 0;
  /** Above all numbers that members had. */
  nextNumber = 0;
  /** Rises with every change of users, sessions and access; what was decided before is to be decided anew. */
  accessVersion = 0;
  private loading = false;
  /** Rises when a backup took the place of everything, since this node opened the state. */
  replacements = 0;
  /** The next id for a user, collection, module or task of this scope. Ids are never used again. */
  nextId = 1;
  idFloor = 0;
  defaults = FIRST_DEFAULTS;
  /** Names the backup whose restore was begun and is not complete: until then nothing else is done. Empty for none. */
  restoring = '';
  /** The level that the cluster works at: of what is committed, what the leader of any group may write by. */
  level: number = LEVEL_FIRST;
  /** The level with the changes that are not committed yet: what the record holds. */
  private writtenLevel: number = LEVEL_FIRST;
  readonly access = new AccessLists();
  readonly whitelists = new Whitelists();
  private readonly usersByTokenPrefix = new Map<string, { readonly user: User; readonly token: Token }>();

  /** Collections that came or went since this was last emptied, by its reader. */
  readonly collectionEvents: CollectionEvent[] = [];

  /** Events of `RootEditor` since its reader last took them. */
  readonly events: RootEvent[] = [];

  /** @param knownLevel the highest level that the node takes; lower than that of the software in tests of upgrades */
  constructor(
    /** The highest level that this software knows. */
    readonly knownLevel: number = LEVEL_NEWEST,
  ) {
    const dirty = new Dirty(() => undefined);
    const histories = new Histories(dirty);
    const modules = new Modules(dirty);
    const sessions = new Sessions(dirty);
    const userLimits = new UserLimits(dirty);
    const feedKeeping = new FeedKeeping(dirty);
    super(dirty, [histories, modules, sessions, userLimits, feedKeeping]);
    this.histories = histories;
    this.modules = modules;
    modules.ids = this;
    this.userLimits = userLimits;
    this.feedKeeping = feedKeeping;
    this.sessions = sessions;
    sessions.changed = () => {
      this.accessVersion += 1;
    };
    this.takeEffects(effectsOn(this, RootEffect));
    this.tasks.attach({ ids: this, owners: this, store: null });
  }

  /** True if a snapshot is taking the place of this state: what is not in it may yet come. */
  get isLoading(): boolean {
    return this.loading;
  }

  /** The snapshot for which the state was cleared is there as a whole. */
  loaded(): void {
    this.loading = false;
  }

  override clear(): void {
    super.clear();
    this.loading = true;
    for (const map of [this.users, this.usersByName, this.usersByTokenPrefix]) map.clear();
    for (const map of [this.collections, this.collectionsByName]) map.clear();
    this.access.clear();
    for (const map of [this.members, this.invitations]) map.clear();
    this.whitelists.clear();
    this.collectionEvents.length = 0;
    this.events.length = 0;
    this.nextId = 1;
    this.nextNumber = 0;
    this.defaults = FIRST_DEFAULTS;
    this.restoring = '';
    this.level = LEVEL_FIRST;
    this.writtenLevel = LEVEL_FIRST;
    this.accessVersion += 1;
    this.membersVersion += 1;
  }

  putUser(user: User): void {
    const old = this.users.get(user.id);
    if (old !== undefined) this.forgetUser(old);
    this.indexUser(user);
    this.dirty.put(RecordKind.USER, user.id, 0, encoded(writeUser, user));
  }

  /** Deletes a user with its whitelists, its sessions, its limits and its access everywhere; returns that access, for taking it back. */
  deleteUser(id: number): readonly (readonly [Target, number])[] {
    const user = this.users.get(id);
    if (user === undefined) return [];
    const lost = this.accessOf(id);
    this.access.removeUser(id);
    for (const [list] of this.whitelists.allOf(id)) this.setWhitelist(id, list, null);
    this.sessions.set(id, []);
    this.userLimits.set(id, undefined);
    this.forgetUser(user);
    this.users.delete(id);
    this.accessVersion += 1;
    this.dirty.put(RecordKind.USER, id, 0, null);
    return lost;
  }

  putCollection(collection: CollectionInfo): void {
    const old = this.collections.get(collection.id);
    if (old !== undefined) this.collectionsByName.delete(old.name);
    this.indexCollection(collection);
    this.dirty.put(RecordKind.COLLECTION, collection.id, 0, encoded(writeCollection, collection));
    if (old === undefined) this.collectionEvents.push({ kind: 'created', id: collection.id });
  }

  /** Deletes a collection with the access to it; returns that access, for taking it back. */
  deleteCollection(id: number): ReadonlyMap<number, number> {
    const collection = this.collections.get(id);
    if (collection === undefined) return new Map();
    const lost = this.access.removeTarget(id);
    this.collections.delete(id);
    this.collectionsByName.delete(collection.name);
    this.histories.set(id, undefined);
    this.feedKeeping.set(id, undefined);
    this.accessVersion += 1;
    this.dirty.put(RecordKind.COLLECTION, id, 0, null);
    this.collectionEvents.push({ kind: 'deleted', id });
    return lost;
  }

  putMember(member: MemberInfo): void {
    this.indexMember(member);
    this.dirty.put(RecordKind.MEMBER, member.nodeId, 0, encoded(writeMember, member));
  }

  deleteMember(nodeId: number): void {
    this.members.delete(nodeId);
    this.membersVersion += 1;
    this.dirty.put(RecordKind.MEMBER, nodeId, 0, null);
  }

  putInvitation(invitation: Invitation): void {
    this.indexInvitation(invitation);
    this.dirty.put(RecordKind.INVITATION, invitation.number, 0, encoded(writeInvitation, invitation));
  }

  deleteInvitation(number: number): void {
    this.invitations.delete(number);
    this.membersVersion += 1;
    this.dirty.put(RecordKind.INVITATION, number, 0, null);
  }

  /** The number for another member: never used before, as long as a scope can name such a one; null when all are taken. */
  freeNumber(): number | null {
    if (this.nextNumber <= NODE_NUMBER_MAX) return this.nextNumber;
    for (let number = 0; number <= NODE_NUMBER_MAX; number++) {
      if (!this.invitations.has(number) && this.memberByNumber(number) === undefined) return number;
    }
    return null;
  }

  /** The member of a number; the one that stays where another is about to leave its place to it. */
  memberByNumber(number: number): MemberInfo | undefined {
    return memberByNumber(this.members.values(), number);
  }

  /** The member of a name, also of its first part alone, as of `althing-0.althing-headless`, where no other one has that. */
  memberByName(name: string): MemberInfo | undefined {
    return memberByName(this.members.values(), name);
  }

  /** Sets what a user may do; null takes the entry away. */
  setAccess(target: Target, userId: number, mask: number | null): void {
    this.access.set(target, userId, mask);
    this.accessVersion += 1;
  }

  /** Sets a whitelist of a user; null removes it. */
  setWhitelist(userId: number, list: WhitelistName, rules: readonly WhitelistRule[] | null): void {
    this.indexWhitelist(userId, list, rules);
    const record = rules === null ? null : encoded(writeWhitelist, rules);
    this.dirty.put(RecordKind.WHITELIST, userId, whitelistNumber(list), record);
  }

  /**
   * True if a user may ask for what has this name: its whitelist, if there is one, allows it.
   *
   * @param name null for what has no name
   * @throws QueryError operation_err when an expression of the list takes too many steps
   */
  isAllowed(userId: number, list: WhitelistName, name: string | null): boolean {
    const rules = this.whitelists.of(userId, list);
    return rules === undefined || isListed(rules, name);
  }

  /** True if a user has all of these privileges. */
  allows(target: Target, userId: number, mask: number): boolean {
    return ((this.access.maskOf(target, userId) ?? 0) & mask) === mask;
  }

  /** The limits of a user in a scope. Nobody can lock himself out: none hold in the root scope for who can set them there. */
  limitIn(kind: ScopeKind, userId: number): UserLimit {
    if (kind === 'thingsdb' && this.allows('thingsdb', userId, Privilege.GRANT)) return NO_LIMIT;
    return this.userLimits.of(userId);
  }

  /** All entries of a user: `@node`, `@thingsdb`, then collections. */
  accessOf(userId: number): (readonly [Target, number])[] {
    const found: (readonly [Target, number])[] = [];
    const look = (target: Target): void => {
      const mask = this.access.maskOf(target, userId);
      if (mask !== undefined) found.push([target, mask]);
    };
    look('node');
    look('thingsdb');
    for (const id of this.collections.keys()) look(id);
    return found;
  }

  setDefaults(kind: 'thingsdb' | 'node', defaults: ScopeDefaults): void {
    this.defaults = { ...this.defaults, [kind]: defaults };
  }

  /** Writes the level; gives the one before. It is in force when that is committed, see `confirmLevel`. */
  writeLevel(level: number): number {
    if (level > this.knownLevel) throw new LevelError(level, this.knownLevel);
    const before = this.writtenLevel;
    this.writtenLevel = level;
    const out = new ByteWriter(16);
    out.varint(level);
    this.dirty.put(RecordKind.LEVEL, 0, 0, level === LEVEL_FIRST ? null : out.take());
    return before;
  }

  /** The change that wrote the level is committed. */
  confirmLevel(): void {
    this.level = this.writtenLevel;
  }

  /** The token whose key begins like this, with its user. */
  tokenByPrefix(prefix: string): { readonly user: User; readonly token: Token } | undefined {
    return this.usersByTokenPrefix.get(prefix);
  }

  /** The token that a key could be the key of. Whether it is, its hash must tell. */
  tokenByKey(key: string): { readonly user: User; readonly token: Token } | undefined {
    return this.tokenByPrefix(key.slice(0, TOKEN_PREFIX_LENGTH));
  }

  override loadRecord(kind: number, id: number, value: Uint8Array, part = 0): void {
    if (kind === RecordKind.USER) this.indexUser(readUser(new ByteReader(value)));
    else if (kind === RecordKind.COLLECTION) this.indexCollection(readCollection(new ByteReader(value)));
    else if (kind === RecordKind.MEMBER) this.indexMember(readMember(new ByteReader(value)));
    else if (kind === RecordKind.INVITATION) this.indexInvitation(readInvitation(new ByteReader(value)));
    else if (kind === RecordKind.LEVEL) this.loadLevel(new ByteReader(value).varint());
    else if (kind === RecordKind.WHITELIST) {
      this.indexWhitelist(id, whitelistOfNumber(part), readWhitelist(new ByteReader(value)));
    } else super.loadRecord(kind, id, value, part);
  }

  /** Removes everything but the nodes and some collections, for that of a backup to take its place. */
  empty(kept: ReadonlySet<number>): void {
    const { procedures, commits, tasks, modules, histories } = this;
    for (const id of [...this.collections.keys()]) if (!kept.has(id)) this.deleteCollection(id);
    for (const id of [...this.users.keys()]) this.deleteUser(id);
    for (const name of [...procedures.byName.keys()]) procedures.delete(name);
    for (const id of commits.strangers(null)) commits.delete(id);
    for (const { id } of [...tasks.all()]) tasks.delete(id);
    for (const id of [...modules.byId.keys()]) modules.delete(id);
    for (const target of [...histories.all.keys()]) histories.set(target, undefined);
    this.replacements += 1;
  }

  /** The nodes of a cluster are its own: they and their numbers do not come from a backup. Nor do sessions, which have ended. */
  override restoreRecord(record: GroupRecord): void {
    const { kind, id, part, value } = record;
    if (kind === RecordKind.SESSIONS) return;
    if (kind === RecordKind.USER) {
      this.putUser(readUser(new ByteReader(value)));
      return;
    }
    if (kind === RecordKind.WHITELIST) {
      this.setWhitelist(id, whitelistOfNumber(part), readWhitelist(new ByteReader(value)));
      return;
    }
    const { nextId, nextNumber } = this;
    if (kind === RecordKind.META) this.access.clear();
    super.restoreRecord(record);
    this.nextId = Math.max(this.nextId, nextId);
    this.nextNumber = nextNumber;
    this.accessVersion += 1;
  }

  /**
   * ... nextId:varint nextNumber:varint (deep:u8 zone:text){2} lists restoring:text?     lists: see `access-lists.ts`
   *
   * The last is there only while a backup is being restored.
   */
  protected override writeMeta(out: ByteWriter): void {
    out.varint(this.nextId);
    out.varint(this.nextNumber);
    for (const { deep, timeZone } of [this.defaults.thingsdb, this.defaults.node]) {
      out.u8(deep);
      out.text(timeZone);
    }
    this.access.write(out);
    if (this.restoring !== '') out.text(this.restoring);
  }

  /** Older versions wrote the access lists in the order in which they came about. */
  static override sharedMeta(meta: Uint8Array): Uint8Array {
    const root = new RootGroup();
    root.loadRecord(RecordKind.META, 0, meta);
    return Group.sharedMeta(root.encodeMeta());
  }

  protected override readMeta(input: ByteReader): void {
    this.nextId = input.varint();
    this.nextNumber = input.varint();
    const thingsdb = { deep: input.u8(), timeZone: input.text() };
    const node = { deep: input.u8(), timeZone: input.text() };
    this.defaults = { thingsdb, node };
    this.access.read(input);
    this.accessVersion += 1;
    this.restoring = input.remaining > 0 ? input.text() : '';
  }

  private indexUser(user: User): void {
    this.users.set(user.id, user);
    this.usersByName.set(user.name, user);
    for (const token of user.tokens) this.usersByTokenPrefix.set(token.prefix, { user, token });
    this.nextId = Math.max(this.nextId, user.id + 1);
    this.accessVersion += 1;
  }

  private forgetUser(user: User): void {
    // While a backup is restored another user may have the name already.
    if (this.usersByName.get(user.name)?.id === user.id) this.usersByName.delete(user.name);
    for (const token of user.tokens) this.usersByTokenPrefix.delete(token.prefix);
  }

  private indexCollection(collection: CollectionInfo): void {
    this.collections.set(collection.id, collection);
    this.collectionsByName.set(collection.name, collection);
    this.nextId = Math.max(this.nextId, collection.id + 1);
  }

  private indexWhitelist(userId: number, list: WhitelistName, rules: readonly WhitelistRule[] | null): void {
    this.whitelists.set(userId, list, rules);
    this.accessVersion += 1;
  }

  private loadLevel(level: number): void {
    if (level > this.knownLevel) throw new LevelError(level, this.knownLevel);
    this.level = level;
    this.writtenLevel = level;
  }

  private indexInvitation(invitation: Invitation): void {
    this.invitations.set(invitation.number, invitation);
    this.nextNumber = Math.max(this.nextNumber, invitation.number + 1);
    this.membersVersion += 1;
  }

  private indexMember(member: MemberInfo): void {
    this.members.set(member.nodeId, member);
    this.nextNumber = Math.max(this.nextNumber, member.number + 1);
    this.membersVersion += 1;
  }
}
