/** `althing types`: the types of a collection, for programs that ask it. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { nameOf } from './collection-files.js';
import type { CommandDefinition } from './command.js';
import { addConnectionOptions, runQuery, withConnection } from './connection.js';
import { exitHelp } from './exit-codes.js';
import { CommandError, textOption } from './input.js';
import { type Io, write } from './io.js';
import { SCHEMA_CODE, schemaOf } from './typings/schema.js';
import { writeTypes } from './typings/write-types.js';
import { finished } from './work.js';

export const typesCommand: CommandDefinition = {
  name: 'types',
  summary: 'Write the types of a collection, for TypeScript',
  configure(command, io, finish) {
    addConnectionOptions(command)
      .argument('<scope>', 'the collection, as //NAME')
      .option('--check <file>', 'write nothing; exit code 1 when the file does not have the types of now')
      .addHelpText('after', help)
      .action(async (scope: string, _: unknown, invoked: Command) =>
        finish(await finished('types', io, () => types(scope, invoked, io))),
      );
  },
};

const help = `
The types of procedures are those of their parameters, |n: 'int'|, or else what their doc says: "@param NAME DEFINITION",
"@returns DEFINITION", with definitions as those of types. Anybody with the privilege QUERY on the collection gets the same file, byte for byte.

Examples:
  althing types //stuff > stuff.d.ts
  althing types //stuff --check stuff.d.ts

Exit codes: 0 done; ${exitHelp}.`;

async function types(scope: string, command: Command, io: Io): Promise<void> {
  const name = nameOf(scope);
  const answer = await withConnection(command, io, (connection) =>
    runQuery(connection, `//${name}`, SCHEMA_CODE),
  );
  const text = writeTypes(name, schemaOf(answer));
  const file = textOption(command, 'check');
  if (file === undefined) await write(io.stdout, text);
  else if (contentOf(file) !== text) {
    throw new CommandError(`${file} is out of date: althing types ${scope} > ${file}`);
  }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new CommandError(`${file} can't be read`);
  }
}
