/** `althing load`: a file of rows into a collection, which can be killed and begun again. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { isWireList, isWireMap } from '@althing/client';
import { type Command, Option } from 'commander';
import type { CommandDefinition } from '../command.js';
import { addConnectionOptions, type Connection, runQuery, withConnection } from '../connection.js';
import { exitHelp } from '../exit-codes.js';
import { CommandError, UsageError } from '../input.js';
import { type Io, tell } from '../io.js';
import { Progress } from '../progress.js';
import { finished } from '../work.js';
import { type Field, fieldsIn, relatedIn } from './fields.js';
import { Loader } from './loader.js';
import { type LoadPlan, mappingsOf, type OnDuplicate, pathOf } from './plan.js';
import { openRows, type RowFormat, type SourceRow } from './source.js';

export const loadCommand: CommandDefinition = {
  name: 'load',
  summary: 'Bring the rows of a file into a collection: JSON a line, CSV or TSV',
  configure(command, io, finish) {
    addConnectionOptions(command)
      .argument('<scope>', 'the collection, as //NAME')
      .argument('<type>', 'the type of the things that rows become; "thing" for plain ones')
      .argument('<file>', 'the rows, compressed by gzip or not; "-" reads them from the standard input')
      .requiredOption(
        '--into <property>',
        'where they go: a list, a set, or with --key a thing, as orders or shop.orders',
      )
      .option('--key <property>', 'the property whose value is the key, where they go into a thing')
      .option(
        '--map <mappings>',
        'NAME=COLUMN, NAME=@Type.index:COLUMN, NAME=datetime(COLUMN,"%Y"), NAME= for none',
      )
      .addOption(
        new Option('--format <format>', 'of the file; by its name unless given').choices([
          'jsonl',
          'csv',
          'tsv',
        ]),
      )
      .option('--columns <names>', 'names of the columns, where the file has no line with them')
      .addOption(
        new Option('--on-duplicate <way>', 'what becomes of a row whose unique value is there')
          .choices(['fail', 'skip', 'replace'])
          .default('fail'),
      )
      .option('--unique <index>', 'the unique index by which --on-duplicate replace finds what is there')
      .option('--errors <count>', 'rows that may be refused', '0')
      .option('--rejects <file>', 'where refused rows go, as they are')
      .option('--rate <rows>', 'rows in a second at most')
      .option('--id <name>', 'the name of the load; by default one that is made of the file and the plan')
      .option(
        '--build-after <indexes>',
        'indexes that are made behind the last row, as created,by_customer=customer+created',
      )
      .option('--dry-run', 'try each step, and take it back')
      .addHelpText('after', HELP)
      .action(async (scope: string, type: string, file: string, options: LoadOptions, invoked: Command) =>
        finish(await finished('load', io, () => load(scope, type, file, options, invoked, io), true)),
      );
  },
};

interface LoadOptions {
  readonly into: string;
  readonly key?: string;
  readonly map?: string;
  readonly format?: RowFormat;
  readonly columns?: string;
  readonly onDuplicate: OnDuplicate;
  readonly unique?: string;
  readonly errors: string;
  readonly rejects?: string;
  readonly rate?: string;
  readonly buildAfter?: string;
  readonly id?: string;
  readonly dryRun?: boolean;
}

const HELP = `
Each step of some rows is one change, which also notes how far the load is: so each row is made once, whatever is killed, and the same command
goes on where it ended, from any machine. The file is known by its first 64 KiB and the plan; to load it twice, give it another --id. Types
keep what they promise, as for any query: a row that does not fit ends the load with its line, and nothing of its step is made, unless --errors
allows some to be refused. Values of CSV become what the property takes: an empty value without quotes is nil where that may be, else the default.

What a dry run tries does not see the rows of the steps before it.

Examples:
  althing load //stuff Order orders.csv.gz --into orders --map 'customer=@Customer.email:Email,created=datetime(Created,"%Y-%m-%d")'
  althing load //stuff Order orders.jsonl --into orders --errors 100 --rejects bad.jsonl --rate 5000
  generate | althing load //stuff thing - --format jsonl --into log --id log-2024-05

Exit codes: 0 all rows are done; ${exitHelp}.`;

async function load(
  scope: string,
  type: string,
  file: string,
  options: LoadOptions,
  command: Command,
  io: Io,
): Promise<void> {
  const format = options.format ?? formatOf(file);
  const columns = options.columns?.split(',').map((name) => name.trim()) ?? null;
  const errorsMax = countOf('--errors', options.errors);
  const rate = options.rate === undefined ? null : countOf('--rate', options.rate);
  if (rate === 0) throw new UsageError('--rate is at least 1');
  const stop = new AbortController();
  const unsubscribe = io.onStopSignal(() => stop.abort());
  const rejects = options.rejects === undefined ? null : await Rejects.open(options.rejects, file);
  try {
    await withConnection(command, io, async (connection) => {
      const size = file === '-' ? null : (await stat(file)).size;
      const progress = new Progress(io, 'read', size);
      const bytes = file === '-' ? io.stdin : createReadStream(file);
      const rows = await openRows(progress.watch(bytes), format, columns);
      const { plan, fields } = await planFor(connection, scope, type, options);
      if (rows.columns.length > 0) assertColumns(rows.columns, plan, fields);
      const indexes = options.buildAfter === undefined ? [] : indexesOf(options.buildAfter, type, fields);
      const source = createHash('sha256')
        .update(JSON.stringify([rows.head, format, columns, plan]))
        .digest('hex');
      const begun = performance.now();
      const loader = new Loader({
        connection,
        scope,
        plan,
        format,
        fields,
        name: options.id ?? source.slice(0, 24),
        source,
        errorsMax,
        rate,
        isTrial: options.dryRun === true,
        signal: stop.signal,
        refused: async (row, why, isAgain) => {
          await tell(io, `line ${row.line}: ${why}`);
          await rejects?.add(row, isAgain);
        },
      });
      const { made, refused, skipped, before } = await loader.run(rows);
      if (options.dryRun !== true && !stop.signal.aborted)
        for (const index of indexes) await runQuery(connection, scope, MAKE_INDEX, { type, ...index });
      const seconds = Math.max((performance.now() - begun) / 1000, 0.001);
      const done = options.dryRun === true ? 'would be made' : 'made';
      const told = [
        `${made} ${done}`,
        ...(refused > 0 ? [`${refused} refused`] : []),
        ...(skipped > 0 ? [`${skipped} skipped, which are there`] : []),
        ...(before > 0 ? [`${before} done before`] : []),
      ];
      await progress.end(
        `${told.join(', ')}; ${Math.round((made + refused + skipped) / seconds)} rows a second`,
      );
      if (stop.signal.aborted)
        throw new CommandError('interrupted; the same command goes on where this one ended');
    });
  } finally {
    unsubscribe();
    await rejects?.close();
  }
}

function formatOf(file: string): RowFormat {
  const found = /\.(jsonl|ndjson|csv|tsv)(?:\.gz)?$/i.exec(file)?.[1]?.toLowerCase();
  if (found === 'csv' || found === 'tsv') return found;
  if (found !== undefined) return 'jsonl';
  throw new UsageError('which format? --format jsonl, csv or tsv');
}

/** Makes an index, unless it is there: by an earlier run of the command. */
const MAKE_INDEX = 'if (is_err(try(index_info(type, name)))) new_index(type, name, properties); nil;';

