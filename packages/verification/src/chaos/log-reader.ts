/**
 * The reader of a node's log: a process of its own behind a pipe, as a container engine has it, which writes it to a file
 * and can be made to stop.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';

export class LogReader {
  /** The pipe that nodes write to. Kept open, so that the reader goes on when a node ends. */
  private readonly pipe: number;
  private readonly reader: ChildProcess;

  constructor(private readonly file: string) {
    const fifo = `${file}.pipe`;
    rmSync(fifo, { force: true });
    execFileSync('mkfifo', [fifo]);
    // Either end alone would wait for the other one.
    const both = openSync(fifo, 'r+');
    const from = openSync(fifo, 'r');
    const to = openSync(file, 'a');
    this.pipe = openSync(fifo, 'w');
    this.reader = spawn('cat', { stdio: [from, to, 'ignore'] });
    for (const descriptor of [both, from, to]) closeSync(descriptor);
    rmSync(fifo);
  }

  /** The file descriptor that a process gets as its standard output. */
  get input(): number {
    return this.pipe;
  }

  get text(): string {
    return readFileSync(this.file, 'utf8');
  }

  stop(): void {
    this.reader.kill('SIGSTOP');
  }

  resume(): void {
    this.reader.kill('SIGCONT');
  }

  /** The reader ends when all has been read that nodes wrote. */
  close(): void {
    this.resume();
    closeSync(this.pipe);
  }
}
