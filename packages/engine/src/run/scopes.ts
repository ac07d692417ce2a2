import type { Changes } from '@althing/language';
import type { RootGroup } from '../admin/root-group.js';
import type { CollectionGroup } from '../state/collection-group.js';
import type { Procedure } from '../state/parts/procedures.js';
import type { Scope } from '../state/scope.js';
import { In } from './builtin.js';

/** A scope with data of a group. */
abstract class DataScope<Data extends RootGroup | CollectionGroup> {
  constructor(readonly group: Data) {}

  get changeId(): number {
    return this.group.changeCount + 1;
  }

  procedure(name: string): Procedure | undefined {
    return this.group.procedures.byName.get(name);
  }
}

/** The scope `@thingsdb`. */
export class RootScope extends DataScope<RootGroup> implements Scope {
  readonly kind = 'thingsdb';
  readonly bit = In.ROOT;
  readonly name = '@thingsdb';
  readonly collectionId = null;
  readonly store = null;

  get timeZone(): string {
    return this.group.defaults.thingsdb.timeZone;
  }

  isAmong(changes: Changes): boolean {
    return changes.thingsdb;
  }
}

export class CollectionScope extends DataScope<CollectionGroup> implements Scope {
  readonly kind = 'collection';
  readonly bit = In.COLLECTION;

  constructor(
    private readonly root: RootGroup,
    group: CollectionGroup,
  ) {
    super(group);
  }

  get collectionId(): number {
    return this.group.id;
  }

  get store(): CollectionGroup['store'] {
    return this.group.store;
  }

  get name(): string {
    return `@collection:${this.root.collections.get(this.group.id)?.name ?? '?'}`;
  }

  get timeZone(): string {
    return this.root.collections.get(this.group.id)?.timeZone ?? 'UTC';
  }

  isAmong(changes: Changes): boolean {
    return changes.collection;
  }
}

/** The scope of a node: nothing in it is replicated, and nothing makes a change. */
export class NodeScope implements Scope {
  readonly kind = 'node';
  readonly bit = In.NODE;
  readonly name = '@node';
  readonly group = null;
  readonly collectionId = null;
  readonly store = null;
  readonly changeId = 0;

  constructor(private readonly root: RootGroup) {}

  get timeZone(): string {
    return this.root.defaults.node.timeZone;
  }

  procedure(): undefined {
    return undefined;
  }

  isAmong(): boolean {
    return false;
  }
}
