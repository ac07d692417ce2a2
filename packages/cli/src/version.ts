import { readFileSync } from 'node:fs';
import type { CommandDefinition } from './command.js';
import { write } from './io.js';

export const versionCommand: CommandDefinition = {
  name: 'version',
  summary: 'Print the version',
  configure(command, io, finish) {
    command.action(async () => {
      await write(io.stdout, `${versionLine()}\n`);
      finish(0);
    });
  },
};

/** The version of Althing, as its package says. */
export function version(): string {
  const file = new URL('../package.json', import.meta.url);
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (typeof content === 'object' && content !== null && 'version' in content) return String(content.version);
  throw new Error(`${file.pathname} names no version`);
}

export function versionLine(): string {
  return `althing version: ${version()} (node ${process.versions.node}, ${process.platform} ${process.arch})`;
}
