/**
 * Effects of the root scope (for the others see `state/group.ts`):
 *
 *   effect     := 40 user                                  new or changed user, see `user.ts`
 *               | 41 id:varint                             delete user, with its access everywhere
 *               | 42 collection                            new or changed collection, see `collection-info.ts`
 *               | 43 id:varint                             delete collection, with the access to it
 *               | 44 target user:varint mask:u8            set access, see `access-lists.ts`
 *               | 45 target user:varint                    remove access
 *               | 46 target:u8 deep:u8 zone:text           defaults of @thingsdb (0) or @node (1)
 *               | 47 member                                new or changed member, see `member.ts`
 *               | 48 node:varint                           delete member
 *               | 49 invitation                            new invitation, see `invitation.ts`
 *               | 4a number:varint                         delete invitation
 *               | 4b backup:text                           this backup is being restored; empty: none is
 *               | 4c level:varint                          the cluster works at this level, see `level.ts`
 *               | 4d user:varint list:u8 whitelist         set a whitelist, see `whitelist.ts`
 *               | 4e user:varint list:u8                   remove it
 *               | 4f count:varint id:varint* next:varint changes:varint
 *                                                        everything but the nodes, and these collections, is removed; what a backup
 *                                                        has follows. Ids go on from `next` at least, changes from `changes`
 *               | 2d to 2f: modules, see `modules.ts`
 *               | 50 and 51: commit histories, see `histories.ts`
 *               | 52: sessions, see `sessions.ts`
 *               | 53: limits of users, see `user-limits.ts`
 *               | 54: what is kept for feeds, see `feed-keeping.ts`
 */
import type { ByteReader, ByteWriter } from '../bytes.js';
import { committedEffect, effect } from '../state/effect.js';
import { takeIdsBack } from '../state/ids.js';
import { one } from '../state/tally.js';
import { readTarget, type Target, writeTarget } from './access-lists.js';
import { type CollectionInfo, readCollection, writeCollection } from './collection-info.js';
import { type Invitation, readInvitation, writeInvitation } from './invitation.js';
import { type MemberInfo, readMember, writeMember } from './member.js';
import type { RootGroup } from './root-group.js';
import type { ScopeDefaults } from './scope-defaults.js';
import { readUser, type User, writeUser } from './user.js';
import {
  readWhitelist,
  type WhitelistName,
  type WhitelistRule,
  whitelistNumber,
  whitelistOfNumber,
  writeWhitelist,
} from './whitelist.js';

/** Nanoseconds that it takes to take a change of the root scope back. */
const NS_PER_UNDO = 2000;

/** The same for a token of a user, and for the access of one user to one target. */
const NS_PER_TOKEN = 800;
const NS_PER_ACCESS = 100;

const writeNumber = (out: ByteWriter, number: number): void => out.varint(number);
const readNumber = (input: ByteReader): [number] => [input.varint()];
const cost = (): number => NS_PER_UNDO;
/** A user that goes may have access to each collection; to take it back is to look through them, too. */
const nsOfDeletion = ({ collections }: RootGroup): number => NS_PER_UNDO + NS_PER_ACCESS * collections.size;

