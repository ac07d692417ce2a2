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
 */
export const RootEffect = {
  PUT_USER: 0x40,
  DELETE_USER: 0x41,
  PUT_COLLECTION: 0x42,
  DELETE_COLLECTION: 0x43,
  SET_ACCESS: 0x44,
  REMOVE_ACCESS: 0x45,
  SET_DEFAULTS: 0x46,
  PUT_MEMBER: 0x47,
  DELETE_MEMBER: 0x48,
  PUT_INVITATION: 0x49,
  DELETE_INVITATION: 0x4a,
  SET_RESTORING: 0x4b,
  SET_LEVEL: 0x4c,
  SET_WHITELIST: 0x4d,
  REMOVE_WHITELIST: 0x4e,
  REPLACE: 0x4f,
} as const;
