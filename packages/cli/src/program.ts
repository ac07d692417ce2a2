/**
 * The command line: finds the command, has it do its work, and gives back the exit code.
 */
import { Command, CommanderError } from 'commander';
import { backupCommand } from './backup.js';
import { clusterCommand } from './cluster.js';
import { exportCommand, importCommand } from './collection-files.js';
import type { CommandDefinition } from './command.js';
import { configCommand } from './config.js';
import { type Io, processIo, writeLast } from './io.js';
import { queryCommand } from './query.js';
import { recoverCommand } from './recover.js';
import { restoreCommand } from './restore.js';
import { serveCommand } from './serve.js';
  typesCommand,
