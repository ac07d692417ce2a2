/** The page's side of the worker that runs queries. */
import type { FunctionInfo } from '@althing/language';
import { effect, signal } from '@preact/signals';
import type { Verdict } from '../query/rules.js';
import { credentialsNow, isLoggedIn, logOut } from '../state/session.js';
import { pageSays, readOnly } from '../state/settings.js';
import type { Answered, Answers, Asked, Question, Told, Waiting } from './protocol.js';

type Kind = Question['kind'];

/** The part of the browser's Trusted Types that is used; TypeScript does not know it yet. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (text: string) => string },
  ): {
    createScriptURL: (text: string) => string;
  };
}

declare global {
  interface Window {
    readonly trustedTypes?: TrustedTypes;
  }
}

/** The runs whose first attempt came to nothing, by their results. */
export const waitingRuns = signal<ReadonlyMap<string, Waiting>>(new Map());

function noteWaiting(result: string, waiting: Waiting | null): void {
  const runs = new Map(waitingRuns.peek());
  if (waiting === null) runs.delete(result);
  else runs.set(result, waiting);
  waitingRuns.value = runs;
}

class Remote {
  private readonly address = workerAddress();
  /** Null when it could not be loaded: the next question tries again. */
  private worker: Worker | null = null;
  private readonly waiting = new Map<number, (answer: Answered) => void>();
  private number = 0;
  /** The functions that the worker knows. */
  private functions: readonly FunctionInfo[] | null = null;

  constructor() {
    // Before it is needed: when the node is gone it could not be loaded any more.
    this.start();
    effect(() => {
      const readsOnly = readOnly.value;
      if (isLoggedIn.value) this.tellLogin(readsOnly);
      else
        void this.ask<'login'>({ kind: 'login', credentials: null, readOnly: readsOnly }).catch(() => null);
    });
  }

  async ask<K extends Kind>(question: Question & { readonly kind: K }): Promise<Answers[K]> {
    if (this.worker === null) {
      this.start();
      this.tellLogin(readOnly.peek());
    }
    return this.send<K>(question);
  }

  judge(code: string, scope: string, functions: readonly FunctionInfo[] | null): Promise<Verdict> {
    const news = functions === this.functions ? null : functions;
    this.functions = functions ?? this.functions;
    return this.ask<'judge'>({ kind: 'judge', code, scope, functions: news });
  }

  private tellLogin(readsOnly: boolean): void {
    void this.send<'login'>({ kind: 'login', credentials: credentialsNow(), readOnly: readsOnly }).catch(
      () => null,
    );
  }

  private async send<K extends Kind>(question: Question & { readonly kind: K }): Promise<Answers[K]> {
    const number = ++this.number;
    const { answer, defect } = await new Promise<Answered>((done) => {
      this.waiting.set(number, done);
      this.worker?.postMessage({ number, question } satisfies Asked);
    });
    if (defect !== null || !isAnswer<K>(answer)) throw new Error(defect ?? 'the worker gave no answer');
    return answer;
  }

  private start(): void {
    const worker = new Worker(this.address, { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<Told>) => {
      if ('waiting' in data) return noteWaiting(data.waiting.result, data.waiting);
      this.waiting.get(data.number)?.(data);
      this.waiting.delete(data.number);
    };
    worker.onerror = () => {
      worker.terminate();
      this.worker = null;
      this.functions = null;
      const waiting = [...this.waiting];
      this.waiting.clear();
      const defect =
        'a part of the console could not be loaded: the node may be gone, or have another version by now';
      for (const [number, done] of waiting) done({ number, answer: null, defect });
    };
    this.worker = worker;
  }
}

/** The worker answers each kind of question with what `Answers` says: both sides are built together. */
function isAnswer<K extends Kind>(answer: Answers[keyof Answers] | null): answer is Answers[K] {
  return answer !== undefined;
}

/** The one script that the page may start, through the one policy that there is. */
function workerAddress(): string {
  const name = pageSays('althing-worker');
  const url = new URL(name, location.href).href;
  const createScriptURL = (text: string): string => {
    if (text !== url) throw new Error(`${text} is no part of the console`);
    return text;
  };
  return window.trustedTypes?.createPolicy('console', { createScriptURL }).createScriptURL(url) ?? url;
}

const remote = new Remote();

/** Asks the worker. */
export async function askWorker<K extends Kind>(
  question: Question & { readonly kind: K },
): Promise<Answers[K]> {
  try {
    const answer = await remote.ask<K>(question);
    if (isRefusal(answer)) logOut('The login is not valid any more. Log in again: your text is kept.');
    return answer;
  } finally {
    const asked: Question = question;
    if (asked.kind === 'run') noteWaiting(asked.result, null);
  }
}

/**
 * Judges a text in the worker: to parse a long one takes longer than a key may.
 *
 * @param functions of the scope; null for who only looks for mistakes
 */
export function judge(
  code: string,
  scope: string,
  functions: readonly FunctionInfo[] | null,
): Promise<Verdict> {
  return remote.judge(code, scope, functions);
}

/** A run whose login the node does not know any more. */
function isRefusal(answer: Answers[keyof Answers]): boolean {
  return (
    typeof answer === 'object' &&
    answer !== null &&
    'ok' in answer &&
    !answer.ok &&
    answer.name === 'auth_err'
  );
}
