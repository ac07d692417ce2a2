/** The terminal that the prompt is on: keys come in, screens go out. */
import { emitKeypressEvents } from 'node:readline';
import type { Io } from '../io.js';
import { type Key, TEXT_LENGTH_MAX } from './editor.js';
import type { Screen } from './screen.js';

const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';
const DEFAULT_SIZE = { columns: 80, rows: 24 };

/**
 * Only changes are written: the cursor goes up to the first row of what was drawn last, and each row is written over. Nothing above that
 * row is touched, so the output of queries stays in the scrollback of the terminal.
 */
export class Terminal {
  private rows = 0;
  private cursorRow = 0;
  private isOpen = false;
  /** The part of a paste that has come; null when none is under way. */
  private pasted: string | null = null;
  private readonly onKeypress = (_: string | undefined, key: Key): void => this.take(key);
  private readonly onResized = (): void => this.onResize?.();
  onKey: ((key: Key) => void) | null = null;
  onResize: (() => void) | null = null;
  /** The terminal is gone. */
  onEnd: (() => void) | null = null;
  private readonly ended = (): void => this.onEnd?.();

  constructor(private readonly io: Io) {
    emitKeypressEvents(io.stdin);
  }

  get width(): number {
    return sizeOf(this.io.stdout, 'columns') || DEFAULT_SIZE.columns;
  }

  get height(): number {
    return sizeOf(this.io.stdout, 'rows') || DEFAULT_SIZE.rows;
  }

  /** Takes the keys. Between `close` and `open` the terminal belongs to other programs, such as a pager. */
  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.pasted = null;
    const { stdin, stdout } = this.io;
    stdin.setRawMode?.(true);
    stdin.on('keypress', this.onKeypress);
    stdin.on('end', this.ended);
    stdout.on('resize', this.onResized);
    stdin.resume();
    stdout.write(PASTE_ON);
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    const { stdin, stdout } = this.io;
    stdin.off('keypress', this.onKeypress);
    stdin.off('end', this.ended);
    stdout.off('resize', this.onResized);
    stdin.setRawMode?.(false);
    stdin.pause();
    stdout.write(PASTE_OFF);
  }

  draw(screen: Screen): void {
    const lines = screen.rows.map((row) => `${row}\u001b[K`).join('\n');
    const below = screen.rows.length < this.rows ? '\u001b[J' : '';
    const up = screen.rows.length - 1 - screen.cursorRow;
    this.write(`${this.toTop()}${lines}${below}${moved(up, 'A')}\r${moved(screen.cursorColumn, 'C')}`);
    this.rows = screen.rows.length;
    this.cursorRow = screen.cursorRow;
  }

  /** Leaves what was drawn as it is, and goes on below it. */
  leave(): void {
    this.write(`${moved(this.rows - 1 - this.cursorRow, 'B')}\n`);
    this.forget();
  }

  /** Takes away what was drawn, so that other output can come in its place. */
  erase(): void {
    this.write(`${this.toTop()}\u001b[J`);
    this.forget();
  }

  clear(): void {
    this.write('\u001b[2J\u001b[H');
    this.forget();
  }

  bell(): void {
    this.write('\u0007');
  }

  /** Hands over a key. Each letter of a paste is one for Node.js: they are handed over as one, since that takes as long for one as for all. */
  private take(key: Key): void {
    if (key.name === 'paste-start') {
      this.pasted = '';
    } else if (this.pasted === null) {
      if (key.name !== 'paste-end') this.onKey?.(key);
    } else if (key.name === 'paste-end') {
      const sequence = this.pasted;
      this.pasted = null;
      this.onKey?.({ name: 'paste', sequence });
    } else if (this.pasted.length <= TEXT_LENGTH_MAX) {
      this.pasted += key.sequence ?? '';
    }
  }

  private toTop(): string {
    return `\r${moved(this.cursorRow, 'A')}`;
  }

  private forget(): void {
    this.rows = 0;
    this.cursorRow = 0;
  }

  private write(text: string): void {
    this.io.stdout.write(text);
  }
}

function moved(by: number, direction: 'A' | 'B' | 'C'): string {
  return by > 0 ? `\u001b[${by}${direction}` : '';
}

function sizeOf(stream: object, side: 'columns' | 'rows'): number {
  const value: unknown = Reflect.get(stream, side);
  return typeof value === 'number' ? value : 0;
}