export const RootEffect = {
  /** A new or changed user. */
  PUT_USER: effect<RootGroup, [user: User]>({
    code: 0x40,
    write: writeUser,
    read: (input) => [readUser(input)],
    apply: (root, user) => root.putUser(user),
    inverse: (root, { id }) => {
      const old = root.users.get(id);
      const { nextId } = root;
      return () => {
        if (old !== undefined) return root.putUser(old);
        root.deleteUser(id);
        takeIdsBack(root, nextId);
      };
    },
    cost: (root, { id, tokens }) =>
      NS_PER_TOKEN * tokens.length + (root.users.has(id) ? NS_PER_UNDO : nsOfDeletion(root)),
    counts: one('users'),
  }),
  /** With its access everywhere, its whitelists, its sessions and its limits. */
  DELETE_USER: effect<RootGroup, [id: number], readonly (readonly [Target, number])[]>({
    code: 0x41,
    write: writeNumber,
    read: readNumber,
    apply: (root, id) => root.deleteUser(id),
    inverse: (root, id) => {
      const user = root.users.get(id);
      const lists = root.whitelists.allOf(id);
      const sessions = root.sessions.of(id);
      const limit = root.userLimits.of(id);
      return (lost) => {
        if (user !== undefined) root.putUser(user);
        for (const [list, rules] of lists) root.setWhitelist(id, list, rules);
        root.sessions.set(id, sessions);
        root.userLimits.set(id, limit);
        for (const [target, mask] of lost) root.setAccess(target, id, mask);
      };
    },
    cost: nsOfDeletion,
    counts: one('users'),
  }),
  /** A new or changed collection. */
  PUT_COLLECTION: effect<RootGroup, [collection: CollectionInfo]>({
    code: 0x42,
    write: writeCollection,
    read: (input) => [readCollection(input)],
    apply: (root, collection) => root.putCollection(collection),
    inverse: (root, { id }) => {
      const old = root.collections.get(id);
      const { nextId } = root;
      return () => {
        if (old !== undefined) return root.putCollection(old);
        root.deleteCollection(id);
        takeIdsBack(root, nextId);
      };
    },
    cost,
    counts: one('collections'),
  }),
  /** With the access to it. */
  DELETE_COLLECTION: effect<RootGroup, [id: number], ReadonlyMap<number, number>>({
    code: 0x43,
    write: writeNumber,
    read: readNumber,
    apply: (root, id) => root.deleteCollection(id),
    inverse: (root, id) => {
      const collection = root.collections.get(id);
      const history = root.histories.all.get(id);
      const keep = root.feedKeeping.of(id);
      return (lost) => {
        if (collection !== undefined) root.putCollection(collection);
        root.feedKeeping.set(id, keep);
        root.histories.set(id, history);
        for (const [userId, mask] of lost) root.setAccess(id, userId, mask);
      };
    },
    cost: (root, id) => NS_PER_UNDO + NS_PER_ACCESS * root.access.countOf(id),
    counts: one('collections'),
  }),
  SET_ACCESS: effect<RootGroup, [target: Target, userId: number, mask: number]>({
    code: 0x44,
    write: (out, target, userId, mask) => {
      writeTarget(out, target);
      out.varint(userId);
      out.u8(mask);
    },
    read: (input) => [readTarget(input), input.varint(), input.u8()],
    apply: (root, target, userId, mask) => root.setAccess(target, userId, mask),
    inverse: accessBack,
    cost,
    counts: one('access'),
  }),
  REMOVE_ACCESS: effect<RootGroup, [target: Target, userId: number]>({
    code: 0x45,
    write: (out, target, userId) => {
      writeTarget(out, target);
      out.varint(userId);
    },
    read: (input) => [readTarget(input), input.varint()],
    apply: (root, target, userId) => root.setAccess(target, userId, null),
    inverse: accessBack,
    cost,
    counts: one('access'),
  }),
  SET_DEFAULTS: effect<RootGroup, [scope: 'thingsdb' | 'node', defaults: ScopeDefaults]>({
    code: 0x46,
    write: (out, scope, { deep, timeZone }) => {
      out.u8(scope === 'thingsdb' ? 0 : 1);
      out.u8(deep);
      out.text(timeZone);
    },
    read: (input) => [input.u8() === 0 ? 'thingsdb' : 'node', { deep: input.u8(), timeZone: input.text() }],
    apply: (root, scope, defaults) => root.setDefaults(scope, defaults),
    inverse: (root, scope) => {
      const old = root.defaults[scope];
      return () => root.setDefaults(scope, old);
    },
    cost,
    counts: one('settings'),
  }),
  /** A new or changed member. */
  PUT_MEMBER: effect<RootGroup, [member: MemberInfo]>({
    code: 0x47,
    write: writeMember,
    read: (input) => [readMember(input)],
    apply: (root, member) => root.putMember(member),
    inverse: (root, { nodeId }) => {
      const old = root.members.get(nodeId);
      const { nextNumber } = root;
      return () => {
        if (old === undefined) root.deleteMember(nodeId);
        else root.putMember(old);
        root.nextNumber = nextNumber;
      };
    },
    cost,
    counts: one('nodes'),
  }),
  DELETE_MEMBER: effect<RootGroup, [nodeId: number]>({
    code: 0x48,
    write: writeNumber,
    read: readNumber,
    apply: (root, nodeId) => root.deleteMember(nodeId),
    inverse: (root, nodeId) => {
      const old = root.members.get(nodeId);
      return () => (old === undefined ? undefined : root.putMember(old));
    },
    cost,
    counts: one('nodes'),
  }),
  PUT_INVITATION: effect<RootGroup, [invitation: Invitation]>({
    code: 0x49,
    write: writeInvitation,
    read: (input) => [readInvitation(input)],
    apply: (root, invitation) => root.putInvitation(invitation),
    inverse: (root, { number }) => {
      const { nextNumber } = root;
      return () => {
        root.deleteInvitation(number);
        root.nextNumber = nextNumber;
      };
    },
    cost,
    counts: one('nodes'),
  }),
  DELETE_INVITATION: effect<RootGroup, [number: number]>({
    code: 0x4a,
    write: writeNumber,
    read: readNumber,
    apply: (root, number) => root.deleteInvitation(number),
    inverse: (root, number) => {
      const old = root.invitations.get(number);
      return () => (old === undefined ? undefined : root.putInvitation(old));
    },
    cost,
    counts: one('nodes'),
  }),
  /** Notes that this backup is being restored; empty: none is. */
  SET_RESTORING: committedEffect<RootGroup, [backup: string]>({
    code: 0x4b,
    write: (out, backup) => out.text(backup),
    read: (input) => [input.text()],
    apply: (root, backup) => {
      root.restoring = backup;
    },
  }),
  /** The cluster works at a level that all of its members know, from when this is committed. */
  SET_LEVEL: {
    ...effect<RootGroup, [level: number], number>({
      code: 0x4c,
      write: writeNumber,
      read: readNumber,
      apply: (root, level) => root.writeLevel(level),
      inverse: (root) => (before) => root.writeLevel(before),
      cost,
      counts: one('settings'),
    }),
    // Everything that is read from the log is committed.
    repeat: (input: ByteReader, root: RootGroup): void => {
      root.writeLevel(input.varint());
      root.confirmLevel();
    },
  },
  SET_WHITELIST: effect<RootGroup, [userId: number, list: WhitelistName, rules: readonly WhitelistRule[]]>({
    code: 0x4d,
    write: (out, userId, list, rules) => {
      writeListName(out, userId, list);
      writeWhitelist(out, rules);
    },
    read: (input) => [input.varint(), whitelistOfNumber(input.u8()), readWhitelist(input)],
    apply: (root, userId, list, rules) => root.setWhitelist(userId, list, rules),
    inverse: whitelistBack,
    cost,
    counts: one('access'),
  }),
  REMOVE_WHITELIST: effect<RootGroup, [userId: number, list: WhitelistName]>({
    code: 0x4e,
    write: writeListName,
    read: (input) => [input.varint(), whitelistOfNumber(input.u8())],
    apply: (root, userId, list) => root.setWhitelist(userId, list, null),
    inverse: whitelistBack,
    cost,
    counts: one('access'),
  }),
  /** Everything but the nodes, and these collections, is removed; what a backup has follows. */
  REPLACE: committedEffect<RootGroup, [kept: readonly number[], next: number, changes: number]>({
    code: 0x4f,
    write: (out, kept, next, changes) => {
      out.varints(kept);
      out.varint(next);
      out.varint(changes);
    },
    read: (input) => [input.varints(), input.varint(), input.varint()],
    apply: (root, kept, next, changes) => {
      root.empty(new Set(kept));
      root.nextId = Math.max(root.nextId, next);
      root.changeCount = Math.max(root.changeCount, changes);
    },
  }),
};

function accessBack(root: RootGroup, target: Target, userId: number): () => void {
  const old = root.access.maskOf(target, userId) ?? null;
  return () => root.setAccess(target, userId, old);
}

function writeListName(out: ByteWriter, userId: number, list: WhitelistName): void {
  out.varint(userId);
  out.u8(whitelistNumber(list));
}

function whitelistBack(root: RootGroup, userId: number, list: WhitelistName): () => void {
  const old = root.whitelists.of(userId, list) ?? null;
  return () => root.setWhitelist(userId, list, old);
}
