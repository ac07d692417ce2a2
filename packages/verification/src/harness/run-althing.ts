import { fileURLToPath } from 'node:url';
import { Launched, type RealNode } from '@althing/node/testing';

const PROGRAM = fileURLToPath(new URL('../../../cli/bin/althing.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs `althing` in a folder, as the administrator of a node. */
export async function runAlthing(node: RealNode, folder: string, args: readonly string[]): Promise<Ended> {
  const environment = { ALTHING_URL: node.url, ALTHING_TOKEN: node.token };
  const command = new Launched([process.execPath, PROGRAM, ...args], { folder, environment });
  const { code } = await command.ended;
  return { code, output: command.output };
}
