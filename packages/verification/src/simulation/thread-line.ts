/** The line between the two threads of a simulated process: both ends of a real node's, on virtual time. */
import { Bridge, type Command, type Event, EventSender, type Parcel, Signals } from '@althing/node/parts';
import type { Scheduler } from './scheduler.js';
import { Line, type Thread } from './thread.js';

export interface ThreadLineOptions {
  readonly scheduler: Scheduler;
  readonly engineThread: Thread;
  readonly consensusThread: Thread;
  /** Times that a message of commands, and one of events, is on its way, in milliseconds. */
  readonly commandMs: () => number;
  readonly eventMs: () => number;
  readonly onCommand: (command: Command) => void;
  readonly onEvent: (event: Event) => void;
  readonly onReached: (place: string) => void;
}

export interface ThreadLine {
  /** The engine thread's end. */
  readonly bridge: Bridge;
  /** The consensus thread's end. */
  readonly events: EventSender;
}

export function threadLine(options: ThreadLineOptions): ThreadLine {
  const { scheduler, engineThread, consensusThread, commandMs, eventMs, onReached } = options;
  const toConsensus = new Line<Parcel<Command>>(scheduler, consensusThread, commandMs, (parcel) =>
    events.receive(parcel, options.onCommand),
  );
  const toEngine = new Line<Parcel<Event>>(scheduler, engineThread, eventMs, (parcel) =>
    bridge.receive(parcel),
  );
  const signals = new SharedArrayBuffer(Signals.BYTES);
  const bridge = new Bridge({
    signals,
    clock: {
      now: () => engineThread.now,
      after: (ms, work) => {
        onReached('proposals wait for more');
        return engineThread.after(ms, work);
      },
    },
    soon: (work) => engineThread.soon(0, work),
    port: {
      // Buffers that change hands are gone afterwards, as with real threads.
      post: (parcel, given) => toConsensus.send(structuredClone(parcel, { transfer: [...given] })),
      poll: () => undefined,
      close: () => undefined,
    },
  });
  bridge.onEvent = options.onEvent;
  const events = new EventSender({
    signals,
    post: (parcel, given) => toEngine.send(structuredClone(parcel, { transfer: [...given] })),
  });
  events.open();
  return { bridge, events };
}
