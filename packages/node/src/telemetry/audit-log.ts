/**
 * The audit log says who did what to the cluster: logins, users and what they may do, members, collections,
 * backups. A line each, in the log of the process or in a file of its own; never a secret, nor the code of a
 * query, which may hold one.
 */
import type { RootEvent, User } from '@althing/engine';
import { messageOf } from '@althing/storage';
import { pino } from 'pino';
import { type Config, ExitCode } from '../config/index.js';
import type { Transport } from './families.js';
import { type Logger, lineOptions } from './logger.js';

/** A login that was checked, or the first use of a token. */
export interface LoginEvent {
  readonly method: 'token' | 'password';
  readonly outcome: 'ok' | 'failed' | 'held_off';
  /** The name of the user, as far as it was told. */
  readonly name: string | null;
  readonly address: string;
  /** The way that the client spoke to the node. */
  readonly transport: 'http' | Transport;
}

/** A request that changed the root state. */
interface RootChange {
  readonly user: Pick<User, 'name'>;
  /** The name by which the log and the client know the request. */
  readonly id?: string;
}

/** The file can't be opened. */
export class AuditFileError extends Error {
  readonly exitCode = ExitCode.Configuration;
}

export class AuditLog {
  private readonly lines: Logger;
  private readonly file: ReturnType<typeof pino.destination> | null;

  /** @throws AuditFileError */
  constructor({ auditLogFile, nodeName }: Pick<Config, 'auditLogFile' | 'nodeName'>, log: Logger) {
    if (auditLogFile === undefined) {
      this.file = null;
      // Whatever the level of the log is.
      this.lines = log.child({ audit: true }, { level: 'info' });
      return;
    }
    this.file = openFile(auditLogFile);
    this.file.on('error', (error: Error) => {
      log.error(
        { event: 'audit_failed', error: error.message },
        'a line of the audit log could not be written',
      );
    });
    this.lines = pino({ ...lineOptions(nodeName), level: 'info' }, this.file);
  }

  /** Opens the file anew: it may have been moved away. */
  reopen(): void {
    this.file?.reopen();
  }

  login({ method, outcome, name, address, transport }: LoginEvent): void {
    const fields = { event: 'login', user: name, method, outcome, address, transport };
    this.lines.info(fields, `login ${WORDS[outcome]}`);
  }

  /** @param isKnown whether the change was made for certain */
  changed({ user, id }: RootChange, events: readonly RootEvent[], isKnown: boolean): void {
    const by = { by: user.name, request: id, outcome: isKnown ? 'ok' : 'unknown' };
    for (const { event, fields } of events) this.lines.info({ event, ...fields, ...by }, TEXT[event]);
  }

  /** Notes changes that the cluster made by itself: a node that was invited joined, one that left is gone. */
  changedItself(events: readonly RootEvent[]): void {
    for (const { event, fields } of events) this.lines.info({ event, ...fields, outcome: 'ok' }, TEXT[event]);
  }

  /** @param fields who asked for it, and where it went */
  transferred(
    kind: 'backup' | 'restore' | 'export' | 'import',
    isDone: boolean,
    fields: Readonly<Record<string, string | number>>,
  ): void {
    this.lines.info({ event: kind, ...fields, outcome: isDone ? 'ok' : 'failed' }, kind);
  }
}

const WORDS = { ok: 'done', failed: 'failed', held_off: 'put off after failures' } as const;

const TEXT: Readonly<Record<RootEvent['event'], string>> = {
  user_made: 'a user was made',
  user_deleted: 'a user was deleted',
  user_renamed: 'a user was renamed',
  password_set: 'a password was set',
  password_removed: 'a password was removed',
  token_made: 'a token was made',
  token_deleted: 'a token was deleted',
  session_begun: 'a session was begun',
  sessions_ended: 'sessions were ended',
  access_set: 'privileges were changed',
  whitelist_set: 'a whitelist was changed',
  limits_set: 'what a user may take was changed',
  feed_set: 'how much of a log is kept for feeds was changed',
  collection_made: 'a collection was made',
  collection_renamed: 'a collection was renamed',
  collection_deleted: 'a collection was deleted',
  node_invited: 'a node was invited',
  module_made: 'a module was made',
  module_changed: 'a module was changed',
  module_deployed: 'code of a module was deployed',
  module_deleted: 'a module was deleted',
  invitation_deleted: 'an invitation was taken back',
  node_joined: 'a node became a member',
  node_leaving: 'a node is to leave',
  level_raised: 'the cluster works at a higher level',
  node_removed: 'a node is no member any more',
};

function openFile(path: string): ReturnType<typeof pino.destination> {
  try {
    return pino.destination({ dest: path, sync: true, append: true, mode: 0o600 });
  } catch (error) {
    throw new AuditFileError(`audit_log_file: ${messageOf(error)}`);
  }
}
