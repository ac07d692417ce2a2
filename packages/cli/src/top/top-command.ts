/** `althing top`: what the nodes of a cluster spend their time on, and who is connected. */
import { setTimeout as pause } from 'node:timers/promises';
import { AlthingError } from '@althing/client';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandDefinition } from '../command.js';
import { addConnectionOptions, type Connection, withConnection, wordsOf } from '../connection.js';
import { exitHelp } from '../exit-codes.js';
import { textOption } from '../input.js';
import { type Io, write } from '../io.js';
import { Terminal } from '../shell/terminal.js';
import { finished } from '../work.js';
import { type Sample, takeSample } from './sample.js';
import { jsonOf, linesOf } from './view.js';

export const topCommand: CommandDefinition = {
  name: 'top',
  summary: 'Watch what the nodes of a cluster spend their time on, and who is connected',
  configure(command, io, finish) {
    addConnectionOptions(command)
      .option('--once', 'look once, and end: figures since the counters of the nodes began')
      .option('--by-node', 'a line for each node, and not one for all together')
      .addOption(new Option('--interval <seconds>', 'time between two looks').argParser(secondsOf).default(2))
      .addOption(
        new Option('--format <format>', 'table, or json for programs: a line for each look')
          .choices(['table', 'json'])
          .default('table'),
      )
      .addHelpText('after', examples)
      .action(async (_: unknown, invoked: Command) => {
        const work = (): Promise<void> =>
          withConnection(invoked, io, (connection) => watch(connection, invoked, io));
        finish(await finished('top', io, work, true));
      });
  },
};

const examples = `
Figures are those of the last 10 seconds. On a terminal q ends it, and n shows each node by itself. The user needs CHANGE on @node.

Examples:
  althing top --user admin
  althing top --once --format json | jq '.busiest[0]'

Exit codes: 0 done; ${exitHelp}.`;

/** Figures are told since a look that was so long ago, in milliseconds. */
const WINDOW_MS = 10_000;

async function watch(connection: Connection, command: Command, io: Io): Promise<void> {
  const isOnce = command.getOptionValue('once') === true;
  const isJson = textOption(command, 'format') === 'json';
  const intervalMs = Number(command.getOptionValue('interval')) * 1000;
  const ended = new AbortController();
  const stopListening = io.onStopSignal(() => ended.abort());
  const isLive = !isOnce && !isJson && io.stdin.isTTY === true;
  const terminal = new Terminal(io);
  const looks: Sample[] = [];
  let isByNode = command.getOptionValue('byNode') === true;
  let problem: string | null = null;

  const show = async (): Promise<void> => {
    const now = looks.at(-1);
    if (now === undefined) return;
    const [first] = looks;
    const view = { now, before: first === undefined || first === now ? null : first, isByNode };
    if (isJson) {
      await write(io.stdout, `${JSON.stringify(jsonOf(view))}\n`);
      return;
    }
    const lines = linesOf(view, isLive ? terminal.width : LINE_MAX, isLive ? terminal.height - 2 : LINES_MAX);
    const rows = problem === null ? lines : [...lines, `! ${problem}`];
    if (isLive) terminal.draw({ rows: [...rows, ''], cursorRow: rows.length, cursorColumn: 0 });
    else await write(io.stdout, `${rows.join('\n')}\n`);
  };

  terminal.onKey = ({ name, ctrl }) => {
    if (name === 'q' || (ctrl === true && (name === 'c' || name === 'd'))) ended.abort();
    if (name !== 'n') return;
    isByNode = !isByNode;
    void show();
  };
  terminal.onResize = () => void show();
  terminal.onEnd = () => ended.abort();
  if (isLive) terminal.open();
  try {
    while (!ended.signal.aborted) {
      try {
        looks.push(await takeSample(connection, Date.now));
        while (isTooOld(looks)) looks.shift();
        problem = null;
      } catch (error) {
        // The first look tells whether it works at all; later, a node may come back.
        if (looks.length === 0 || !(error instanceof AlthingError)) throw error;
        problem = wordsOf(error);
      }
      await show();
      if (isOnce) break;
      await pause(intervalMs, undefined, { signal: ended.signal }).catch(() => {});
    }
  } finally {
    stopListening();
    if (isLive) terminal.close();
  }
}

/** True if the first look is older than it need be to tell of the last seconds. */
function isTooOld(looks: readonly Sample[]): boolean {
  const [, second] = looks;
  const last = looks.at(-1);
  return second !== undefined && last !== undefined && last.at - second.at >= WINDOW_MS;
}

/** Cells of a line, and lines, where there is no terminal. */
const LINE_MAX = 200;
const LINES_MAX = 60;

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && seconds >= 0.1 && seconds <= 3600) return seconds;
  throw new InvalidArgumentError('It must be a number of seconds from 0.1 to 3600.');
}
