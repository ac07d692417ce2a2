/** Planted bugs of sessions, put around their parts. */
import { encodePackage, PackageDecoder, PackageType } from '@althing/client';
import type { NativeOptions } from '@althing/node/parts';
import type { NodeMutant } from '../node-mutant-names.js';
import type { NodeEnd } from './pipe.js';

type Rooms = NativeOptions['rooms'];
type Write = (chunk: Uint8Array, done?: () => void) => boolean;

/** The delay with which something is done, in milliseconds. */
const LATE_MS = 20;

/** The rooms of a node as its sessions use them. */
export function roomsWithBugs(
  rooms: Rooms,
  planted: ReadonlySet<NodeMutant>,
  delay: (ms: number, work: () => void) => void,
): Rooms {
  const join: Rooms['join'] = (request, respond) => {
    // To leave where one is not finds the rooms, too.
    rooms.leave(request, (reply) => {
      respond(reply);
      delay(LATE_MS, () => rooms.join(request, () => {}));
    });
  };
  return {
    join: planted.has('join_before_watched') ? join : (request, respond) => rooms.join(request, respond),
    leave: (request, respond) => rooms.leave(request, respond),
    emit: (request, respond) => rooms.emit(request, respond),
    answer: planted.has('answer_before_event')
      ? (_listener, _scope, reply, respond) => respond(reply)
      : (listener, scope, reply, respond) => rooms.answer(listener, scope, reply, respond),
    end: (listener) => rooms.end(listener),
    loggedOut: (listener) => rooms.loggedOut(listener),
    userChanged: () => rooms.userChanged(),
  };
}

/** Events get lost where anything waits to be sent, and the connection goes on. */
export function loseEvents(end: NodeEnd): void {
  const write = end.write.bind(end) as Write;
  const decoder = new PackageDecoder();
  end.write = ((chunk, done) => {
    if (chunk.length === 0) return write(chunk, done);
    const isSlow = end.writableLength > 0;
    // A write of a node may end within a package, whose rest comes next.
    const packages = decoder.push(Uint8Array.from(chunk));
    const kept = packages.filter(({ type }) => !isSlow || type !== PackageType.ROOM_EMIT);
    const bytes = kept.map(({ type, id, data }) => encodePackage(type, id, data));
    return kept.length === 0 || write(Buffer.concat(bytes), done);
  }) as Write as NodeEnd['write'];
}

/** Sends long messages behind those that come after them. */
export function overtake(end: NodeEnd, later: (work: () => void) => void): void {
  const write = end.write.bind(end) as Write;
  end.write = ((chunk, done) => {
    if (chunk.length < LONG) return write(chunk, done);
    later(() => {
      if (!end.destroyed && !end.writableEnded) write(chunk, done);
    });
    return true;
  }) as Write as NodeEnd['write'];
}

/** Bytes from which on something is long; what is sent at once is a piece. */
const LONG = 80;
