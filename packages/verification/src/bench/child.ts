import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process of a benchmark that takes one order after the other, and says what came of each. It ends when its parent lets it go. */
export class Child {
  readonly pid: number;
  private readonly process: ChildProcess;

  /** @param file its program, beside `from` */
  constructor(from: string, file: string) {
    this.process = fork(fileURLToPath(new URL(file, from)), { serialization: 'advanced' });
    this.pid = this.process.pid ?? 0;
  }

  /**
   * Sends an order, undefined for none, and resolves with the first message that `take` makes something of.
   *
   * @throws {Error} when the process ends before
   */
  ask<Message, Result>(
    order: object | undefined,
    take: (message: Message) => Result | undefined,
  ): Promise<Result> {
    const { process } = this;
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        process.off('message', onMessage);
        process.off('exit', onExit);
        settle();
      };
      const onExit = (code: number | null): void =>
        end(() => reject(new Error(`a process of the benchmark ended with ${code}`)));
      const onMessage = (message: Message): void => {
        try {
          const result = take(message);
          if (result !== undefined) end(() => resolve(result));
        } catch (error) {
          end(() => reject(error));
        }
      };
      process.on('message', onMessage);
      process.on('exit', onExit);
      if (order !== undefined) process.send(order);
    });
  }

  /** Sends an order that nothing comes of. */
  tell(order: object): void {
    this.process.send(order);
  }

  /** Lets it go; resolves when it has ended, and has no file open any more. */
  async close(): Promise<void> {
    const { process } = this;
    if (process.exitCode !== null || process.signalCode !== null) return;
    const ended = once(process, 'exit');
    if (process.connected) process.disconnect();
    await ended;
  }
}
