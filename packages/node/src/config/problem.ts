/**
 * Problems of a configuration, and the error that carries them.
 */
import { ExitCode } from './exit-codes.js';

/** One thing that is wrong: which key or line, and what to do about it. */
export interface ConfigurationProblem {
  /** The key, when the problem belongs to one. */
  readonly key?: string;
  /** One line that names the key and its source, and says the way out. */
  readonly message: string;
}

/** Everything that is wrong with a configuration, found in one go. */
export class ConfigurationError extends Error {
  readonly exitCode: number = ExitCode.Configuration;

  constructor(readonly problems: readonly ConfigurationProblem[]) {
    super(problems.map((problem) => `configuration: ${problem.message}`).join('\n'));
    this.name = 'ConfigurationError';
  }
}

/**
 * A port that can not be listened on. It may be free later: the exit code does not ask to be left stopped, as
 * that of a wrong configuration does.
 */
export class PortError extends ConfigurationError {
  override readonly exitCode = ExitCode.Fatal;
}

/** The error of a listener whose port another process holds. */
export function portInUse(key: string, address: string, port: number): PortError {
  return new PortError([
    {
      key,
      message: `${key} = ${port}: the port is in use on ${address}; stop the process that listens there or choose another port`,
    },
  ]);
}

/** A value as an error shows it: in quotes, control characters escaped, cut when long. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}
