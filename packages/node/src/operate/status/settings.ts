/** Changes of settings while the node runs, as the log tells of them. */
import { ErrorCode, QueryError } from '@althing/engine';
import { messageOf } from '../../base/error-text.js';
import { type Config, type LiveSettings, SettingRefusal } from '../../config/index.js';
import { LOG_LEVELS, type Logger } from '../../telemetry/logger.js';

type SettingsLog = Pick<Logger, 'level' | 'info' | 'warn' | 'error'>;

/** Takes over what changed in a configuration that is read again; nothing of one that is wrong. */
export function reloadSettings(live: LiveSettings, log: SettingsLog, load: () => Config): void {
  let config: Config;
  try {
    config = load();
  } catch (error) {
    log.error(
      { event: 'settings_refused', error: messageOf(error) },
      'the configuration is wrong, and nothing of it was taken over',
    );
    return;
  }
  const { changed, fixed } = live.reload(config);
  log.level = LOG_LEVELS[live.config.logLevel];
  if (changed.length > 0) log.info({ event: 'settings_changed', settings: changed }, 'settings changed');
  if (fixed.length === 0) return;
  log.warn(
    { event: 'settings_wait', settings: fixed },
    'settings changed that take effect when the node is started again',
  );
}

/**
 * Sets one, until the node is started again.
 *
 * @throws QueryError lookup_err for one that is not there, operation_err for one that takes a restart, value_err
 */
export function setSetting(live: LiveSettings, log: SettingsLog, key: string, text: string): void {
  try {
    const value = live.set(key, text);
    if (key === 'log_level') log.level = LOG_LEVELS[live.config.logLevel];
    log.info({ event: 'settings_changed', settings: [key], value }, 'settings changed');
  } catch (error) {
    throw error instanceof SettingRefusal ? new QueryError(CODES[error.kind], error.message) : error;
  }
}

const CODES: Readonly<Record<SettingRefusal['kind'], number>> = {
  unknown: ErrorCode.LOOKUP,
  fixed: ErrorCode.OPERATION,
  value: ErrorCode.VALUE,
};
