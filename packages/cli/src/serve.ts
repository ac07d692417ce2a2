import { consoleFiles } from '@althing/console';
import { type Command, Option } from 'commander';
import type { CommandDefinition } from './command.js';
import { addStartOptions, begin, mend, wantedOf } from './first-start.js';
import { textOption } from './input.js';
import { type Io, tell, write, writeLast } from './io.js';
import type {
  Config,
  ConfigurationManner,
  FirstStart,
  LoadedConfig,
  RunningNode,
  SettingKey,
  StartNode,
  StaticSite,
} from './node.js';
import { compileSooner } from './tiering.js';
import { version, versionLine } from './version.js';

export const serveCommand: CommandDefinition = {
  name: 'serve',
  summary: 'Run a node',
  async configure(command, io, finish) {
    const node = await import('./node.js');
    addOptions(command, node);
    command.action(async () => {
      compileSooner();
      finish(await serve(command, io, node));
    });
  },
};

/** The parts of the server's package that `serve` needs; tests hand in their own `startNode`. */
export type ServerPackage = Omit<typeof import('./node.js'), 'startNode'> & { readonly startNode: StartNode };

/** The options of `serve`: its own, and one for each setting that is no secret. */
export function addOptions(command: Command, node: ServerPackage): void {
  command
    .addOption(new Option('-c, --config <file>', 'configuration file'))
    .addOption(
      new Option('--print-config', 'show the effective settings and where they come from, then exit'),
    );
  command.version(versionLine(), '-v, --version', 'print the version');
  addStartOptions(command);
  for (const { title, keys } of node.sections) {
    for (const key of keys) {
      const flag = node.flagOf(key);
      if (flag === undefined) continue;
      const { kind, doc } = node.settings[key];
      const short = key === 'log_level' ? '-l, ' : '';
      const option = new Option(
        `${short}${flag} <${kind.placeholder}>`,
        `${doc} (default: ${node.defaultText(key)})`,
      );
      command.addOption(option.helpGroup(`${title}:`));
    }
  }
  command.addHelpText('after', () => helpAfter(node));
}

/** The way in which a program runs nodes that stands for another one. */
export interface Manner extends ConfigurationManner {
  /** True if a node without data begins only when it is said how. */
  readonly waitsForOrders: boolean;
}

/**
 * Runs a node until it ends, and says with which code the process should.
 *
 * @param manner that of the program; null for our own
 */
export async function serve(
  command: Command,
  io: Io,
  node: ServerPackage,
  manner: Manner | null = null,
): Promise<number> {
  const load = (): LoadedConfig => loaded(command, io, node, manner);
  const isHidden = io.hideVariables(secretVariables(node));
  try {
    const wanted = wantedOf(command, io, node);
    const loaded = load();
    for (const warning of loaded.warnings) void tell(io, `althing: warning: ${warning}`);
    if (!isHidden && loaded.config.enableModules !== 'off')
      void tell(
        io,
        'althing: warning: modules can read the secrets in the environment of this node: hand them over as files',
      );
    if (command.getOptionValue('printConfig') === true) {
      await write(io.stdout, node.printConfig(loaded));
      return node.ExitCode.Done;
    }
    const beginning = await begin(wanted, loaded.config, io, node, manner?.waitsForOrders ?? false);
    if ('exitCode' in beginning) return beginning.exitCode;
    const start = (): Promise<number> => run(loaded, beginning.first, io, node, load);
    try {
      return await start();
    } catch (error) {
      if (!(await mend(wanted, loaded.config, error, io, node))) throw error;
    }
    return await start();
  } catch (error) {
    await writeLast(io.stderr, `${described(error)}\n`);
    return exitCodeOf(error, node.ExitCode.Fatal);
  }
}

/** The variables that hold secrets, those of the command line among them: nobody else is to read them from the environment of a node. */
function secretVariables(node: ServerPackage): string[] {
  const settings = node.settingKeys.filter((key) => node.settings[key].secret).map(node.variableOf);
  return [...settings, 'THINGSDB_SECRET', 'THINGSDB_NODE_SECRET', 'ALTHING_PASSWORD', 'ALTHING_TOKEN'];
}

