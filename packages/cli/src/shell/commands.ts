/** The `\` commands of the shell: a table, from which `\?` and completion are made. */
import { writeFileSync } from 'node:fs';
import { isWireList, isWireMap, parseJson, type WireValue, wireMap } from '@althing/client';
import { nearest, signature } from '@althing/language';
import { Exit } from '../exit-codes.js';
import { explainJson, explainText } from '../explain/explain-text.js';
import { UsageError } from '../input.js';
import { FORMATS } from './output.js';
import type { Output, Session } from './session.js';
import { colourless } from './style.js';

/** The surroundings of a command. */
export interface CommandContext {
  readonly session: Session;
  readonly output: Output;
  readonly signal: AbortSignal;
  readonly rooms: RoomWatch;
  /** Runs the parts of a file. */
  runFile(path: string): Promise<number>;
  /** Runs code, prints its result, and gives an exit code. */
  runQuery(code: string): Promise<number>;
  /** Has the text of the last query edited; null where there is no terminal. */
  readonly edit: (() => Promise<void>) | null;
  readonly history: readonly string[];
  /** Runs a command line of the system, which has the terminal meanwhile; `input` is what it reads. Gives its exit code. */
  runOutside(command: string, input: string | null): Promise<number>;
  /** Waits; ends early when the user interrupts. */
  pause(ms: number): Promise<void>;
}

/** Rooms whose events are printed as they come. */
export interface RoomWatch {
  join(room: string): Promise<void>;
  leave(room: string): void;
  emit(room: string, event: string, args: readonly WireValue[]): Promise<void>;
}

export interface ShellCommand {
  readonly names: readonly string[];
  /** As shown behind the name. */
  readonly args: string;
  readonly doc: string;
  /**
   * @param rest what stands behind the name, without blanks around it
   * @returns an exit code, or `end` to leave the shell
   * @throws {UsageError} @throws {AlthingError}
   */
  run(rest: string, context: CommandContext): Promise<number | 'end'>;
}

/** Seconds between two runs of `\watch`. */
const WATCH_S = 2;
const WATCH_S_MAX = 86_400;

const ROOT_CODE = '.map(|name, value| {name:, type: type(value)});';

const ROOMS_CODE =
  ".filter(|_, value| type(value) == 'room').map(|name, room| {name:, room: room.id(), called: room.name()});";

