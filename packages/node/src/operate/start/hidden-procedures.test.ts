import { expect, test } from '@jest/globals';
import { MiniCluster } from '../../testing/mini-cluster.js';
import { outcome } from '../../testing/mini-node.js';
import { hiddenProcedures, warnOfHiddenProcedures } from './hidden-procedures.js';

test('a start warns of procedures that a built-in function of the same name hides, and says how to call them', async () => {
  const cluster = await MiniCluster.begin(1);
  const { engine } = cluster.node(1);
  const ask = async (scope: string, code: string): Promise<unknown> => {
    const reply = cluster.node(1).query(scope, code);
    await cluster.pass(0);
    return outcome(await reply);
  };
  expect(hiddenProcedures(engine).size).toBe(0);
  await ask('stuff', "new_procedure('out', |a| a); new_procedure('len', || 1); new_procedure('mine', || 2);");
  await ask('/t', "new_procedure('jobs_info', || 3);");
  expect([...hiddenProcedures(engine)]).toEqual([
    ['@thingsdb', ['jobs_info']],
    ['@collection:stuff', ['out']],
  ]);

  const warnings: unknown[] = [];
  warnOfHiddenProcedures({ warn: (...warning: unknown[]) => warnings.push(warning) }, engine);
  expect(warnings).toEqual([
    [expect.objectContaining({ procedures: ['jobs_info'] }), expect.stringContaining("run('NAME', ...)")],
    [expect.objectContaining({ procedures: ['out'] }), expect.stringContaining('(out)')],
  ]);
  expect(await ask('stuff', "run('out', 7);")).toBe(7);
});
