import {
  ErrorCode,
  missingPrivilege,
  nodeError,
  Privilege,
  QueryError,
  type RestoreOrder,
  type RootGroup,
  type User,
} from '@althing/engine';
import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/error-text.js';
import type { ClientNames } from '../groups/names.js';
import { UnfinishedError } from '../groups/request.js';
import type { Backups } from './backup.js';
import { BackupError } from './format.js';
import type { ImportRequest, Imports } from './import.js';
import type { Replacements } from './replace.js';

/** The user that asks for a transfer, and the name of the request in logs. */
export interface TransferRequest {
  readonly user: User;
  readonly id: string;
}

/** A query that restores a backup of this node. */
export interface RestoreRequest extends TransferRequest {
  readonly order: RestoreOrder;
  /** The names by which it takes effect once. */
  readonly names: ClientNames;
  /** The answer when it is done. */
  readonly result: string | Uint8Array;
}

/** The client of a transfer went away. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';

  constructor() {
    super('the client went away');
  }
}

export interface TransfersOptions {
  readonly root: RootGroup;
  readonly backups: Backups;
  readonly imports: Imports;
  readonly replacements: Replacements;
  /**
   * Waits until this node knows every change of users and access that was acknowledged; false if it can't be
   * had.
   */
  readonly freshenRoot: () => Promise<boolean>;
  /** Called with the outcome of each. */
  readonly report: (event: TransferEvent) => void;
  readonly onDefect: (error: unknown) => void;
  readonly clock: Pick<Clock, 'now'>;
}

export type TransferKind = 'backup' | 'restore' | 'export' | 'import';

export interface TransferEvent extends TransferRequest {
  readonly kind: TransferKind;
  /** The collection of an export or an import. */
  readonly collection: string | null;
  /** Null when it went well. */
  readonly error: string | null;
  /** The side at fault; null when it went well. */
  readonly fault: 'request' | 'client_gone' | 'node' | null;
  readonly bytes: number;
  readonly ms: number;
}

/** Backups, restores, exports and imports over the API: who may, and what a client is told. */
export class Transfers {
  constructor(private readonly options: TransfersOptions) {}

  /** GRANT on `@thingsdb` is needed: a user who has it can have every privilege on everything. */
  backUp(request: TransferRequest, write: (bytes: Uint8Array) => Promise<void>): Promise<void> {
    const { backups } = this.options;
    return this.told('backup', request, async (count) => {
      backups.assertComplete();
      await this.require(request, Privilege.GRANT);
      await backups.take((bytes) => {
        count(bytes.length);
        return write(bytes);
      });
    });
  }

  /** A backup with its users and tasks takes the place of everything. */
  restore(request: TransferRequest, source: AsyncIterable<Uint8Array>): Promise<string> {
    const { replacements } = this.options;
    const asked = { user: request.user, takesAccess: false, takesTasks: true, names: NO_NAMES, result: '' };
    return this.told('restore', request, async (count) => {
      await this.require(request, Privilege.FULL);
      const { head, records } = await replacements.restore(asked, counted(source, count));
      return JSON.stringify({ collections: head.groups - 1, records });
    });
  }

  /** A backup of this node takes the place of everything; the privileges were checked where it was asked for. */
  replace({ order, ...request }: RestoreRequest): Promise<void> {
    const { replacements } = this.options;
    const { takesAccess, takesTasks } = order;
    return this.told('restore', request, async (count) => {
      const source = counted(replacements.read(order.file), count);
      await replacements.restore({ ...request, takesAccess, takesTasks }, source);
    });
  }

  /** As for a backup: the file holds more than QUERY on the collection shows. */
  exportCollection(
    request: TransferRequest,
    collection: string,
    write: (bytes: Uint8Array) => Promise<void>,
  ): Promise<void> {
    const { backups } = this.options;
    return this.told(
      'export',
      request,
      async (count) => {
        backups.assertComplete();
        await this.require(request, Privilege.GRANT);
        await backups.export(collection, (bytes) => {
          count(bytes.length);
          return write(bytes);
        });
      },
      collection,
    );
  }

  /** As for a restore: what is in the file is taken as nodes wrote it. */
  importCollection(
    request: TransferRequest,
    { collection, tasks, digest }: Omit<ImportRequest, 'name' | 'user'> & { readonly collection: string },
    source: AsyncIterable<Uint8Array>,
  ): Promise<string> {
    const { imports } = this.options;
    const asked = { name: collection, user: request.user.id, tasks, digest };
    return this.told(
      'import',
      request,
      async (count) => {
        await this.require(request, Privilege.FULL);
        const { records, parts, resumed } = await imports.import(asked, counted(source, count));
        return JSON.stringify({ collection, records, parts, resumed });
      },
      collection,
    );
  }

  /** Makes sure that a user has some privileges on `@thingsdb`. */
  private async require({ user }: TransferRequest, privilege: number): Promise<void> {
    const { root, freshenRoot } = this.options;
    if (!(await freshenRoot())) throw nodeError('no majority of the nodes can be reached');
    if (!root.allows('thingsdb', user.id, privilege)) throw missingPrivilege(user, privilege, '@thingsdb');
  }

  private async told<T>(
    kind: TransferKind,
    request: TransferRequest,
    work: (count: (bytes: number) => void) => Promise<T>,
    collection: string | null = null,
  ): Promise<T> {
    const { report, clock } = this.options;
    const begun = clock.now();
    let bytes = 0;
    const tell = (error: string | null, fault: TransferEvent['fault']): void =>
      report({
        user: request.user,
        id: request.id,
        kind,
        collection,
        error,
        fault,
        bytes,
        ms: Math.round(clock.now() - begun),
      });
    try {
      const result = await work((more) => {
        bytes += more;
      });
      tell(null, null);
      return result;
    } catch (error) {
      tell(messageOf(error), faultOf(error));
      if (error instanceof BackupError) {
        const Kind = error.isUnfinished ? UnfinishedError : QueryError;
        throw new Kind(CODES[error.reason], error.message);
      }
      if (error instanceof QueryError || error instanceof ClientGoneError) throw error;
      this.options.onDefect(error);
      throw new UnfinishedError(ErrorCode.INTERNAL, 'internal error; see the log of the node');
    }
  }
}

/** The side at fault for an error of a transfer: a request without the privilege, or with a wrong file, says nothing of the node. */
function faultOf(error: unknown): TransferEvent['fault'] {
  if (error instanceof ClientGoneError) return 'client_gone';
  if (error instanceof BackupError) return error.reason === 'busy' ? 'node' : 'request';
  return error instanceof QueryError && error.code !== ErrorCode.NODE ? 'request' : 'node';
}

const NO_NAMES = { key: null, client: null };

const CODES = {
  damaged: ErrorCode.BAD_DATA,
  refused: ErrorCode.OPERATION,
  busy: ErrorCode.NODE,
} as const;

async function* counted(
  source: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const bytes of source) {
    count(bytes.length);
    yield bytes;
  }
}
