/** Stand-ins for what a listener of the native protocol asks. No part of the package's door. */
import type { Clock } from '../../base/clock.js';
import type { Respond } from '../../groups/request.js';
import { Gate, type GateOptions } from '../gate/gate.js';
import type { ConnectionHost } from './connection-host.js';

/** A gate that serves everybody. */
export function openGate(limits: Partial<GateOptions>, clock: Pick<Clock, 'after'>): Gate {
  return new Gate({
    memoryMax: 2 ** 20,
    connectionsMax: 10,
    pendingMax: 100,
    refusal: () => null,
    stale: () => null,
    figures: { rejected: () => {} },
    clock,
    ...limits,
  });
}

/** Rooms that nobody is in: every request about them is answered by `respondTo`. */
export function roomsThat(respondTo: (respond: Respond) => void): ConnectionHost['rooms'] {
  return {
    join: (_request, respond) => respondTo(respond),
    leave: (_request, respond) => respondTo(respond),
    emit: (_request, respond) => respondTo(respond),
    answer: (_listener, _scope, reply, respond) => respond(reply),
    end: () => {},
    loggedOut: () => {},
    userChanged: () => {},
  };
}
