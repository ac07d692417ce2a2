import type { Engine, Target } from '@althing/engine';
import type { Logger } from '../../telemetry/logger.js';

/** @returns for each scope that has some the procedures that a call by name does not reach: it calls the built-in function */
export function hiddenProcedures(
  engine: Pick<Engine, 'root' | 'scope' | 'runtime'>,
): ReadonlyMap<string, readonly string[]> {
  const { functions } = engine.runtime;
  const found = new Map<string, readonly string[]>();
  const targets: readonly Target[] = ['thingsdb', ...engine.root.collections.keys()];
  for (const target of targets) {
    const scope = engine.scope(target);
    const procedures = scope?.group?.procedures.byName;
    if (scope === undefined || procedures === undefined) continue;
    const names = [...procedures.keys()].filter((name) => functions.function(name) !== undefined);
    if (names.length > 0) found.set(scope.name, names.sort());
  }
  return found;
}

const NAMES_MAX = 20;

/** Warns of procedures that have the names of functions, which came with a newer version perhaps, and says the way out. */
export function warnOfHiddenProcedures(log: Pick<Logger, 'warn'>, engine: Engine): void {
  for (const [scope, names] of hiddenProcedures(engine)) {
    const procedures = names.slice(0, NAMES_MAX);
    log.warn(
      { event: 'procedures_hidden', scope, count: names.length, procedures },
      `${scope}: procedures have the names of built-in functions, which queries call in their place (${procedures.join(', ')}): ` +
        "run('NAME', ...) calls the procedure, and rename_procedure gives it another name",
    );
  }
}
