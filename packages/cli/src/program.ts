/**
 * The command line: finds the command, has it do its work, and gives back the exit code.
 */
import { Command, CommanderError } from 'commander';
import { applyCommand, diffCommand } from './apply.js';
import { backupCommand } from './backup.js';
import { opensShell } from './bare.js';
import { changesCommand } from './changes/changes-command.js';
import { checkCommand } from './check.js';
import { testCommand } from './checks/test-command.js';
import { clusterCommand } from './cluster.js';
import { exportCommand, importCommand } from './collection-files.js';
import type { CommandDefinition } from './command.js';
import { completionCommand } from './completion/completion-command.js';
import { configCommand } from './config.js';
import { copyCommand } from './copy.js';
import { explainCommand } from './explain/explain-command.js';
import { indexCommand } from './index-command.js';
import { type Io, processIo, writeLast } from './io.js';
import { dumpCommand } from './load/dump-command.js';
import { loadCommand } from './load/load-command.js';
import { migrateCommand } from './migrate/migrate-command.js';
import { queryCommand } from './query.js';
import { recoverCommand } from './recover.js';
import { restoreCommand } from './restore.js';
import { serveCommand } from './serve.js';
import { shellCommand } from './shell-command.js';
import { topCommand } from './top/top-command.js';
import { typesCommand } from './types.js';
import { versionCommand, versionLine } from './version.js';

const commands: readonly CommandDefinition[] = [
  serveCommand,
  queryCommand,
  explainCommand,
  shellCommand,
  topCommand,
  clusterCommand,
  backupCommand,
  restoreCommand,
  exportCommand,
  importCommand,
  migrateCommand,
  loadCommand,
  dumpCommand,
  indexCommand,
  changesCommand,
  checkCommand,
  recoverCommand,
  configCommand,
  typesCommand,
  completionCommand,
  applyCommand,
  diffCommand,
  copyCommand,
  testCommand,
  versionCommand,
];

/** Wrong usage of the command line. */
const usageExitCode = 2;

/**
 * Runs one command.
 *
 * @param args what stands behind `althing`
 * @returns the exit code
 */
export async function main(args: readonly string[], io: Io = processIo()): Promise<number> {
  if (args.length === 0 && (await opensShell(io))) return main([shellCommand.name], io);
  const output: string[] = [];
  const errors: string[] = [];
  let exitCode: number | undefined;
  const program = new Command('althing')
    .description('A clustered database with stored procedures')
    .version(versionLine(), '-v, --version', 'print the version')
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.push(text),
      writeErr: (text) => errors.push(text),
    });
  for (const definition of commands) {
    const command = program
      .command(definition.name)
      .summary(definition.summary)
      .description(definition.summary);
    if (!args.includes(definition.name) && !args.includes(completionCommand.name)) continue;
    await definition.configure(command, io, (code) => {
      exitCode = code;
    });
  }
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    exitCode = error.exitCode === 0 ? 0 : usageExitCode;
  }
  await writeLast(io.stdout, output.join(''));
  await writeLast(io.stderr, errors.join(''));
  return exitCode ?? usageExitCode;
}
