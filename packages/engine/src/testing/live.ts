import { Life } from './life.js';
import { type Pick, SETUP, STATEMENTS } from './life-statements.js';

export interface Step {
  readonly kind:
    | 'query'
    | 'elsewhere'
    | 'commit'
    | 'depose'
    | 'begin'
    | 'encode'
    | 'finish'
    | 'fail'
    | 'evict'
    | 'restart'
    | 'mark'
    | 'sweep'
    | 'build'
    | 'expire'
    | 'work'
    | 'look';
  readonly choices: readonly number[];
}

/** @throws Error where anything is wrong on the way, with the steps */
export function live(steps: readonly Step[]): Life {
  const life = new Life();
  life.query(SETUP, true);
  life.commit();
  life.begin();
  life.finish(true);
  const done: string[] = [];
  try {
    for (const { kind, choices } of steps) {
      let next = 0;
      const pick: Pick = (limit) => (choices[next++ % choices.length] as number) % limit;
      done.push(kind);
      if (kind === 'query' || kind === 'elsewhere') {
        const count = 1 + pick(4);
        const codes = Array.from({ length: count }, () =>
          (STATEMENTS[pick(STATEMENTS.length)] as (typeof STATEMENTS)[0])(pick),
        );
        const ending = pick(4);
        const parts = codes.map((code) => (pick(2) === 0 ? `try({${code}})` : code));
        if (ending === 0) parts.push("raise('stop')");
        done[done.length - 1] = `${kind}: ${parts.join('; ')}`;
        if (kind === 'query') life.query(parts.join('; '));
        else life.queryElsewhere(parts.join('; '));
      } else if (kind === 'commit') life.commit();
      else if (kind === 'depose') life.depose(1 + pick(3));
      else if (kind === 'begin') life.begin();
      else if (kind === 'encode') life.encode(1 + pick(12));
      else if (kind === 'finish') life.finish(true);
      else if (kind === 'fail') life.finish(false);
      else if (kind === 'evict') life.evict();
      else if (kind === 'restart') life.restart();
      else if (kind === 'mark') life.mark(1 + pick(600));
      else if (kind === 'sweep') {
        life.mark(1);
        life.sweep();
      } else if (kind === 'build') life.build(1 + pick(60));
      else if (kind === 'expire') life.expire(pick(20), 1 + pick(2000));
      else if (kind === 'work') life.work(1 + pick(200));
      else life.look();
    }
    done.push('end');
    life.finish(true);
    life.look();
    life.evict();
    life.begin();
    life.finish(true);
    life.restart();
    life.look();
    return life;
  } catch (error) {
    throw new Error(`${done.join('\n')}\n${(error as Error).stack}`);
  }
}
