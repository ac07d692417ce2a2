import { forbiddenError, type QueryError } from '../error.js';
import type { Target } from './access-lists.js';
import type { CollectionInfo } from './collection-info.js';
import { privilegeText } from './privileges.js';
import type { RootGroup } from './root-group.js';
import type { User } from './user.js';

/** What one user may do, by the present state of the root scope. */
export class Access {
  constructor(
    readonly root: RootGroup,
    readonly user: User,
    /** The scope of the running request. */
    readonly target: Target,
  ) {}

  has(mask: number, target: Target = this.target): boolean {
    return this.root.allows(target, this.user.id, mask);
  }

  /** @throws QueryError forbidden_err */
  require(mask: number, target: Target = this.target): void {
    if (!this.has(mask, target)) {
      throw missingPrivilege(this.user, mask, this.nameOf(target));
    }
  }

  nameOf(target: Target): string {
    if (typeof target === 'string') return `@${target}`;
    return `@collection:${this.root.collections.get(target)?.name ?? '?'}`;
  }
}

/**
 * Whether a user may know if there is a collection: who has a privilege on it, or on the scope in which collections are made.
 *
 * @param collection what there is; undefined for nothing
 */
export function mayKnow(root: RootGroup, user: User, collection: CollectionInfo | undefined): boolean {
  if (collection !== undefined && (root.maskOf(collection.id, user.id) ?? 0) !== 0) return true;
  return (root.maskOf('thingsdb', user.id) ?? 0) !== 0;
}

/** @param scope the name of the scope that the privilege is missing on */
export function missingPrivilege(user: User, mask: number, scope: string): QueryError {
  return forbiddenError(`user '${user.name}' lacks the privilege ${privilegeText(mask)} on ${scope}`);
}
