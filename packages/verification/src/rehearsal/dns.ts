/**
 * A name server for the balancer, as Docker has one for its containers: names to the IPv4 addresses of what runs under them
 * at the moment (RFC 1035; one question a packet, over UDP).
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const HEAD_BYTES = 12;
const TYPE_A = 1;
const CLASS_IN = 1;
const NO_SUCH_NAME = 3;
const TTL_S = 1;
/** Answer, not authoritative, recursion wished for and to be had. */
const FLAGS = 0x8180;

export type Lookup = (name: string) => readonly string[];

export class NameServer {
  readonly port: number;
  lookup: Lookup = () => [];

  private constructor(private readonly socket: Socket) {
    this.port = socket.address().port;
    socket.on('message', (query, from) => {
      const reply = answer(query, this.lookup);
      if (reply !== null) socket.send(reply, from.port, from.address);
    });
  }

  static async open(address: string): Promise<NameServer> {
    const socket = createSocket('udp4');
    socket.bind(0, address);
    await once(socket, 'listening');
    return new NameServer(socket);
  }

  close(): void {
    this.socket.close();
  }
}

/** The answer to a query; null when it is none that can be read. */
export function answer(query: Buffer, lookup: Lookup): Buffer | null {
  const question = readQuestion(query);
  if (question === null) return null;
  const addresses = lookup(question.name);
  const shown = question.type === TYPE_A ? addresses : [];
  const head = Buffer.alloc(HEAD_BYTES);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(FLAGS | (addresses.length === 0 ? NO_SUCH_NAME : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(shown.length, 6);
  return Buffer.concat([head, query.subarray(HEAD_BYTES, question.end), ...shown.map(record)]);
}

interface Question {
  readonly name: string;
  readonly type: number;
  /** Where it ends in the packet. */
  readonly end: number;
}

function readQuestion(packet: Buffer): Question | null {
  if (packet.length < HEAD_BYTES || packet.readUInt16BE(4) !== 1) return null;
  const labels: string[] = [];
  let at = HEAD_BYTES;
  for (;;) {
    const length = packet[at];
    if (length === undefined || length > 63) return null;
    at += 1;
    if (length === 0) break;
    labels.push(packet.toString('latin1', at, at + length));
    at += length;
  }
  if (at + 4 > packet.length) return null;
  return { name: labels.join('.').toLowerCase(), type: packet.readUInt16BE(at), end: at + 4 };
}

/** A record of type A for the name of the question. */
function record(address: string): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16BE(0xc000 | HEAD_BYTES, 0);
  bytes.writeUInt16BE(TYPE_A, 2);
  bytes.writeUInt16BE(CLASS_IN, 4);
  bytes.writeUInt32BE(TTL_S, 6);
  bytes.writeUInt16BE(4, 10);
  bytes.set(address.split('.').map(Number), 12);
  return bytes;
}
