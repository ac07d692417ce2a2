import { MsgpackReader } from '../pack/msgpack-reader.js';
import { MSGPACK_NESTING_MAX } from '../pack/walk.js';
import { type Entry, method, type Receiver } from '../run/builtin.js';
import type { MpData } from '../value/scalars.js';
import { Tag } from '../value/tag.js';

const PACKED: Receiver<MpData> = { tags: [Tag.MPDATA] };

/** Methods of packed data. */
export const MPDATA: readonly Entry[] = [
  method(PACKED, 'len', {
    doc: 'Size of the packed data in bytes.',
    run: (_rt, { data }) => data.length,
  }),
  method(PACKED, 'load', {
    doc: 'The data as ordinary values: maps become things, arrays lists.',
    run: (rt, { data }) => {
      rt.charge(data.length);
      return new MsgpackReader(data, rt.shapes, MSGPACK_NESTING_MAX, (count) => rt.step(count)).value();
    },
  }),
];
