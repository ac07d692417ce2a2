/** `althing shell`: a prompt on a terminal, and scripts elsewhere. */

import { readFileSync } from 'node:fs';
import { AlthingError, isWireMap, type WireValue } from '@althing/client';
import { type Command, Option } from 'commander';
import type { CommandDefinition } from './command.js';
import { addConnectionOptions, type Connection, withConnection } from './connection.js';
import { Exit, exitHelp } from './exit-codes.js';
import { textOption, UsageError } from './input.js';
import { type Io, readInput, tell, write } from './io.js';
import { varsOf } from './query.js';
import { LiveCatalogue } from './shell/catalogue.js';
import { History, historyPath } from './shell/history.js';
import type { OutputFormat } from './shell/output.js';
import { needsPager, page } from './shell/pager.js';
import { Prompt } from './shell/prompt.js';
import { Rooms } from './shell/rooms.js';
import { Runner } from './shell/runner.js';
import { type Output, Session } from './shell/session.js';
import { coloured, colourless, type Paint } from './shell/style.js';
import { Terminal } from './shell/terminal.js';
import { messageOf } from './system-error.js';

export const shellCommand: CommandDefinition = {
  name: 'shell',
  summary: 'Open a prompt on a node, or run a script',
  configure(command, io, finish) {
    addConnectionOptions(command)
      .argument('[scope]', 'where to begin: @thingsdb, @node, or //NAME for a collection (ALTHING_SCOPE)')
      .option('-c, --code <code>', 'run this, and end')
      .option(
        '-f, --file <file>',
        'run a file as one query, and end; lines that begin with "\\" are commands',
      )
      .option('--vars <json>', 'variables, as a JSON object')
      .option('--keep-going', 'go on behind an error of a script')
      .addOption(new Option('--json', 'results as JSON, one a line').conflicts(['table', 'csv']))
      .addOption(new Option('--table', 'results as tables').conflicts('csv'))
      .option('--csv', 'results as CSV')
      .addHelpText('after', examples)
      .action(async (scope: string | undefined, _: unknown, invoked: Command) => {
        finish(await shell(scope, invoked, io));
      });
  },
};

const examples = `
Examples:
  althing shell //stuff --user admin
  althing shell //stuff -c '.users.len();' --json
  althing shell //stuff -f migration.ti && echo done
  echo '.a = 1;' | althing shell //stuff

A script is one query, and so takes effect as a whole or not at all; the first error ends it.
Exit codes: 0 done; ${exitHelp}; 130 interrupted.`;

const USAGE = 2;

async function shell(scope: string | undefined, command: Command, io: Io): Promise<number> {
  try {
    return await withConnection(command, io, async (connection) => {
      const session = new Session(connection.db, scope ?? connection.scope, {
        format: formatOf(command),
        isReadOnly: connection.readOnly,
      });
      for (const [name, value] of varsOf(textOption(command, 'vars'))) session.variables.set(name, value);
      const source = await sourceOf(command, io);
      return source === null
        ? await interactive(session, connection, io)
        : await script(session, source, command.getOptionValue('keepGoing') === true, io);
    });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    await tell(io, `althing shell: ${error.message}`);
    return USAGE;
  }
}

interface Source {
  readonly name: string;
  readonly text: string;
}

/** The script to run; null for a prompt. */
async function sourceOf(command: Command, io: Io): Promise<Source | null> {
  const code = textOption(command, 'code');
  const file = textOption(command, 'file');
  if (code !== undefined && file !== undefined) throw new UsageError('give either -c or -f');
  if (code !== undefined) return { name: '-c', text: code };
  if (file !== undefined && file !== '-') {
    try {
      return { name: file, text: readFileSync(file, 'utf8') };
    } catch (error) {
      throw new UsageError(`can't read ${file}: ${messageOf(error)}`);
    }
  }
  if (file === undefined && io.stdin.isTTY === true) return null;
  return { name: '-', text: await readInput(io) };
}

function formatOf(command: Command): OutputFormat {
  const chosen = (['json', 'table', 'csv'] as const).find(
    (format) => command.getOptionValue(format) === true,
  );
  return chosen ?? 'auto';
}

async function script(session: Session, source: Source, keepGoing: boolean, io: Io): Promise<number> {
  const interrupted = new AbortController();
  const stop = io.onStopSignal(() => interrupted.abort());
  const output: Output = {
    width: sizeOf(io.stdout) ?? 120,
    paint: colourless,
    result: (text) => write(io.stdout, `${text}\n`),
    note: (text) => tell(io, text),
  };
  const rooms = new Rooms(session, (line) => void write(io.stdout, `${line}\n`));
  try {
    const runner = new Runner({ session, output, io, rooms, keepGoing });
    const code = await runner.runScript(source.name, source.text, interrupted.signal);
    return code === 'end' ? 0 : code;
  } finally {
    stop();
    await rooms.close();
  }
}

async function interactive(session: Session, { who }: Connection, io: Io): Promise<number> {
  const { NO_COLOR, TERM } = io.environment;
  const paint: Paint = (NO_COLOR ?? '') !== '' || TERM === 'dumb' ? colourless : coloured;
  const terminal = new Terminal(io);
  const history = new History(historyPath(io.environment), (line) => io.stderr.write(`${line}\n`));
  const greeting = await greet(session, who, io);
  if (greeting === null) return Exit.Unavailable;
  const output: Output = {
    get width() {
      return terminal.width;
    },
    paint,
    async result(text) {
      const isPaged = needsPager(text, terminal.height - 1) && runner.terminal !== null;
      if (isPaged && (await runner.terminal?.outside(() => page(text, io))) === true) return;
      await write(io.stdout, `${text}\n`);
    },
    note: (text) => write(io.stderr, `${text}\n`),
  };
  const rooms = new Rooms(session, (line) => prompt.print(line));
  const runner = new Runner({ session, output, io, rooms, keepGoing: false });
  const catalogue = new LiveCatalogue(session);
  const prompt = new Prompt({ runner, terminal, history, catalogue, io, paint, who: greeting });
  try {
    await prompt.run();
    return 0;
  } finally {
    await rooms.close();
  }
}

/** Says where the shell is, and gives what stands in front of its prompts; null when the node can't be asked. */
async function greet(session: Session, who: string, io: Io): Promise<string | null> {
  try {
    const info: WireValue = await session.ask('@node', 'node_info();');
    const name = isWireMap(info) ? info.get('node_name') : undefined;
    const version = isWireMap(info) ? info.get('version') : undefined;
    await tell(io, `Althing ${String(version)} on ${String(name)}; \\? for help, Ctrl-D to leave`);
    return `${who}@${String(name)}`;
  } catch (error) {
    if (!(error instanceof AlthingError)) throw error;
    const failure = session.failure(error, '');
    if (failure.exitCode === Exit.Failed) return `${who}@node`;
    await tell(io, `althing shell: ${failure.text}`);
    return null;
  }
}

function sizeOf(stream: object): number | undefined {
  const columns: unknown = Reflect.get(stream, 'columns');
  return typeof columns === 'number' && columns > 0 ? columns : undefined;
}