function loaded(command: Command, io: Io, node: ServerPackage, manner: Manner | null): LoadedConfig {
  const flags = new Map<SettingKey, string>();
  for (const option of command.options) {
    const key = node.settingKeys.find((candidate) => node.flagOf(candidate) === option.long);
    const value: unknown = command.getOptionValue(option.attributeName());
    if (key !== undefined && typeof value === 'string') flags.set(key, value);
  }
  const path = textOption(command, 'config');
  return node.loadConfig({
    ...(path === undefined ? {} : { path }),
    environment: io.environment,
    flags,
    ...(manner === null ? {} : { manner }),
  });
}

/** Adds the options of a command that works with the data of a node that is stopped. */
export function addStorageOptions(command: Command): Command {
  return command
    .addOption(new Option('-c, --config <file>', 'configuration file of the node'))
    .option('--storage-path <path>', 'its data folder; else that of the configuration');
}

/** The settings of the node that these options name. */
export function storedConfig(command: Command, io: Io, node: ServerPackage): Config {
  const path = textOption(command, 'config');
  const folder = textOption(command, 'storagePath');
  return node.loadConfig({
    ...(path === undefined ? {} : { path }),
    environment: io.environment,
    flags: new Map(folder === undefined ? [] : [['storage_path', folder] as const]),
  }).config;
}

/**
 * The first stop signal drains, the next ones stop at once; SIGHUP reads the configuration again. What comes before the
 * node is up is kept for then.
 */
async function run(
  loaded: LoadedConfig,
  first: FirstStart | undefined,
  io: Io,
  node: ServerPackage,
  loadAgain: () => LoadedConfig,
): Promise<number> {
  let signals = 0;
  let running: RunningNode | undefined;
  const starting = new AbortController();
  const stop = (): void => {
    starting.abort();
    running?.stop(signals === 1 ? 'drain' : 'now');
  };
  const unsubscribe = io.onStopSignal(() => {
    signals++;
    stop();
  });
  let reloadWaits = false;
  const reload = (): void => {
    reloadWaits = running === undefined;
    running?.reload(() => loadAgain().config);
  };
  const unsubscribeReload = io.onReloadSignal(reload);
  try {
    running = await node.startNode(loaded.config, {
      version: version(),
      signal: starting.signal,
      ...siteOf(loaded.config.console),
      ...(first === undefined ? {} : { first }),
    });
    if (signals > 0) stop();
    if (reloadWaits) reload();
    return await running.closed;
  } catch (error) {
    if (error instanceof node.StartStoppedError) return node.ExitCode.Done;
    throw error;
  } finally {
    unsubscribe();
    unsubscribeReload();
  }
}

/** The files that the API serves to browsers. */
function siteOf(console: Config['console']): { site?: StaticSite } {
  if (console === 'off') return {};
  return { site: { base: '/@console/', entrances: ['/', '/console'], files: consoleFiles(console) } };
}

/** An error that knows its exit code was expected and has its say in its message; any other shows where it comes from. */
export function described(error: unknown): string {
  if (!isErrorLike(error)) return `althing: ${String(error)}`;
  const expected = 'exitCode' in error || 'code' in error;
  const text = expected ? error.message : (error.stack ?? error.message);
  return text
    .split('\n')
    .map((line) => (line.startsWith(' ') ? line : `althing: ${line}`))
    .join('\n');
}

/** The exit code that an error asks for. */
export function exitCodeOf(error: unknown, otherwise: number): number {
  if (!isErrorLike(error) || !('exitCode' in error)) return otherwise;
  return typeof error.exitCode === 'number' && error.exitCode > 0 ? error.exitCode : otherwise;
}

function isErrorLike(error: unknown): error is { message: string; stack?: string } {
  return (
    typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string'
  );
}

function helpAfter(node: ServerPackage): string {
  const secrets = node.settingKeys.filter((key) => node.settings[key].secret);
  const lines = secrets.map((key) => `  ${key}, ${key}_file: ${node.settings[key].doc}`);
  return `
Secrets (in the file or the environment only):
${lines.join('\n')}

Each setting is also a key of the configuration file (http_api_port = 9210) and an environment variable
(${node.variableOf('http_api_port')}=9210). A flag wins over the variable, the variable over the file.

Exit codes: 0 drained and closed; 1 fatal error, or a port in use; 2 configuration; 3 data folder in use; 4 data damaged;
5 invariant broken. SIGTERM and SIGINT drain; a second one stops at once.`;
}
