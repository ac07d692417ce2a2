/**
 * The engine of one build, in a process of its own: it takes texts through the stages up to one, and tells what that took.
 * The folder of the build's packages is the argument.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TEXTS_SETUP } from './new-texts.js';
import type { Stage } from './texts.js';

export interface TextsOrder {
  readonly stage: Stage;
  readonly texts: readonly string[];
}

/** Microseconds of processor time for each text; or why there is none. */
export type TextsMessage = { readonly us: number } | { readonly problem: string };

/** The parts of the package `language` that are used. */
interface Language {
  parse(text: string): object;
  analyse(program: object, rules: object): object;
}

type MachineModule = typeof import('./machine.js');

const [packages = ''] = process.argv.slice(2);
const language: Language = await import(moduleOf('language/dist/index.js'));
const { Machine }: MachineModule = await import(moduleOf('verification/dist/bench/machine.js'));
const machine = new Machine();
machine.run(TEXTS_SETUP);

process.on('message', (order: TextsOrder) => {
  let message: TextsMessage;
  try {
    message = { us: measure(order) };
  } catch (error) {
    message = { problem: error instanceof Error ? error.message : String(error) };
  }
  process.send?.(message);
});

process.on('disconnect', () => process.exit(0));

function measure({ stage, texts }: TextsOrder): number {
  const work = workOf(stage);
  const before = process.cpuUsage();
  for (const text of texts) work(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / texts.length;
}

function workOf(stage: Stage): (text: string) => unknown {
  const { parse, analyse } = language;
  const { rules } = machine.engine.runtime;
  switch (stage) {
    case 'parse':
      return parse;
    case 'analyse':
      return (text) => analyse(parse(text), rules);
    case 'prepare':
      return (text) => machine.engine.prepare(text);
    case 'run':
      return (text) => machine.run(text);
  }
}

function moduleOf(path: string): string {
  return pathToFileURL(join(packages, path)).href;
}
