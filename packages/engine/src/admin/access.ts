import { forbiddenError, type QueryError } from '../error.js';
import type { Target } from './access-lists.js';
import type { CollectionInfo } from './collection-info.js';
import { CHANGING_PRIVILEGES, Privilege, privilegeText } from './privileges.js';
import type { RootGroup } from './root-group.js';
import type { User } from './user.js';

/** The rights of one user, by the present state of the root scope. */
export class Access {
  constructor(
    readonly root: RootGroup,
    readonly user: User,
    /** The scope of the running request. */
    readonly target: Target,
    /** True if the request runs without CHANGE and GRANT, on every scope. */
    readonly isReadOnly: boolean,
  ) {}

  has(mask: number, target: Target = this.target): boolean {
    if (this.isReadOnly && (mask & CHANGING_PRIVILEGES) !== 0) return false;
    return this.root.allows(target, this.user.id, mask);
  }

  /** True if the request may see what is stored. */
  get mayRead(): boolean {
    return this.has(Privilege.QUERY);
  }

  /** @throws QueryError forbidden_err */
  require(mask: number, target: Target = this.target): void {
    if (!this.has(mask, target)) {
      throw refusalOf(this.user, mask, this.nameOf(target), this.isReadOnly);
    }
  }

  nameOf(target: Target): string {
    if (typeof target === 'string') return `@${target}`;
    return `@collection:${this.root.collections.get(target)?.name ?? '?'}`;
  }
}

/**
 * True if a user may know if there is a collection: who has a privilege on it, or on the scope in which collections are made.
 *
 * @param collection what there is; undefined for nothing
 */
export function mayKnow(root: RootGroup, user: User, collection: CollectionInfo | undefined): boolean {
  if (collection !== undefined && (root.access.maskOf(collection.id, user.id) ?? 0) !== 0) return true;
  return (root.access.maskOf('thingsdb', user.id) ?? 0) !== 0;
}

/**
 * The refusal of what takes privileges that a request does not have.
 *
 * @param scope the name of the scope that they are missing on
 */
export function refusalOf(user: User, mask: number, scope: string, isReadOnly: boolean): QueryError {
  const withheld = isReadOnly ? mask & CHANGING_PRIVILEGES : 0;
  if (withheld === 0) return missingPrivilege(user, mask, scope);
  return forbiddenError(
    `the request is read-only, and runs without the privilege ${privilegeText(withheld)} on ${scope}`,
  );
}

/** @param scope the name of the scope that the privilege is missing on */
export function missingPrivilege(user: User, mask: number, scope: string): QueryError {
  return forbiddenError(`user '${user.name}' lacks the privilege ${privilegeText(mask)} on ${scope}`);
}
