import { Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { Channel } from './channel.js';
import { encodeFrame, FrameError } from './frame.js';

function channelWith(onFrame: () => void): { readonly socket: Socket; readonly ends: (Error | null)[] } {
  const socket = new Socket();
  const channel = new Channel(socket, 'nowhere');
  const ends: (Error | null)[] = [];
  channel.onFrame = onFrame;
  channel.onEnd = (error) => ends.push(error);
  return { socket, ends };
}

describe('a connection', () => {
  test('ends, once and with the reason, with what makes no sense', () => {
    const { socket, ends } = channelWith(() => {});
    socket.emit('data', Buffer.alloc(4));
    socket.emit('data', encodeFrame(1, Buffer.from('more')));
    socket.emit('error', new Error('later'));
    expect(ends).toEqual([expect.any(FrameError)]);
    expect(socket.destroyed).toBe(true);
  });

  test('does not hide errors of who gets the frames', () => {
    const { socket, ends } = channelWith(() => {
      throw new TypeError('a bug');
    });
    expect(() => socket.emit('data', encodeFrame(1, Buffer.from('x')))).toThrow(TypeError);
    expect(ends).toEqual([]);
  });
});
