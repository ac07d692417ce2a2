/** All clients of the native protocol, and whether what they heard can be. */
import type { Process } from '../process.js';
import { Violation } from '../watcher.js';
import { roomOf } from '../workload.js';
import type { World } from '../world.js';
import { SimulatedClient } from './simulated-client.js';
import type { SocketRun } from './socket-client.js';

/** Milliseconds after which a client gives up an answer, and that the end of a session may be on its way. */
const PATIENCE_MS = 5000;
const END_MS = 1000;

export class SocketClients {
  private readonly clients: SimulatedClient[] = [];
  /** Operations of which the rooms' witness knows what became. */
  private judged = 0;

  constructor(private readonly world: World) {}

  start(): void {
    const { world } = this;
    const { witness, scheduler, clients, reached, swarm } = world;
    const run: SocketRun = {
      witness,
      patienceMs: PATIENCE_MS,
      endMs: END_MS,
      now: () => scheduler.now,
      after: (ms, work) => scheduler.after(ms, work),
      begun: (...begun) => clients.begun(...begun),
      ended: () => {},
      onProblem: (text, invariant = 'I19') => world.violate(new Violation(invariant, text)),
      onReached: (place) => reached.add(place),
      note: (text) => world.note(text),
    };
    for (let number = 0; number < swarm.sockets; number++) {
      const client = new SimulatedClient(world, run, number);
      this.clients.push(client);
      client.start();
    }
  }

  /** They do nothing new, and read what comes. */
  stop(): void {
    for (const client of this.clients) client.stop();
  }

  /** True if nothing is asked, and nothing on its way. */
  get isQuiet(): boolean {
    return this.clients.every(({ isQuiet }) => isQuiet);
  }

  processEnded(process: Process): void {
    for (const client of this.clients) client.processEnded(process);
  }

  /** Looks at the end what was heard. */
  check(counterOf: (collection: string) => number): void {
    const { clients, witness } = this.world;
    const { history } = clients;
    const problems = witness.judge(history.slice(this.judged), roomOf);
    this.judged = history.length;
    for (const collection of clients.collections)
      problems.push(...witness.problems(roomOf(collection), counterOf(collection)));
    const [problem] = problems;
    if (problem !== undefined) throw new Violation('I18', problem);
    if (this.clients.some(({ hasHeard }) => hasHeard))
      this.world.reached.add('a session heard everything up to the end');
  }
}