/**
 * Reads `created,by_customer=customer+created`.
 *
 * @throws UsageError, before any row is made
 */
function indexesOf(
  text: string,
  type: string,
  fields: ReadonlyMap<string, Field>,
): readonly { readonly name: string; readonly properties: readonly string[] }[] {
  return text.split(',').map((part) => {
    const [name = '', list = name, ...others] = part.split('=').map((each) => each.trim());
    const properties = list.split('+').map((each) => each.trim());
    const unknown = properties.find((property) => !fields.has(property));
    if (unknown !== undefined || name === '' || others.length > 0)
      throw new UsageError(
        `--build-after: ${JSON.stringify(part)} is not like NAME=PROPERTY+PROPERTY${unknown === undefined ? '' : `: ${type} has no property ${JSON.stringify(unknown)}`}`,
      );
    return { name, properties };
  });
}

function countOf(option: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`${option} is a number`);
  return Number(text);
}

async function planFor(
  connection: Connection,
  scope: string,
  type: string,
  options: LoadOptions,
): Promise<{ readonly plan: LoadPlan; readonly fields: ReadonlyMap<string, Field> }> {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(type)) throw new UsageError(`${JSON.stringify(type)} is no type`);
  const into = pathOf(options.into);
  const key = options.key ?? null;
  const isPlain = type === 'thing';
  const kind = await runQuery(connection, scope, `type(.${into});`);
  const target = kind === 'list' || kind === 'set' ? kind : 'thing';
  if (target === 'thing' && key === null)
    throw new UsageError(
      `.${into} is neither a list nor a set: with --key it may be a thing (it is: ${String(kind)})`,
    );
  if (key !== null) pathOf(key);
  const mappings = options.map === undefined ? [] : mappingsOf(options.map);
  const info = isPlain ? null : await runQuery(connection, scope, 'type_info(name);', { name: type });
  const fields = fieldsIn(info);
  const mapped = new Set(mappings.map(({ property }) => property));
  const own = [...fields].filter(
    ([name]) => !mapped.has(name) || mappings.some((one) => one.kind === 'column' && one.property === name),
  );
  const enums = await enumNames(connection, scope);
  return {
    fields,
    plan: {
      type: isPlain ? null : type,
      into,
      target,
      key: target === 'thing' ? key : null,
      mappings,
      onDuplicate: options.onDuplicate,
      unique: await uniqueOf(connection, scope, type, options),
      related: relatedIn(info),
      dates: own.filter(([, field]) => field.kind === 'date').map(([name]) => name),
      enums: own.flatMap(([name, { named }]) =>
        named !== null && enums.has(named) ? [[name, named] as const] : [],
      ),
    },
  };
}

