/** `althing index`: waits for indexes that are built in the background. */
import { setTimeout as pause } from 'node:timers/promises';
import { isWireMap } from '@althing/client';
import type { Command } from 'commander';
import type { CommandDefinition } from './command.js';
import { addConnectionOptions, runQuery, withConnection } from './connection.js';
import { exitHelp } from './exit-codes.js';
import { CommandError } from './input.js';
import { type Io, stoppable, tell } from './io.js';
import { finished } from './work.js';

export const indexCommand: CommandDefinition = {
  name: 'index',
  summary: 'Wait until an index is built',
  configure(command, io, finish) {
    addConnectionOptions(command.command('wait'))
      .summary('wait until an index is built')
      .description('wait until an index is built')
      .argument('<scope>', 'the collection, as //NAME')
      .argument('<type>', 'the type')
      .argument('<name>', 'the index')
      .addHelpText('after', help)
      .action(async (scope: string, type: string, name: string, _: unknown, invoked: Command) =>
        finish(await finished('index wait', io, () => wait(scope, type, name, invoked, io))),
      );
  },
};

const help = `
An index of many instances is built in the background, after new_index() has answered. How far it is is told every ten seconds.

Examples:
  althing query //stuff "new_index('Order', 'nr', UNIQUE);" && althing index wait //stuff Order nr

Exit codes: 0 it is ready; 1 also when it could not be built; ${exitHelp}.`;

const LOOK_MS = 250;
const TELL_MS = 10_000;

async function wait(scope: string, type: string, name: string, command: Command, io: Io): Promise<void> {
  await stoppable(io, (signal) =>
    withConnection(command, io, async (connection) => {
      let toldAt = performance.now();
      for (;;) {
        const info = await runQuery(connection, scope, 'return index_info(type, name), 2;', { type, name });
        const of = (key: string): string => (isWireMap(info) ? String(info.get(key)) : '');
        if (of('state') === 'failed')
          throw new CommandError(`the index ${name} could not be built: ${of('why')}`);
        if (of('state') === 'ready') {
          await tell(io, `${of('entries')} entries, about ${of('bytes')} bytes`);
          return;
        }
        if (performance.now() - toldAt >= TELL_MS) {
          toldAt = performance.now();
          await tell(io, `${of('percent')} %`);
        }
        await pause(LOOK_MS, undefined, { signal });
      }
    }),
  );
}
