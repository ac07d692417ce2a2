/**
 * Asks a person for a password.
 */
import { type Io, write } from './io.js';

/**
 * Prints a question and reads a line from the terminal without showing it.
 *
 * @returns the password; undefined when there is no terminal, or the person gave up (Ctrl-C, Ctrl-D)
 */
export async function askPassword(io: Io, question: string): Promise<string | undefined> {
  const { stdin } = io;
  if (stdin.isTTY !== true || stdin.setRawMode === undefined) return undefined;
  // Before the question: who types fast is not to see it either.
  stdin.setRawMode(true);
  try {
    await write(io.stderr, question);
    return await readLine(io);
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    await write(io.stderr, '\n');
  }
}

function readLine(io: Io): Promise<string | undefined> {
  return new Promise((resolve) => {
    const typed: string[] = [];
    const decoder = new TextDecoder();
    const done = (result: string | undefined): void => {
      io.stdin.off('data', onData);
      io.stdin.off('end', onEnd);
      resolve(result);
    };
    const onEnd = (): void => done(undefined);
    const onData = (bytes: Uint8Array): void => {
      for (const character of decoder.decode(bytes, { stream: true })) {
        if (character === '\r' || character === '\n') {
          done(typed.join(''));
          return;
        }
        if (character === '\u0003' || character === '\u0004') {
          done(undefined);
          return;
        }
        if (character === '\u007f' || character === '\b') typed.pop();
        else typed.push(character);
      }
    };
    io.stdin.on('data', onData);
    io.stdin.on('end', onEnd);
    io.stdin.resume();
  });
}
