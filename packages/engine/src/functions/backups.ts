import { lookupError, operationError, type QueryError, quotaError, valueError } from '../error.js';
import { BACKUPS_MAX, type BackupInfo } from '../node-view.js';
import { packInfo } from '../pack/info.js';
import { type Entry, func, In, OPERATE } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { List } from '../value/containers.js';
import type { MpData } from '../value/scalars.js';

/** Backups that a node takes by itself. */
export const BACKUPS: readonly Entry[] = [
  func('new_backup', {
    doc: 'Has this node take a backup of the cluster, at a time and perhaps again and again; gives its id.',
    needs: OPERATE,
    params: [
      p.checked(p.str('template'), checkedTemplate),
      p.optional(p.momentOrNil('start')),
      p.optional(p.int('repeat')),
      p.optional(p.int('max_files')),
    ],
    run: (rt, text, begin, repeat, maxFiles) => {
      const { backups } = rt.node;
      if (backups.all().length >= BACKUPS_MAX)
        throw quotaError(`there are ${BACKUPS_MAX} backups, the most that a node takes`);
      return backups.add({
        template: text,
        createdAt: rt.seconds(),
        start: begin == null ? 0 : bounded(begin.time.moment),
        repeat: repeat === undefined ? 0 : bounded(repeat),
        maxFiles: maxFiles === undefined ? (begin === undefined ? 1 : 7) : Math.max(1, bounded(maxFiles)),
      });
    },
  }),
  func('del_backup', {
    doc: 'Takes no further backups of this id; with true, what was taken is deleted, too.',
    needs: OPERATE,
    params: [id(), p.optional(p.bool('delete_files'))],
    run: (rt, number, deleteFiles = false) => {
      if (!rt.node.backups.remove(Number(number), deleteFiles)) throw unknownBackup(number);
      return null;
    },
  }),
  func('has_backup', {
    doc: 'Whether this node has a backup of this id.',
    in: In.NODE,
    params: [id()],
    run: (rt, number) => find(rt, number) !== undefined,
  }),
  func('backup_info', {
    doc: 'What is known of a backup of this node.',
    in: In.NODE,
    params: [id()],
    run: (rt, number) => {
      const found = find(rt, number);
      if (found === undefined) throw unknownBackup(number);
      return infoOf(rt, found);
    },
  }),
  func('backups_info', {
    doc: 'What is known of all backups of this node.',
    in: In.NODE,
    run: (rt) => new List(rt.node.backups.all().map((backup) => infoOf(rt, backup))),
  }),
  func('backups_ok', {
    doc: 'Whether none of the backups of this node failed last time.',
    in: In.NODE,
    run: (rt) => rt.node.backups.all().every(({ result }) => result === null || result.code === 0),
  }),
];

/** Characters of a template at most. */
const TEMPLATE_LENGTH_MAX = 1000;

/** Largest number of seconds or files. */
const NUMBER_MAX = 2 ** 32 - 1;

function checkedTemplate(text: string): string {
  if (!/\.(?:tar\.gz|backup)$/.test(text)) throw valueError('the template must end in .backup or .tar.gz');
  if (text.length > TEMPLATE_LENGTH_MAX)
    throw valueError(`a template has at most ${TEMPLATE_LENGTH_MAX} characters`);
  if (/\p{Cc}/u.test(text)) throw valueError('a template has no control characters');
  if (text.startsWith('gs://')) throw operationError('backups are files on the disk of the node');
  return text;
}

function id(): p.Param<number | bigint> {
  return p.checked(p.int('id'), (number) => {
    if (number < 0) throw valueError('the id of a backup is not negative');
    return number;
  });
}

/** The nearest number that there may be. */
function bounded(value: number | bigint): number {
  return Math.min(Math.max(Number(value), 0), NUMBER_MAX);
}

function find(rt: Runtime, number: number | bigint): BackupInfo | undefined {
  return rt.node.backups.all().find((backup) => backup.id === Number(number));
}

function unknownBackup(number: number | bigint): QueryError {
  return lookupError(`there is no backup ${number}; backups_info() lists them`);
}

function infoOf(rt: Runtime, backup: BackupInfo): MpData {
  const { nextRun, repeat, maxFiles, result, files } = backup;
  const repeats = repeat > 0;
  return packInfo(rt, {
    id: backup.id,
    created_at: backup.createdAt,
    file_template: backup.template,
    next_run: nextRun === null ? undefined : nextRun === 'pending' ? nextRun : timeText(nextRun),
    repeat: repeats ? repeat : undefined,
    max_files: repeats ? maxFiles : undefined,
    result_message: result?.message,
    result_code: result?.code,
    files,
  });
}

/** `2026-01-31 02:30:00Z` */
function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('T', ' ').replace('.000', '');
}
