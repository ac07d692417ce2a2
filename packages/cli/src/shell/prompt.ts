/** The prompt of the shell on a terminal: keys to the editor, what it holds to the runner, results above the next prompt. */
import { complete, contextAt, isIncomplete } from '@althing/language';
import { UsageError } from '../input.js';
import type { Io } from '../io.js';
import type { LiveCatalogue } from './catalogue.js';
import { COMMANDS } from './commands.js';
import { type EditorState, emptyEditor, type Key, offer, press, replace } from './editor.js';
import type { History } from './history.js';
import { edit } from './pager.js';
import type { Runner } from './runner.js';
import { draw } from './screen.js';
import { scopeIn } from './session.js';
import type { Paint } from './style.js';
import type { Terminal } from './terminal.js';

export interface PromptOptions {
  readonly runner: Runner;
  readonly terminal: Terminal;
  readonly history: History;
  readonly catalogue: LiveCatalogue;
  readonly io: Io;
  readonly paint: Paint;
  /** `user@node`. */
  readonly who: string;
}

/** Keys that are typed while a query runs. */
const TYPE_AHEAD_MAX = 10_000;

export class Prompt {
  private state: EditorState;
  /** The run under way; keys wait for its end, but for Ctrl-C. */
  private running: AbortController | null = null;
  private waiting: Key[] = [];
  private finish: (() => void) | null = null;

  constructor(private readonly options: PromptOptions) {
    this.state = emptyEditor(options.history.entries);
    options.runner.terminal = {
      history: () => options.history.entries,
      edit: () => this.editText(options.runner.session.lastQuery),
      outside: (work) => this.outside(work),
    };
  }

  /** Runs until the user leaves. */
  async run(): Promise<void> {
    const { terminal } = this.options;
    const end = new Promise<void>((resolve) => {
      this.finish = resolve;
    });
    terminal.onKey = (key) => this.onKey(key);
    terminal.onResize = () => this.redraw();
    terminal.onEnd = () => this.finish?.();
    terminal.open();
    this.redraw();
    await end;
    terminal.close();
  }

  /** Prints above the prompt what comes by itself, such as an event of a room. */
  print(line: string): void {
    if (this.running === null) this.options.terminal.erase();
    this.options.io.stdout.write(`${line}\n`);
    this.redraw();
  }

  private onKey(key: Key): void {
    if (this.running !== null) {
      if (key.ctrl === true && key.name === 'c') this.running.abort();
      else if (this.waiting.length < TYPE_AHEAD_MAX) this.waiting.push(key);
      return;
    }
    const { history, terminal } = this.options;
    const { state, request } = press(this.state, key, {
      history: history.entries,
      isIncomplete: isUnfinished,
    });
    const before = this.state;
    this.state = state;
    switch (request) {
      case 'none':
        this.redraw();
        return;
      case 'bell':
        terminal.bell();
        this.redraw();
        return;
      case 'clear':
        terminal.clear();
        this.redraw();
        return;
      case 'cancel':
        this.drawState({ ...before, cursor: before.text.length, menu: null });
        terminal.leave();
        this.redraw();
        return;
      case 'warn':
        terminal.leave();
        this.print('Ctrl-C once more leaves, as Ctrl-D does');
        return;
      case 'end':
        terminal.leave();
        this.finish?.();
        return;
      case 'complete':
        this.start(() => this.complete());
        return;
      case 'edit':
        this.start(() => this.editText(this.state.text));
        return;
      case 'submit':
        this.submit();
        return;
    }
  }

  private submit(): void {
    const { text } = this.state;
    const { terminal, history } = this.options;
    this.drawState({ ...this.state, cursor: text.length, menu: null });
    terminal.leave();
    history.add(text);
    history.reload();
    this.state = emptyEditor(history.entries, this.state.killed);
    this.start((signal) => this.runText(text, signal));
  }

  private async runText(text: string, signal: AbortSignal): Promise<void> {
    const { runner, catalogue } = this.options;
    const scope = runner.session.scope;
    const code = await runner.runInput(text, signal);
    if (runner.session.scope !== scope || text.startsWith('\\')) catalogue.forget();
    if (code === 'end') this.finish?.();
  }

  private async complete(): Promise<void> {
    const { text, cursor } = this.state;
    if (text.startsWith('\\') && !/\s/.test(text.slice(0, cursor))) {
      this.offerCommands();
      return;
    }
    const { wanted } = contextAt(text, cursor);
    const path = wanted.kind === 'member' && wanted.receiver.kind === 'path' ? wanted.receiver.path : null;
    const catalogue = await this.options.catalogue.at(path);
    this.take(offer(this.state, complete(text, cursor, catalogue)));
  }

  private offerCommands(): void {
    const { text, cursor } = this.state;
    const items = COMMANDS.flatMap(({ names, args, doc }) =>
      names
        .filter((name) => `\\${name}`.startsWith(text.slice(0, cursor)))
        .map((name) => ({
          label: `\\${name}`,
          kind: 'keyword' as const,
          detail: args,
          doc,
          insert: args === '' ? `\\${name}` : `\\${name} `,
        })),
    );
    this.take(offer(this.state, { from: 0, to: cursor, items, call: null }));
  }

  private take({ state, request }: ReturnType<typeof offer>): void {
    this.state = state;
    if (request === 'bell') this.options.terminal.bell();
  }

  private async editText(text: string): Promise<void> {
    const edited = await this.outside(() => edit(text, this.options.io));
    if (edited !== null) this.state = replace(emptyEditor(this.options.history.entries), edited);
  }

  private async outside<T>(work: () => Promise<T>): Promise<T> {
    const { terminal } = this.options;
    terminal.close();
    try {
      return await work();
    } finally {
      terminal.open();
    }
  }

  /** Has something done, during which keys wait. */
  private start(work: (signal: AbortSignal) => Promise<void>): void {
    const running = new AbortController();
    this.running = running;
    work(running.signal)
      .catch((error: unknown) => {
        if (!(error instanceof UsageError)) throw error;
        this.options.io.stderr.write(`${error.message}\n`);
      })
      .finally(() => {
        this.running = null;
        this.redraw();
        const keys = this.waiting;
        this.waiting = [];
        for (const key of keys) this.onKey(key);
      });
  }

  private redraw(): void {
    if (this.running === null) this.drawState(this.state);
  }

  private drawState(state: EditorState): void {
    const { terminal, paint, history } = this.options;
    terminal.draw(
      draw(state, {
        prompt: this.promptText(),
        width: terminal.width,
        height: terminal.height,
        paint,
        history: history.entries,
      }),
    );
  }

  private promptText(): string {
    const { session } = this.options.runner;
    const { isStale, isReadOnly } = session.settings;
    const marks = `${isReadOnly ? ' read-only' : ''}${isStale ? ' stale' : ''}`;
    return `${this.options.who} ${session.scope}${marks}> `;
  }
}

function isUnfinished(text: string): boolean {
  return !text.startsWith('\\') && scopeIn(text) === null && isIncomplete(text);
}
