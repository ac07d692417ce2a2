/**
 * A program that uses the client library: its calls are carried out by the real client, which names them, chooses nodes, waits, repeats and
 * judges, on the clock of the simulation. Each must end within its time (I21), and as it says.
 */
import { AlthingError, type Database, QueryError } from '@althing/client';
import { Client, databaseOf, type Surroundings } from '@althing/client/parts';
import type { Operation } from '../history.js';
import type { Process } from '../process.js';
import { Draw } from '../random.js';
import { Violation } from '../watcher.js';
import type { World } from '../world.js';
import { SimulatedHttp } from './simulated-http.js';

/** The end of a call, as its caller knows it. */
export type Told = Pick<Operation, 'outcome' | 'answer' | 'error' | 'isMade'>;

export class LibraryProgram {
  readonly #transport: SimulatedHttp;
  readonly #db: Database;
  readonly #timeoutMs: number;
  #open = 0;

  constructor(private readonly world: World) {
    const { seed, scheduler, machines, planted, reached } = world;
    const draw = new Draw(seed, 'library', scheduler);
    const sizes = new Draw(seed, 'library sizes');
    this.#timeoutMs = sizes.pick([500, 3000, 8000]);
    this.#transport = new SimulatedHttp({
      scheduler,
      draw,
      planted: planted.client,
      processOf: (name) => world.processes.find(({ machine }) => machine.name === name) ?? null,
      onReached: (place) => reached.add(place),
    });
    let names = 0;
    const surroundings: Surroundings = {
      clock: { now: () => scheduler.now, after: (ms, work) => scheduler.after(ms, work) },
      random: () => draw.unit(),
      newClientName: () => `library${++names}`,
    };
    const options = {
      attemptTimeoutMs: sizes.pick([200, 1000, 4000]),
      limits: { requests: sizes.pick([1, 3, 64]) },
    };
    const client = new Client(
      machines.map(({ name }) => `http://${name}`),
      options,
      {
        surroundings,
        makeTransport: () => this.#transport,
        makeRooms: () => Promise.reject(new TypeError('rooms are not simulated with the library')),
        addressesOf: null,
      },
    );
    this.#db = databaseOf(client, options);
  }

  get isBusy(): boolean {
    return this.#open > 0 || this.#transport.isBusy;
  }

  /** Makes a call, and tells how it ended. */
  call(
    { id, collection, action }: Operation,
    code: string,
    idempotencyKey: string | undefined,
    done: (told: Told) => void,
  ): void {
    const { scheduler } = this.world;
    const scope = collection === null ? this.#db.$root : this.#db.$collection(collection);
    const dryRun = action.kind === 'dry_run' && (action.explains ? 'explain' : true);
    const options = { timeoutMs: this.#timeoutMs, idempotencyKey, dryRun };
    this.#open += 1;
    const settled = scheduler.after(this.#timeoutMs + 1, () =>
      this.world.violate(new Violation('I21', `operation ${id} of the library does not settle`)),
    );
    const end = (told: Told): void => {
      settled();
      this.#open -= 1;
      done(told);
    };
    scope
      .with(options)
      .query(code)
      .then(
        (answer) => end({ outcome: 'ok', answer, error: '' }),
        (error: unknown) => {
          if (error instanceof AlthingError) end(toldBy(error));
          else this.world.violate(error);
        },
      );
  }

  /** A process is gone: its connections are lost. */
  processEnded(process: Process): void {
    this.#transport.processEnded(process);
  }
}

/** The outcome of a call by its error. A change without an answer has taken effect at some time. */
function toldBy(error: AlthingError): Told {
  const text = `${error.name}: ${error.message}`;
  const code = error instanceof QueryError ? error.code : null;
  switch (error.outcome) {
    case 'none':
    case 'not_sent':
      return { outcome: 'failed', answer: code, error: text };
    case 'unknown':
      return { outcome: 'unknown', answer: null, error: text };
    case 'made':
      return { outcome: 'unknown', answer: null, error: text, isMade: true };
  }
}