export const COMMANDS: readonly ShellCommand[] = [
  command('?', '', 'this list', async (_, { output }) => {
    await output.result(helpText());
    return 0;
  }),
  command('q', '', 'leave the shell', () => Promise.resolve('end')),
  command('c', 'SCOPE', 'change to another scope (the scope alone does it, too)', (rest, { session }) => {
    session.scope = needed(rest, 'a scope, such as //stuff');
    return Promise.resolve(0);
  }),
  asking('l', 'collections', '@thingsdb', 'collections_info();'),
  command(
    'd',
    '[NAME]',
    'properties of the root; a type; or what a property holds',
    async (rest, context) => {
      if (rest === '') return await show(context, ROOT_CODE);
      const name = /^\.?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)$/.exec(rest)?.[1];
      if (name === undefined)
        throw new UsageError(`${JSON.stringify(rest)} is no name: \\d .users or \\d User`);
      return await show(context, rest.startsWith('.') ? `.${name};` : 'type_info(name);', wireMap({ name }));
    },
  ),
  command('df', '[PATTERN]', 'functions and methods', async (rest, { session, output, signal }) => {
    const functions = await session.ask(session.scope, 'functions_info();', undefined, signal);
    const shown = listOf(functions).flatMap((each) => {
      const line = functionLine(each);
      return line.name.includes(rest) ? [wireMap({ call: line.call, doc: line.doc })] : [];
    });
    await output.result(session.shown(shown, output));
    return 0;
  }),
  asking('dp', 'procedures', null, 'procedures_info();'),
  asking('dt', 'types', null, 'types_info();'),
  asking('de', 'enums', null, 'enums_info();'),
  asking('di', 'indexes', null, 'indexes_info();'),
  asking('dr', 'rooms among the properties of the root', null, ROOMS_CODE),
  asking('du', 'users', '@thingsdb', 'users_info();'),
  asking('dn', 'nodes', '@node', 'nodes_info();'),
  command('h', 'NAME', 'what a function does and takes', async (rest, { session, output, signal }) => {
    const name = needed(rest, 'the name of a function');
    const help = await session.ask(session.scope, 'help(name);', wireMap({ name }), signal);
    await output.result(String(help));
    return 0;
  }),
  toggle('timing', 'show how long each query took', 'isTiming'),
  toggle('stale', 'read what the asked node has, without asking a majority', 'isStale'),
  toggle('ro', 'read-only: have the nodes refuse what would change something', 'isReadOnly'),
  command('try', 'CODE', 'what a query would give and change, without changing it', tryOut),
  command('explain', 'CODE', 'what each statement of a query takes, reads and would change', explain),
  command('watch', '[S]', 'run the last query every S seconds, until Ctrl-C', async (rest, context) => {
    const seconds = rest === '' ? WATCH_S : Number(rest);
    if (!(seconds >= 0.1 && seconds <= WATCH_S_MAX))
      throw new UsageError('\\watch takes a number of seconds from 0.1');
    const code = lastQuery(context.session);
    while (!context.signal.aborted) {
      const exitCode = await context.runQuery(code);
      if (exitCode !== 0) return exitCode;
      await context.pause(seconds * 1000);
    }
    return 0;
  }),
  command(
    'g',
    '[FILE or |COMMAND]',
    'the last result into a file, or into a command',
    async (rest, context) => {
      const { session, output } = context;
      if (rest === '') return session.lastQuery === '' ? 0 : await context.runQuery(session.lastQuery);
      const text = `${session.shown(session.last, { ...output, paint: colourless })}\n`;
      if (rest.startsWith('|')) return await context.runOutside(rest.slice(1), text);
      writeFileSync(rest, text);
      return 0;
    },
  ),
  command('i', 'FILE', 'run a file', (rest, { runFile }) => runFile(needed(rest, 'a file'))),
  command('e', '', 'edit the last query in $EDITOR; Enter sends what comes of it', async (_, { edit }) => {
    if (edit === null) throw new UsageError('\\e needs a terminal');
    await edit();
    return 0;
  }),
  command(
    'set',
    '[NAME JSON or NAME = CODE]',
    'a variable of all queries that name it',
    async (rest, context) => {
      const { session, output, signal } = context;
      const [, name, equals, value] = /^(\S+)\s*(=\s*)?([\s\S]*)$/.exec(rest) ?? [];
      if (name === undefined || value === undefined) {
        await output.result(session.shown(new Map(session.variables), output));
        return 0;
      }
      if (equals === undefined) session.set(name, value);
      else {
        session.set(name, 'null');
        session.variables.set(name, (await session.query(value, signal)).value);
      }
      return 0;
    },
  ),
  command('unset', 'NAME', 'forget a variable', (rest, { session }) => {
    if (!session.variables.delete(rest)) throw new UsageError(`there is no variable ${JSON.stringify(rest)}`);
    return Promise.resolve(0);
  }),
  command('format', FORMATS.join('|'), 'how results are shown', (rest, { session }) => {
    const format = FORMATS.find((each) => each === rest);
    if (format === undefined) throw new UsageError(`\\format takes ${FORMATS.join(', ')}`);
    session.settings.format = format;
    return Promise.resolve(0);
  }),
  command('join', 'ROOM', 'print the events of a room as they come', async (rest, { rooms }) => {
    await rooms.join(needed(rest, 'the name or id of a room'));
    return 0;
  }),
  command('leave', 'ROOM', 'print them no more', (rest, { rooms }) => {
    rooms.leave(needed(rest, 'the name or id of a room'));
    return Promise.resolve(0);
  }),
  command('emit', 'ROOM EVENT [JSON]...', 'emit an event to a room', async (rest, { rooms }) => {
    const [, room, event, args = ''] = /^(\S+)\s+(\S+)\s*([\s\S]*)$/.exec(rest) ?? [];
    if (room === undefined || event === undefined) throw new UsageError('\\emit takes a room and an event');
    await rooms.emit(room, event, argumentsIn(args));
    return 0;
  }),
  command('status', '', 'who and where', async (_, { session, output, signal }) => {
    const node = await session.ask('@node', 'node_info();', undefined, signal);
    const user = await session.ask('@thingsdb', 'user_info();', undefined, signal);
    const pick = (value: WireValue, key: string): WireValue =>
      isWireMap(value) ? (value.get(key) ?? null) : null;
    const { isStale, isReadOnly, format } = session.settings;
    const shown = wireMap({
      user: pick(user, 'name'),
      node: pick(node, 'node_name'),
      version: pick(node, 'version'),
      scope: session.scope,
      stale: isStale,
      read_only: isReadOnly,
      format,
    });
    await output.result(session.shown(shown, output));
    return 0;
  }),
  command('history', '', 'earlier queries', async (_, { history, output }) => {
    await output.result(history.map((entry, i) => `${i + 1}  ${entry.replaceAll('\n', '\n   ')}`).join('\n'));
    return 0;
  }),
  command('!', 'COMMAND', 'run a command of the system', (rest, { runOutside }) =>
    runOutside(needed(rest, 'a command'), null),
  ),
];

/**
 * Runs a line that begins with `\`.
 *
 * @throws {UsageError} for an unknown command @throws {AlthingError}
 */
