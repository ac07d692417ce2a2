/**
 * Events to many listeners of one room: what they cost the engine sides of three nodes, all in this process, with connections that take
 * what they are sent and do nothing with it. The log between the nodes is played, and what sockets cost comes on top.
 */
import type { Listener } from '@althing/node/parts';
import { MiniCluster } from '@althing/node/testing';
import { timeText } from '../harness/table.js';

export interface RoomsOptions {
  /** The listeners of all nodes together. */
  readonly listeners: number;
  readonly emits: number;
}

export interface RoomsFigures extends RoomsOptions {
  /** Processor time of all three nodes for one event, in milliseconds. */
  readonly cpuMs: number;
  /** The share of a processor that it takes when there is an event every 10 ms. */
  readonly share: number;
  /** Events that came to listeners, of those that should have. */
  readonly heard: number;
}

const NODES = 3;

const EVERY_MS = 10;

export async function benchRooms({ listeners, emits }: RoomsOptions): Promise<RoomsFigures> {
  const cluster = await MiniCluster.begin(NODES);
  const query = async (code: string): Promise<void> => {
    const asked = cluster.node(1).query('stuff', code);
    await cluster.pass(1);
    const reply = await asked;
    if (!reply.ok) throw reply.error;
  };
  await query(".room = room(); .room.set_name('bench');");
  let heard = 0;
  for (let id = 1; id <= listeners; id++) {
    const { engine, rooms } = cluster.node((id % NODES) + 1);
    const user = engine.root.usersByName.get('admin');
    if (user === undefined) throw new Error('a new cluster has a user');
    const listener: Listener = {
      id,
      userId: user.id,
      push: () => {
        heard += 1;
      },
      gap: () => {},
    };
    const scope = { kind: 'collection', name: 'stuff' } as const;
    rooms.join({ scope, user, listener, rooms: ['bench'], client: { gone: false } }, () => {});
    if (id % 100 === 0) await cluster.settle();
  }
  const code = ".room.emit('tick', {at: 1, text: 'what happened'}, [1, 2, 3]);";
  await cluster.settle();
  for (let i = 0; i < emits / 10; i++) await query(code);
  heard = 0;
  const begun = process.cpuUsage();
  for (let i = 0; i < emits; i++) await query(code);
  const { user, system } = process.cpuUsage(begun);
  const cpuMs = (user + system) / 1000 / emits;
  return { listeners, emits, cpuMs, share: cpuMs / EVERY_MS, heard };
}

export function roomsText({ listeners, emits, cpuMs, share, heard }: RoomsFigures): string {
  return [
    `one room, ${listeners} listeners at ${NODES} nodes, ${emits} events`,
    `processor time of all nodes for one event: ${timeText(cpuMs)}`,
    `an event every ${EVERY_MS} ms takes ${(100 * share).toFixed(1)} % of a processor, all nodes together`,
    `heard: ${heard} of ${listeners * emits}`,
  ].join('\n');
}