/** Refuses a file by its columns: with a wrong separator, or a name that is mistyped, rows would be made without their values. */
function assertColumns(
  columns: readonly string[],
  { type, mappings }: LoadPlan,
  fields: ReadonlyMap<string, Field>,
): void {
  const has = new Set(columns);
  const mapped = mappings.flatMap((mapping) => (mapping.kind === 'none' ? [] : [mapping.column]));
  const missing = mapped.find((column) => !has.has(column));
  const there = `it has ${JSON.stringify(columns.slice(0, 10).join(', ').slice(0, 200))}`;
  if (missing !== undefined)
    throw new UsageError(`--map: the file has no column ${JSON.stringify(missing)}; ${there}`);
  if (type !== null && mapped.length === 0 && !columns.some((column) => fields.has(column)))
    throw new UsageError(
      `no column of the file is a property of ${type}; ${there}: another separator, or --map?`,
    );
}

async function enumNames(connection: Connection, scope: string): Promise<Set<string>> {
  const infos = await runQuery(connection, scope, 'enums_info();');
  return new Set(
    (isWireList(infos) ? infos : []).map((info) => (isWireMap(info) ? String(info.get('name')) : '')),
  );
}

async function uniqueOf(
  connection: Connection,
  scope: string,
  type: string,
  { onDuplicate, unique, key }: LoadOptions,
): Promise<LoadPlan['unique']> {
  if (onDuplicate !== 'replace' || key !== undefined) return null;
  if (unique === undefined) throw new UsageError('--on-duplicate replace needs --unique INDEX, or --key');
  const info = await runQuery(connection, scope, 'return index_info(type, name), 2;', { type, name: unique });
  const fields = isWireMap(info) ? info.get('fields') : null;
  return { name: unique, fields: (isWireList(fields) ? fields : []).map(String) };
}

/** Where refused rows go. A row that the run before wrote, and could not note any more, is not written again. */
class Rejects {
  private constructor(
    private readonly file: Awaited<ReturnType<typeof open>>,
    /** The content before, behind an end of a line. */
    private readonly known: string,
  ) {}

  /** @throws UsageError for the file that is read, which would be changed, and read on for ever */
  static async open(path: string, source: string): Promise<Rejects> {
    if (await isSameFile(path, source))
      throw new UsageError(`--rejects ${path} is the file that is loaded; give it another name`);
    const before = await readFile(path, 'utf8').catch(() => '');
    return new Rejects(await open(path, 'a', 0o600), `\n${before}`);
  }

  async add({ raw }: SourceRow, isAgain: boolean): Promise<void> {
    if (!isAgain || !this.known.includes(`\n${raw}\n`)) await this.file.appendFile(`${raw}\n`);
  }

  close(): Promise<void> {
    return this.file.close();
  }
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => stat(path).catch(() => null)));
  return a != null && b != null && a.ino === b.ino && a.dev === b.dev;
}
