/**
 * The configuration of a node: one table of settings, and everything that is made from it.
 */
export { isLoopback } from './address.js';
export { configurationPage, defaultText, printConfig } from './describe.js';
export { ExitCode } from './exit-codes.js';
export { DEFAULT_PASSWORD, isOpen } from './exposure.js';
export { LIVE_KEYS, LiveSettings, SettingRefusal } from './live-settings.js';
export {
  type ConfigurationInput,
  type ConfigurationManner,
  type LoadedConfig,
  loadConfig,
} from './load.js';
export { checkMemory, consensusHeapMb, type ProcessMemory, processMemory } from './memory.js';
export { ConfigurationError, type ConfigurationProblem, PortError, portInUse } from './problem.js';
export {
  type Config,
  flagOf,
  type SettingKey,
  sections,
  settingKeys,
  settings,
  variableOf,
} from './settings.js';
export { foreignKeys } from './thingsdb-keys.js';
