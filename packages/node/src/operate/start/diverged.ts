/**
 * A node whose state is not that of the majority, although nothing on its disk is damaged: it must not serve
 * again, and a restart would not mend it. The file `diverged` in its data folder says so.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExitCode } from '../../config/index.js';
import { DIVERGED_NAME } from './folder-names.js';
import { StartError } from './running-node.js';

/** A state that differs from that of the other members. */
export class DivergedError extends StartError {
  constructor(what: string, folder: string) {
    super(
      `${what} is not what the majority of the members hold. Nothing of it may be served. Move the data folder ${folder} away, ` +
        'keep it for whoever looks for the cause, and start the node anew: it joins as a new member',
      ExitCode.DataDamaged,
    );
  }
}

/**
 * Notes durably that the state in a folder differs.
 *
 * @param what the state of what, for people
 */
export function noteDiverged(folder: string, what: string): void {
  writeFileSync(join(folder, DIVERGED_NAME), `${what}\n`, { flush: true, mode: 0o600 });
}

/** @throws DivergedError if that was noted of a folder */
export function refuseDiverged(folder: string): void {
  if (existsSync(join(folder, DIVERGED_NAME))) throw new DivergedError('what this node holds', folder);
}
