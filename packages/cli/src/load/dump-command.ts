/** `althing dump`: what a snapshot read gives as lines, which by default are the instances of a type, as JSON a line, or CSV. */
import { existsSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { isWireMap, parseJson, stringifyJson, type WireValue } from '@althing/client';
import { type Command, Option } from 'commander';
import { writeDurably } from '../backup.js';
import { nameOf } from '../collection-files.js';
import type { CommandDefinition } from '../command.js';
import { addConnectionOptions, type Connection, runQuery, withConnection } from '../connection.js';
import { exitHelp } from '../exit-codes.js';
import { UsageError } from '../input.js';
import { type Io, stoppable, tell, write } from '../io.js';
import { Progress } from '../progress.js';
import { receive } from '../transfer.js';
import { finished } from '../work.js';
import { fieldsIn } from './fields.js';
import { CutDumpError, Lines } from './lines.js';
import type { RowFormat } from './source.js';

export const dumpCommand: CommandDefinition = {
  name: 'dump',
  summary: 'Write the instances of a type, or what a query gives: JSON a line, CSV or TSV',
  configure(command, io, finish) {
    addConnectionOptions(command)
      .argument('<scope>', 'the collection, as //NAME')
      .argument('[type]', 'the type; none beside --query')
      .argument('[file]', 'where they go, compressed if it ends with .gz; else the standard output')
      .option('--query <code>', 'a query that gives the lines, each by out(value)')
      .option('--wrap <type>', 'have each instance as a wrap by this type')
      .option('--refs <how>', 'other things: by their ids (id), or by a property of theirs (by:NAME)', 'id')
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
          type: string | undefined,
          file: string | undefined,
          options: DumpOptions,
          invoked: Command,
        ) => {
          const work = (): Promise<void> => dump(scope, [type, file], options, invoked, io);
          finish(await finished('dump', io, work));
        },
      );
  },
};

interface DumpOptions {
  readonly format?: RowFormat;
  readonly query?: string;
  readonly wrap?: string;
  readonly refs: string;
}

const HELP = `
All is as it was at one moment, with everything that was acknowledged before; instances come by rising ids, and which change that was is told at the
end, with the position behind which "althing changes" follows what comes then. It is a snapshot read: a thread of its own reads what the disk has, nobody waits for it, and memory does not grow with the collection. The id of a
thing is its "#"; things that it refers to are their ids alone, in JSON as {"#": 5}, unless --refs says otherwise. The user needs the privilege QUERY.

Examples:
  althing dump //stuff Order orders.jsonl.gz --user admin
  althing dump //stuff Order --format csv --user admin | sort
  althing dump //stuff Order --refs by:email --user admin
  althing dump //stuff --query 'each_by("Order", "nr", nil, {from: 1000}, |o| out(o));' --user admin

Exit codes: 0 done; ${exitHelp}.`;

async function dump(
  scope: string,
  [first, second]: readonly (string | undefined)[],
  options: DumpOptions,
  command: Command,
  io: Io,
): Promise<void> {
  const name = nameOf(scope);
  const [type, file] = options.query === undefined ? [first, second] : [undefined, first];
  if (options.query !== undefined) {
    if (second !== undefined) throw new UsageError('beside --query there is no type: SCOPE [FILE]');
    if (options.wrap !== undefined || options.refs !== 'id')
      throw new UsageError(
        '--wrap and --refs are for the instances of a type: --query says by itself how they look',
      );
  } else if (type === undefined) throw new UsageError('give a type, or --query');
  if (file !== undefined && existsSync(file))
    throw new UsageError(`${file} exists already; give it another name, or remove it`);
  const format = options.format ?? formatOf(file ?? '');
  await stoppable(io, (signal) =>
    withConnection(command, io, async (connection) => {
      const { query, columns } =
        type === undefined
          ? { query: { code: options.query ?? '' }, columns: null }
          : await instancesOf(connection, scope, type, options);
      const bytes = await receive(connection, `//${name}?end=1`, signal, {
        headers: LINES_HEADERS,
        body: JSON.stringify({ type: 'query', ...query }),
      });
      const lines = new Lines(new Progress(io, 'received').watch(bytes));
      const pieces = format === 'jsonl' ? lines.pieces() : tableOf(lines, columns, format);
      if (file === undefined) for await (const piece of pieces) await write(io.stdout, piece);
      else await writeDurably(file, (handle) => writeTo(handle, pieces, file.endsWith('.gz')));
      const what = type === undefined ? 'lines' : `instances of ${type}`;
      const { lines: count, index, at } = lines.end;
      const rest = at === null ? '' : `; what comes then: althing changes //${name} --since ${at}`;
      await tell(io, `${count} ${what}, as of change ${index} of //${name}${rest}`);
    }),
  );
}

