/** `althing dump`: the instances of a type as JSON a line, or CSV, as they were at one moment. */
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { type FileHandle, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { isWireMap, parseJson, stringifyJson, type WireValue } from '@althing/client';
import { type Command, Option } from 'commander';
import { writeDurably } from '../backup.js';
import { nameOf } from '../collection-files.js';
import type { CommandDefinition } from '../command.js';
import { addConnectionOptions, withConnection } from '../connection.js';
import { exitHelp } from '../exit-codes.js';
import { UsageError } from '../input.js';
import { type Io, tell, write } from '../io.js';
import type * as Node from '../node.js';
import { Progress } from '../progress.js';
import { receive } from '../transfer.js';
import { finished } from '../work.js';
import type { RowFormat } from './source.js';

export const dumpCommand: CommandDefinition = {
  name: 'dump',
  summary: 'Write the instances of a type: JSON a line, CSV or TSV',
  async configure(command, io, finish) {
    const node = await import('../node.js');
    const isExpected = (error: unknown): boolean => error instanceof node.BackupError;
    addConnectionOptions(command)
      .argument('<scope>', 'the collection, as //NAME')
      .argument('<type>', 'the type')
      .argument('[file]', 'where they go, compressed if it ends with .gz; else the standard output')
      .addOption(
        new Option('--format <format>', 'by the name of the file unless given, else jsonl').choices([
          'jsonl',
          'csv',
          'tsv',
        ]),
      )
      .addHelpText('after', HELP)
      .action(
        async (
          scope: string,
          type: string,
          file: string | undefined,
          options: DumpOptions,
          invoked: Command,
        ) =>
          finish(
            await finished('dump', io, () => dump(node, scope, type, file, options, invoked, io), isExpected),
          ),
      );
  },
};

interface DumpOptions {
  readonly format?: RowFormat;
}

const HELP = `
All instances are as they were at one moment, with everything that was acknowledged before, by rising ids; which change that was is told at the end. The
cluster serves meanwhile, and memory does not grow with the collection. The id of a thing is its "#"; things that it refers to are their ids alone, in
JSON as {"#": 5}. The user needs all privileges on all scopes.

Examples:
  althing dump //stuff Order orders.jsonl.gz --user admin
  althing dump //stuff Order --format csv --user admin | sort

Exit codes: 0 done; ${exitHelp}.`;

async function dump(
  node: typeof Node,
  scope: string,
  type: string,
  file: string | undefined,
  options: DumpOptions,
  command: Command,
  io: Io,
): Promise<void> {
  const name = nameOf(scope);
  if (file !== undefined && existsSync(file))
    throw new UsageError(`${file} exists already; give it another name, or remove it`);
  const format = options.format ?? formatOf(file ?? '');
  const folder = await mkdtemp(join(tmpdir(), 'althing-dump-'));
  const stop = new AbortController();
  const unsubscribe = io.onStopSignal(() => stop.abort());
  try {
    const path = join(folder, 'collection.export');
    const progress = new Progress(io, 'received');
    await withConnection(command, io, async (connection) => {
      const bytes = await receive(connection, `/@export/${name}`, stop.signal);
      await pipeline(progress.watch(bytes), createWriteStream(path, { mode: 0o600 }));
    });
    const found = await node.rowsOfExport(() => createReadStream(path), type);
    let count = 0;
    const lines = linesOf(found, format, () => {
      count += 1;
    });
    if (file === undefined) for await (const piece of inPieces(lines)) await write(io.stdout, piece);
    else await writeDurably(file, (handle) => writeTo(handle, inPieces(lines), file.endsWith('.gz')));
    await tell(io, `${count} instances of ${type}, as of change ${found.index} of //${name}`);
  } finally {
    unsubscribe();
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeTo(
  file: FileHandle,
  pieces: AsyncIterable<string>,
  isCompressed: boolean,
): Promise<void> {
  const put = async (source: AsyncIterable<string | Uint8Array>): Promise<void> => {
    for await (const piece of source) await file.writeFile(piece);
  };
  if (isCompressed) await pipeline(Readable.from(pieces), createGzip(), put);
  else await put(pieces);
}

/** Characters that are written at once. */
const PIECE_LENGTH = 64 * 1024;

async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let piece = '';
  for await (const line of lines) {
    piece += line;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

function formatOf(file: string): RowFormat {
  const found = /\.(csv|tsv)(?:\.gz)?$/i.exec(file)?.[1]?.toLowerCase();
  return found === 'csv' || found === 'tsv' ? found : 'jsonl';
}

/** Lines, with the names of the columns in front of those of CSV. */
async function* linesOf(
  { fields, rows }: Node.ExportedRows,
  format: RowFormat,
  counted: () => void,
): AsyncGenerator<string, void, undefined> {
  const columns = ['#', ...fields];
  const separator = format === 'csv' ? ',' : '\t';
  if (format !== 'jsonl') yield `${columns.map((name) => cellOf(name, separator)).join(separator)}\n`;
  for await (const row of rows) {
    counted();
    if (format === 'jsonl') yield `${row}\n`;
    else {
      const value = parseJson(row);
      const values = isWireMap(value) ? value : new Map<string, WireValue>();
      yield `${columns.map((name) => cellOf(values.get(name) ?? null, separator)).join(separator)}\n`;
    }
  }
}

/** A value of a CSV: nothing for nil, text as it is or in quotes, all else as JSON. */
function cellOf(value: WireValue, separator: string): string {
  if (value === null) return '';
  const text = typeof value === 'string' ? value : stringifyJson(value);
  const isPlain = text !== '' && !/["\r\n]/.test(text) && !text.includes(separator);
  return isPlain ? text : `"${text.replaceAll('"', '""')}"`;
}
