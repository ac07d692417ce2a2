/** `althing config`: the settings of commands that ask a node, and where each comes from. */
import { Option } from 'commander';
import { DEFAULT_PROFILE } from './client-settings/profile.js';
import { type Resolved, resolveSettings, shownValue } from './client-settings/resolve.js';
import { CLIENT_SETTINGS, variableOf } from './client-settings/settings.js';
import type { CommandDefinition } from './command.js';
import { addConnectionOptions } from './connection.js';
import { textOption, UsageError } from './input.js';
import { tell, write } from './io.js';

export const configCommand: CommandDefinition = {
  name: 'config',
  summary: 'Show the settings of commands that ask a node, and where each comes from',
  configure(command, io, finish) {
    addConnectionOptions(command)
      .addOption(
        new Option('--format <format>', 'table, or json for programs')
          .choices(['table', 'json'])
          .default('table'),
      )
      .addHelpText('after', help())
      .action(async () => {
        try {
          const settings = [...resolveSettings(command, io).values()];
          await write(io.stdout, textOption(command, 'format') === 'json' ? json(settings) : table(settings));
          finish(0);
        } catch (error) {
          if (!(error instanceof UsageError)) throw error;
          await tell(io, `althing config: ${error.message}`);
          finish(2);
        }
      });
  },
};

function table(settings: readonly Resolved[]): string {
  const rows = settings.map((each) => [
    each.setting.key,
    shownValue(each),
    each.value === null ? '' : each.source,
  ]);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((text, i) => text.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function json(settings: readonly Resolved[]): string {
  const shown = settings.map((each) => ({
    key: each.setting.key,
    value: each.value === null ? null : shownValue(each),
    source: each.value === null ? null : each.source,
  }));
  return `${JSON.stringify(shown)}\n`;
}

function help(): string {
  const rows = CLIENT_SETTINGS.map(
    (each) => `  ${each.key.padEnd(14)} ${variableOf(each).padEnd(22)} ${each.doc}`,
  );
  return `
A flag wins over a variable, a variable over the profile, the profile over the default. Of a token and a user of the same place
the token counts.

${rows.join('\n')}

Profiles are sections of a file, $XDG_CONFIG_HOME/althing/config.ini or ALTHING_CONFIG; ALTHING_PROFILE names one, else it is
[${DEFAULT_PROFILE}]. Secrets in it are read only when nobody else may read the file (chmod 600):

  [production]
  url = https://db-1.example:9210,https://db-2.example:9210
  token_file = /etc/althing/token`;
}
