/**
 * The HTTP door of a simulated node: bodies, admission and exchanges are those of a real one, and what uWebSockets.js does of it takes place on
 * the thread of the node. Answers that are waited for in place (`WaitingInPlace`) come as others do.
 */
import type { HttpResponse } from 'uWebSockets.js';
import type { ScopeName } from '@althing/engine';
import {
  Admission,
  AnswerBuffer,
  Bodies,
  ClientAddresses,
  Exchange,
  Heads,
  type Refuse,
  type RequestHeaders,
} from '@althing/node/parts';
import type { Process } from '../simulation/process.js';
import type { ThreadResponse } from './thread-response.js';

const MiB = 1024 * 1024;

/** Milliseconds that a body may take to come. */
const BODY_MS = 30_000;

/** The head of a request, beside its body. */
export interface Head {
  readonly scope: ScopeName;
  readonly format: 'json' | 'msgpack';
  readonly authorization: string;
  readonly length: number;
}

export class HttpDoor {
  private readonly bodies: Bodies;
  private readonly admission: Admission;
  private readonly parts: ConstructorParameters<typeof Exchange>[3];

  constructor(private readonly process: Process) {
    const { side, doors } = process;
    if (side === null) throw new Error('the node is not open');
    const { router } = side;
    const { gate, principalOf } = doors;
    const refuse: Refuse = (exchange, error, answer) => exchange.fail(error, answer);
    const clients = new ClientAddresses([]);
    this.bodies = new Bodies({
      root: side.engine.root,
      body: { msgpackNestingMax: 1000 },
      bodySizeMax: MiB,
      bodyTimeoutMs: BODY_MS,
      gate,
      refuse,
      handle: (request, respond) => router.handle(request, respond),
      readsLater: (userId, bytes, read) => router.readsLater(userId, bytes, read),
      charge: (userId, ms) => router.scheduler.read(userId, ms),
      sessions: { carryOut: () => {} },
      waits: () => {},
      onDefect: (error) => process.fail('a defect of a request', error),
    });
    this.admission = new Admission({
      authenticator: {
        remembered: principalOf,
        known: principalOf,
        login: (_authorization, _address, { done }) => done({ kind: 'refused' }),
      },
      gate,
      clients,
      bodySizeMax: MiB,
      refuse,
      complete: (exchange) => this.bodies.complete(exchange),
    });
    this.parts = {
      heads: new Heads(process.machine.name),
      answerBuffer: new AnswerBuffer(gate.memory),
      clients,
      done: () => gate.done(),
    };
  }

  /** Takes the head of a request; its body follows by `res.receive`. */
  receive(res: ThreadResponse, { scope, format, authorization, length }: Head): void {
    if (!this.process.alive) return;
    this.process.doors.gate.begin();
    const response = res as unknown as HttpResponse;
    const headers = headersOf(authorization, length);
    const exchange = new Exchange(response, scope, format, this.parts, NO_BATCH, headers, '');
    response.onAborted(() => exchange.abort());
    this.bodies.receive(exchange, response);
    this.admission.admit(exchange, response, headers, format);
    exchange.leaveCallback();
  }
}

const NO_BATCH = { closesNext: () => false };

function headersOf(authorization: string, contentLength: number): RequestHeaders {
  return {
    id: 'simulated',
    host: 'simulated',
    origin: null,
    isFromElsewhere: false,
    isPreflight: false,
    authorization,
    forwardedFor: '',
    contentType: '',
    contentLength,
    contentEncoding: false,
    isLast: false,
    terms: null,
    malformed: null,
  };
}
