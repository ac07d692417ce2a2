import type { ConnectionEntry, RequestEntry } from '../node-view.js';
import { packInfo } from '../pack/info.js';
import { type Entry, func, INSPECT, OPERATE } from '../run/builtin.js';
import * as p from '../run/params.js';
import type { Runtime } from '../run/runtime.js';
import { List } from '../value/containers.js';
import { Float, type MpData } from '../value/scalars.js';

/** Connections and requests of the node that runs the query. */
export const NODE_REQUESTS: readonly Entry[] = [
  func('connections_info', {
    doc: 'Who is connected to this node: each connection of the native protocol, and those of HTTP by address.',
    needs: INSPECT,
    run: (rt) => new List(rt.node.connections().map((entry) => connectionEntry(rt, entry))),
  }),
  func('requests_info', {
    doc: 'The requests of this node that run or wait, but for the one that asks; the longest under way first.',
    needs: INSPECT,
    run: (rt) => {
      const now = rt.environment.now() / 1000;
      return new List(Array.from(rt.node.requests(), (entry) => requestEntry(rt, entry, now)));
    },
  }),
  func('cancel_request', {
    doc: 'Ends a request of requests_info() by its id, which has changed nothing and is not about to; its client gets cancelled_err.',
    needs: OPERATE,
    params: [p.int('id')],
    run: (rt, id) => {
      rt.node.cancelRequest(id);
      return null;
    },
  }),
];

function connectionEntry(rt: Runtime, entry: ConnectionEntry): MpData {
  const { id, transport, address, user, since, requests, count } = entry;
  return packInfo(rt, { id, transport, address, user, since, requests, count });
}

/** @param now Unix seconds */
function requestEntry(rt: Runtime, entry: RequestEntry, now: number): MpData {
  const { id, request, isRunning, waitsFor, ageMs, ranMs, user, address, from, scope, kind, text } = entry;
  const state = isRunning ? 'running' : 'waiting';
  const times = { since: new Float(now - ageMs / 1000), run: new Float(ranMs / 1000) };
  return packInfo(rt, {
    id,
    request,
    state,
    waits_for: waitsFor,
    ...times,
    user,
    address,
    from,
    scope,
    kind,
    text,
  });
}
