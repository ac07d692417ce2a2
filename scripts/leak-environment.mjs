/**
 * Jest's environment for the tests of the package `node`: a file whose tests leave something behind fails, and is told what. That is a
 * timer that is still armed, a socket, a server or a process that is not closed, or an open file.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import PlainEnvironment from './jest-environment.mjs';

/** Time in which a closed thing is gone, some turns of the event loop, in milliseconds. */
const PATIENCE_MS = 5000;
const LOOK_MS = 20;

/** Kinds of resources that stay open until they are closed, as `process.getActiveResourcesInfo` names them. */
const KINDS = new Set([
  'FSEventWrap',
  'MessagePort',
  'PipeServerWrap',
  'PipeWrap',
  'ProcessWrap',
  'StatWatcher',
  'TCPServerWrap',
  'TCPSocketWrap',
  'TLSWrap',
  'UDPWRAP',
  'Worker',
]);

export default class LeakEnvironment extends PlainEnvironment {
  constructor(config, context) {
    super(config, context);
    /** Where each timer was armed that has not come, and was not called off. */
    this.timers = new Map();
    // These pipes are opened when they are first asked for: by a worker thread that starts, say.
    void [process.stdout, process.stderr];
    this.before = { resources: openResources(), files: openFiles() };
    this.watchTimers();
  }

  async handleTestEvent({ name }, state) {
    if (name !== 'run_finish') return;
    await closeIdleConnections();
    const end = performance.now() + PATIENCE_MS;
    let left = this.left();
    while (left.length > 0 && performance.now() < end) {
      await pause(LOOK_MS);
      left = this.left();
    }
    if (left.length > 0) state.unhandledErrors.push(new Error(`the tests left behind:\n${left.join('\n')}`));
  }

  /** Resources that were not there before the tests. */
  left() {
    const { resources, files } = this.before;
    const opened = [...openResources()].flatMap(([kind, count]) => {
      const more = count - (resources.get(kind) ?? 0);
      return more > 0 ? [`${more} x ${kind}`] : [];
    });
    const paths = [...openFiles()].filter((path) => !files.has(path)).map((path) => `the file ${path}`);
    return [...opened, ...paths, ...[...this.timers.values()].map((place) => `a timer: ${place}`)];
  }

  watchTimers() {
    const { timers, global } = this;
    const { setTimeout, setInterval, clearTimeout, clearInterval } = global;
    const place = () => {
      const lines = new Error().stack.split('\n').slice(4);
      return (lines.find((line) => !line.includes('/base/')) ?? lines[0] ?? '').trim();
    };
    // Resources that packages of others leave are not ours.
    const note = (timer) => {
      const armedAt = place();
      if (!armedAt.includes('node_modules')) timers.set(timer, armedAt);
      return timer;
    };
    global.setTimeout = Object.assign((work, ms, ...values) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        work(...values);
      }, ms);
      return note(timer);
    }, setTimeout);
    global.setInterval = (work, ms, ...values) => note(setInterval(work, ms, ...values));
    global.clearTimeout = (timer) => {
      timers.delete(timer);
      clearTimeout(timer);
    };
    global.clearInterval = (timer) => {
      timers.delete(timer);
      clearInterval(timer);
    };
  }
}

/** The agent behind `fetch`, as undici keeps it. */
const AGENT = Symbol.for('undici.globalDispatcher.1');

/** Ends the connections that `fetch` keeps for 4 s: with a hundred files that would be waited for, each of them. */
async function closeIdleConnections() {
  const agent = globalThis[AGENT];
  if (agent === undefined) return;
  globalThis[AGENT] = new agent.constructor();
  await agent.destroy();
}

/** The number of resources of each kind that are open in this process. */
function openResources() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo())
    if (KINDS.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** The paths of the files that this process has open, where the system tells (proc(5)). */
function openFiles() {
  const paths = new Set();
  try {
    for (const descriptor of readdirSync('/proc/self/fd')) {
      const path = pathOf(descriptor);
      if (path?.startsWith('/') && !path.startsWith('/dev/') && !path.startsWith('/proc/')) paths.add(path);
    }
  } catch {
    // Not Linux.
  }
  return paths;
}

function pathOf(descriptor) {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    // It was that of the folder itself.
    return null;
  }
}