const LINES_HEADERS = {
  'Content-Type': 'application/json',
  Accept: 'application/x-ndjson',
  Consistency: 'snapshot',
  // With everything that was acknowledged before.
  'Althing-Max-Age': '0',
};

interface Instances {
  readonly query: { readonly code: string; readonly vars: Readonly<Record<string, string>> };
  /** The properties of a row; null: those of the first one. */
  readonly columns: readonly string[] | null;
}

/** The query for all instances of a type. */
async function instancesOf(
  connection: Connection,
  scope: string,
  type: string,
  { wrap, refs }: DumpOptions,
): Promise<Instances> {
  const by = /^by:([A-Za-z_][A-Za-z0-9_]*)$/.exec(refs)?.[1];
  if (refs !== 'id' && by === undefined) throw new UsageError(`--refs is id or by:NAME, not ${refs}`);
  if (wrap !== undefined && by !== undefined)
    throw new UsageError('a wrap says by itself what there is of other things: --wrap or --refs');
  const all = (row: string): string => `deep(1); each_by(type, '#', |o| out(${row})); nil;`;
  const typeOf = async (name: string): Promise<ReturnType<typeof fieldsIn>> =>
    fieldsIn(await runQuery(connection, scope, 'type_info(name);', { name }));
  const fields = await typeOf(type);
  if (wrap !== undefined) {
    // There may be no instance that asks for it.
    await typeOf(wrap);
    return { query: { code: all('o.wrap(wrap)'), vars: { type, wrap } }, columns: null };
  }
  if (by === undefined)
    return { query: { code: all('o'), vars: { type } }, columns: ['#', ...fields.keys()] };
  const others = [...new Set([...fields.values()].flatMap(({ named }) => named ?? []))];
  const having = new Set<string>();
  for (const other of others) {
    const found = await runQuery(
      connection,
      scope,
      'has_type(name) && type_info(name).load().fields.some(|f| f[0] == by);',
      { name: other, by },
    );
    if (found === true) having.add(other);
  }
  if (having.size === 0) throw new UsageError(`nothing that ${type} refers to has a property ${by}`);
  const row = [...fields].map(([key, { named }]) =>
    named !== null && having.has(named) ? `${key}: (o.${key} && o.${key}.${by})` : `${key}: o.${key}`,
  );
  return { query: { code: all(`{${row.join(', ')}}`), vars: { type } }, columns: [...fields.keys()] };
}

async function writeTo(
  file: FileHandle,
  pieces: AsyncIterable<string | Uint8Array>,
  isCompressed: boolean,
): Promise<void> {
  const put = async (source: AsyncIterable<string | Uint8Array>): Promise<void> => {
    for await (const piece of source) await file.writeFile(piece);
  };
  if (isCompressed) await pipeline(Readable.from(pieces), createGzip(), put);
  else await put(pieces);
}

/** Characters of a table that are written at once. */
const PIECE_LENGTH = 64 * 1024;

function formatOf(file: string): RowFormat {
  const found = /\.(csv|tsv)(?:\.gz)?$/i.exec(file)?.[1]?.toLowerCase();
  return found === 'csv' || found === 'tsv' ? found : 'jsonl';
}

/** Rows of a table, with the names of the columns in front. */
async function* tableOf(
  lines: Lines,
  known: readonly string[] | null,
  format: 'csv' | 'tsv',
): AsyncGenerator<string, void, undefined> {
  const separator = format === 'csv' ? ',' : '\t';
  const rowOf = (cells: readonly WireValue[]): string =>
    `${cells.map((cell) => cellOf(cell, separator)).join(separator)}\n`;
  let columns = known;
  let piece = columns === null ? '' : rowOf(columns);
  for await (const line of lines.each()) {
    const value = parseJson(line);
    if (!isWireMap(value)) throw new CutDumpError(`a row of a table is a thing, not ${line.slice(0, 100)}`);
    if (columns === null) {
      columns = [...value.keys()];
      piece = rowOf(columns);
    }
    piece += rowOf(columns.map((name) => value.get(name) ?? null));
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** A value of a CSV: nothing for nil, text as it is or in quotes, all else as JSON. */
function cellOf(value: WireValue, separator: string): string {
  if (value === null) return '';
  const text = typeof value === 'string' ? value : stringifyJson(value);
  const isPlain = text !== '' && !/["\r\n]/.test(text) && !text.includes(separator);
  return isPlain ? text : `"${text.replaceAll('"', '""')}"`;
}
