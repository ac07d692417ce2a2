/**
 * The settings in words: the effective configuration as a file, and the reference page.
 */
import { LIVE_KEYS } from './live-settings.js';
import { type LoadedConfig, plain } from './load.js';
import type { Setting } from './setting.js';
import { fieldOf, flagOf, type SettingKey, sections, settings, variableOf } from './settings.js';
import { foreignKeys } from './thingsdb-keys.js';

/** The effective values as a configuration file, with where they come from; secrets are masked. */
export function printConfig(loaded: LoadedConfig): string {
  const values = new Map<string, unknown>(Object.entries(loaded.config));
  const blocks = sections.map(({ title, keys }) => {
    const lines = keys.map((key) => {
      const value = plain(key, values.get(fieldOf(key)));
      const source = loaded.sources.get(key);
      const comment = source === undefined || source === 'default' ? '' : `# from ${source}\n`;
      return value === '' ? `# ${key} is not set` : `${comment}${key} = ${value}`;
    });
    return `# --- ${title}\n${lines.join('\n')}\n`;
  });
  return blocks.join('\n');
}

/** The default of a setting, for people. */
export function defaultText(key: SettingKey): string {
  const setting: Setting<unknown> = settings[key];
  if (setting.default === undefined) return 'none';
  if ('words' in setting.default) return setting.default.words;
  const text = setting.kind.format(setting.default.value);
  return text === '' ? 'empty' : text;
}

/** The page docs/configuration.md. */
export function configurationPage(): string {
  const parts = [intro];
  for (const { title, keys } of sections) {
    parts.push(`## ${title}\n\n| key | default | |\n| --- | --- | --- |`);
    parts.push(`${keys.map(row).join('\n')}\n`);
  }
  const foreign = [...foreignKeys].map(([key, why]) => `| \`${key}\` | ${why} |`);
  parts.push(`${foreignIntro}\n\n| key | |\n| --- | --- |\n${foreign.join('\n')}`);
  return `${parts.join('\n')}\n`;
}

function row(key: SettingKey): string {
  const setting: Setting<unknown> = settings[key];
  const file = setting.secret
    ? ` Secret: also as \`${key}_file\` (\`${variableOf(`${key}_file`)}\`), the path of a file that holds it; it has no flag.`
    : '';
  const must = setting.kind.must.replaceAll('|', '\\|');
  const live = LIVE_KEYS.includes(key) ? ' Can change while the node runs.' : '';
  return `| \`${key}\` | ${defaultText(key)} | ${setting.doc}${file} Must be ${must}.${live} |`;
}

const intro = `# Configuration

This page is made by \`npm run docs\` from the table of settings; edit that, not this.

A setting can be given in three places. A flag of \`althing serve\` wins over an environment variable, the variable over
the configuration file (\`--config FILE\`), the file over the default:

| place | spelling |
| --- | --- |
| file | \`http_api_port = 9210\` |
| environment | \`${variableOf('http_api_port')}=9210\` |
| command line | \`${flagOf('http_api_port') ?? ''} 9210\` |

The file has one \`key = value\` a line. Empty lines, lines that begin with \`#\` or \`;\`, and \`[section]\` lines are skipped;
there are no quotes and no comments behind a value. An empty value, also of a variable, stands for the default.

Keys that end in \`_ms\` are milliseconds, or a number with \`ms\`, \`s\`, \`m\`, \`h\` or \`d\` (\`30s\`). Keys that end in
\`_mb\` are megabytes and other sizes are bytes, or a number with \`KB\`, \`MB\` or \`GB\` (\`64MB\`); a KB is 1024 bytes.

An unknown key, a bad value, and an unknown \`SERVICE_\` variable that looks like a slip of the pen are errors: nothing
starts, all of them are listed, and the exit code is 2. Other unknown \`SERVICE_\` variables are warnings.
\`althing serve --print-config\` shows the effective values and where they come from, with secrets masked.

Some settings can change while a node runs, as their rows say. On SIGHUP the node reads file and environment again, takes over what changed in
these since it last read them, and logs the others that changed (\`settings_wait\`): they take effect when it is started again. A configuration
that is wrong changes nothing, and the log tells why (\`settings_refused\`). Whoever has CHANGE on \`@node\` can set one with \`set_config\`, until the node is started again:

\`\`\`js
set_config('cache_size_mb', 512);       // at this node
set_config('query_duration_limit_ms', '500ms');
set_config('http_api_port', 9211);      // operation_err: it takes a restart
\`\`\`
In the scope \`@node:NAME\` it is the node of that name, whichever is asked. \`query_duration_limit_ms\` can be no more than what the node was started with.
`;

const foreignIntro = `## Keys of ThingsDB

The configuration file of a ThingsDB installation is understood. These keys are ignored with a warning:`;
