/**
 * Lets what a node does take time in a simulation: the engine is real, and its limits and slices are; its clock goes on by what it looks at.
 * The engine looks while it reads values, runs code, and packs results.
 */
import type { Request } from '@althing/node/parts';
import type { Process } from '../simulation/process.js';
import { BusyThread } from './busy-thread.js';

/** Steps between two looks of a query at the clock, and what they take: a tenth of those in production, so that a second is run quickly. */
const LOOK_STEPS = 1000;
const LOOK_MS = 1;

/** Time that a request takes besides, and a character of its text. */
const REQUEST_MS = 0.05;
const CHARACTER_MS = 2e-4;

/** Time to look through a byte of a body, and the number of bytes for which one stands here, so that large ones come quickly. */
const BYTE_MS = 8e-6;
const BODY_SCALE = 16;

export function slowDown(process: Process): void {
  const { side, engineThread } = process;
  if (side === null || !(engineThread instanceof BusyThread)) throw new Error('the node is not open');
  const { engine, router } = side;
  const { runtime } = engine;
  const check = runtime.check.bind(runtime);
  runtime.check = () => {
    engineThread.spend(LOOK_MS);
    check();
    runtime.steps = LOOK_STEPS;
  };
  const startClock = runtime.startClock.bind(runtime);
  runtime.startClock = (...args) => {
    startClock(...args);
    runtime.steps = LOOK_STEPS;
  };
  const run = engine.run.bind(engine);
  engine.run = (call) => {
    engineThread.spend(REQUEST_MS);
    return run(call);
  };
  const prepare = engine.prepare.bind(engine);
  engine.prepare = (code) => {
    const { misses } = engine.figures.programs;
    const prepared = prepare(code);
    if (engine.figures.programs.misses > misses) engineThread.spend(code.length * CHARACTER_MS);
    return prepared;
  };
  const readsLater = router.readsLater.bind(router);
  router.readsLater = (userId, bytes, read) => readsLater(userId, bytes * BODY_SCALE, read);
  const handle = router.handle.bind(router);
  router.handle = (request, respond) => {
    const readMs = bytesOf(request) * BODY_SCALE * BYTE_MS;
    engineThread.spend(readMs);
    return handle({ ...request, readMs }, respond);
  };
}

/** Bytes of the values of a request. */
function bytesOf({ body }: Request): number {
  if (body.type === 'query') return body.vars?.data.length ?? 0;
  return body.type === 'run' ? (body.args?.data.length ?? 0) : 0;
}