export async function runShellCommand(line: string, context: CommandContext): Promise<number | 'end'> {
  const [, name = '', rest = ''] = /^\\(\?|!|[A-Za-z]*)\s*([\s\S]*)$/.exec(line.trim()) ?? [];
  const found = COMMANDS.find(({ names }) => names.includes(name));
  if (found !== undefined) return await found.run(rest.trim(), context);
  const meant = nearest(
    name,
    COMMANDS.flatMap(({ names }) => names),
  );
  throw new UsageError(
    `there is no command \\${name}; ${meant === undefined ? '\\? lists them' : `did you mean \\${meant}?`}`,
  );
}

export function helpText(): string {
  const rows = COMMANDS.map(({ names, args, doc }) => [
    `${names.map((name) => `\\${name}`).join(' ')} ${args}`.trim(),
    doc,
  ]);
  const width = Math.max(...rows.map(([call = '']) => call.length));
  return [
    ...rows.map(([call = '', doc]) => `${call.padEnd(width)}  ${doc}`),
    '',
    'Enter sends a query that is whole, Alt-Enter begins a new line. Tab completes, Ctrl-R searches the history.',
  ].join('\n');
}

function command(names: string, args: string, doc: string, run: ShellCommand['run']): ShellCommand {
  return { names: names.split(' '), args, doc, run };
}

/** Shows the answer to a query of the shell's own; `scope` is null for the one that the shell is in. */
function asking(name: string, doc: string, scope: string | null, code: string): ShellCommand {
  return command(name, '', doc, (_, context) => show(context, code, undefined, scope));
}

async function show(
  { session, output, signal }: CommandContext,
  code: string,
  vars?: ReadonlyMap<string, WireValue>,
  scope: string | null = null,
): Promise<number> {
  await output.result(session.shown(await session.ask(scope ?? session.scope, code, vars, signal), output));
  return 0;
}

function toggle(name: string, doc: string, key: 'isTiming' | 'isStale' | 'isReadOnly'): ShellCommand {
  return command(name, '[on|off]', doc, async (rest, { session, output }) => {
    if (rest !== '' && rest !== 'on' && rest !== 'off') throw new UsageError(`\\${name} takes on or off`);
    session.settings[key] = rest === '' ? !session.settings[key] : rest === 'on';
    await output.note(`${name} is ${session.settings[key] ? 'on' : 'off'}`);
    return 0;
  });
}

async function tryOut(rest: string, { session, output, signal }: CommandContext): Promise<number> {
  const told = await session.tryOut(needed(rest, 'a query'), signal);
  const { format } = session.settings;
  if (format === 'json' || format === 'csv') {
    await output.result(session.shown(told, output));
    return 0;
  }
  await output.result(session.shown(told.get('result') ?? null, output));
  await output.note(changesText(told));
  return 0;
}

async function explain(rest: string, { session, output, signal }: CommandContext): Promise<number> {
  const told = await session.explain(needed(rest, 'a query'), signal);
  await output.result(session.settings.format === 'json' ? explainJson(told) : explainText(told));
  return told.error === undefined ? 0 : Exit.Failed;
}

/** The changes of a dry run in words. */
function changesText(told: ReadonlyMap<string, WireValue>): string {
  const changes = told.get('changes');
  const counts = isWireMap(changes) ? [...changes].map(([name, count]) => `${name} ${String(count)}`) : [];
  const futures = told.get('futures');
  const started = futures === undefined ? '' : `; futures that were not started: ${String(futures)}`;
  return `nothing was changed; it would change ${counts.length === 0 ? 'nothing' : counts.join(', ')}${started}`;
}

function needed(rest: string, what: string): string {
  if (rest === '') throw new UsageError(`${what} is missing`);
  return rest;
}

function lastQuery({ lastQuery: code }: Session): string {
  if (code === '') throw new UsageError('there was no query yet');
  return code;
}

function listOf(value: WireValue): readonly WireValue[] {
  return isWireList(value) ? value : [];
}

function functionLine(value: WireValue): { name: string; call: string; doc: string } {
  if (!isWireMap(value)) return { name: '', call: '', doc: '' };
  const params = listOf(value.get('params') ?? null).map((param) => ({
    name: isWireMap(param) ? String(param.get('name')) : '',
    type: '',
    optional: isWireMap(param) && param.get('optional') === true,
  }));
  const rest = value.get('rest');
  const name = String(value.get('name'));
  const on = value.get('on');
  const receivers = isWireList(on) ? `${on.join('/')}.` : '';
  const call = signature({
    name,
    params,
    rest: isWireMap(rest) ? { name: String(rest.get('name')), type: '' } : null,
  });
  return { name, call: receivers + call, doc: String(value.get('doc')) };
}

/** Values in JSON, one behind the other. */
function argumentsIn(text: string): readonly WireValue[] {
  if (text === '') return [];
  try {
    const list = parseJson(`[${text}]`);
    return isWireList(list) ? list : [];
  } catch {
    throw new UsageError('arguments are values in JSON, separated by commas: "text", 1, {"a": 2}');
  }
}
