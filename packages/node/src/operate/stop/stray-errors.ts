import { describe } from '../../base/error-text.js';
import { ExitCode } from '../../config/exit-codes.js';
import type { Logger } from '../../telemetry/logger.js';

/**
 * Ends the process at an error of this thread that nobody caught: what it was about to do is half done, so
 * nothing that the thread holds can be trusted. What was acknowledged is on the disk. An error of the
 * consensus thread comes as the end of that thread instead.
 *
 * @param exit ends the process
 * @returns leaves such errors to Node.js again
 */
export function endAtStrayErrors(log: Logger, exit: (code: number) => void): () => void {
  const end = (error: unknown): void => {
    log.fatal({ event: 'failed', error: describe(error) }, 'the node ends at an error that nothing caught');
    exit(ExitCode.InvariantBroken);
  };
  // Both, since a flag of Node.js decides whether the one becomes the other.
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
  return () => {
    process.off('uncaughtException', end);
    process.off('unhandledRejection', end);
  };
}
