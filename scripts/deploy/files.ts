/**
 * The files of a deployment, and the programs that check them where they are installed.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

/** The folder of the project. */
export const project = fileURLToPath(new URL('../../..', import.meta.url));

/** The text of a file of the project. */
export function textOf(path: string): string {
  return readFileSync(join(project, path), 'utf8');
}

/** Paths of the files below a folder of the project, relative to the project, in order. */
export function filesIn(folder: string): string[] {
  return readdirSync(join(project, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(project.length))
    .sort();
}

/**
 * The documents of a YAML text; anchors, aliases and merge keys are resolved.
 *
 * @throws {Error} with the first thing that is wrong with it, a key that comes twice included
 */
export function parseYaml(text: string, name: string): unknown[] {
  return parseAllDocuments(text, { merge: true, uniqueKeys: true })
    .map((document) => {
      const problem = document.errors[0] ?? document.warnings[0];
      if (problem !== undefined) throw new Error(`${name}: ${problem.message}`);
      return document.toJS() as unknown;
    })
    .filter((value) => value !== null);
}

/** The documents of a YAML file of the project. */
export function yamlOf(path: string): unknown[] {
  return parseYaml(textOf(path), path);
}

/** The output of a program, and its exit code. */
export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  /** Both outputs. */
  readonly output: string;
}

/** Runs a program in the folder of the project; undefined when it is not installed. */
export function run(program: string, parameters: readonly string[], input = ''): Run | undefined {
  const { status, stdout, stderr, error } = spawnSync(program, parameters, {
    cwd: project,
    input,
    encoding: 'utf8',
    timeout: 20_000,
  });
  if (error !== undefined && 'code' in error && error.code === 'ENOENT') return undefined;
  if (error !== undefined) throw error;
  return { code: status, stdout, output: stdout + stderr };
}

/** The first of some commands whose program is installed, else a line that tells of it, and undefined. */
export function firstOf(commands: readonly (readonly [string, ...string[]])[], input = ''): Run | undefined {
  for (const [program, ...parameters] of commands) {
    const result = run(program, parameters, input);
    if (result !== undefined) return result;
  }
  const names = commands.map(([program]) => program).join(' nor ');
  process.stderr.write(`skipped: ${names} ${commands.length > 1 ? 'are' : 'is not'} installed\n`);
  return undefined;
}
