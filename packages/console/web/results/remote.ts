/** The page's side of the worker that runs queries. */
import { effect } from '@preact/signals';
import { credentialsNow, isLoggedIn } from '../state/session.js';
import { pageSays, readOnly } from '../state/settings.js';
import type { Answered, Answers, Asked, Question } from './protocol.js';

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

class Remote {
  private readonly worker: Worker;
  private readonly waiting = new Map<number, { done: (answer: Answered) => void }>();
  private number = 0;

  constructor() {
    this.worker = new Worker(workerAddress(), { type: 'module' });
    this.worker.onmessage = ({ data }: MessageEvent<Answered>) => {
      this.waiting.get(data.number)?.done(data);
      this.waiting.delete(data.number);
    };
    effect(() => {
      const credentials = isLoggedIn.value ? credentialsNow() : null;
      void this.ask({ kind: 'login', credentials, readOnly: readOnly.value });
    });
  }

  async ask<K extends Kind>(question: Question & { readonly kind: K }): Promise<Answers[K]> {
    const number = ++this.number;
    const asked: Asked = { number, question };
    const { answer, defect } = await new Promise<Answered>((done) => {
      this.waiting.set(number, { done });
      this.worker.postMessage(asked);
    });
    if (defect !== null || !isAnswer<K>(answer)) throw new Error(defect ?? 'the worker gave no answer');
    return answer;
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

let remote: Remote | null = null;

/** Asks the worker, which is started by the first question. */
export function askWorker<K extends Kind>(question: Question & { readonly kind: K }): Promise<Answers[K]> {
  remote ??= new Remote();
  return remote.ask<K>(question);
}
