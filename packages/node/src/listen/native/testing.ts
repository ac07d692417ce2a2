/** Stand-ins for what a listener of the native protocol asks. No part of the package's door. */
import type { Respond } from '../../groups/request.js';
import type { ConnectionHost } from './connection.js';

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
