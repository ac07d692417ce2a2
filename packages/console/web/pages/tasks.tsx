/** Tasks of all scopes that the user may see. */
import { AlthingError, type WireValue } from '@althing/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { scalarText } from '../results/show.js';
import { collectionScope, collections } from '../state/names.js';
import { ask, mayChange } from '../state/session.js';
import { itemsOf } from '../state/values.js';
import { ActionDialog } from '../ui/action.js';
import { Failure, Head, Mark, Scroll, useAnswer } from '../ui/parts.js';

interface Task {
  readonly scope: string;
  readonly id: bigint;
  readonly at: WireValue;
  readonly owner: WireValue;
  readonly args: WireValue;
  readonly error: WireValue;
  readonly code: string;
}

const CODE = `tasks().map(|t| {
  e = t.err();
  [t.id(), t.at(), t.owner(), t.args(), is_err(e) ? e.msg() : nil, str(t.closure())];
});`;

async function tasksOf(scopes: readonly string[]): Promise<Task[]> {
  const lists = await Promise.all(
    scopes.map(async (scope) => {
      try {
        return itemsOf(await ask(scope, CODE)).map((each): Task => {
          const [id, at = null, owner = null, args = null, error = null, code] = itemsOf(each);
          return { scope, id: typeof id === 'bigint' ? id : 0n, at, owner, args, error, code: String(code) };
        });
      } catch (error) {
        if (error instanceof AlthingError && error.name === 'forbidden_err') return [];
        throw error;
      }
    }),
  );
  return lists.flat();
}

type Wish = { readonly kind: 'cancel' | 'delete' | 'again'; readonly task: Task };

const CODES = {
  cancel: 'task(id).cancel();',
  delete: 'wse(); task(id).del();',
  again: 'wse(); t = task(id); task(datetime(), t.closure(), t.args()); nil;',
} as const;

const TITLES = { cancel: 'Cancel the task', delete: 'Delete the task', again: 'Run a copy now' } as const;

export function Tasks(): JSX.Element {
  const scopes = ['@thingsdb', ...(collections.value ?? []).map(collectionScope)];
  const { value: tasks, error, again } = useAnswer(scopes.join(), () => tasksOf(scopes));
  const [wish, want] = useState<Wish | null>(null);
  return (
    <div class="page">
      <Head title="Tasks">
        <button type="button" onClick={again}>
          Refresh
        </button>
      </Head>
      <Failure error={error} />
      {tasks === null ? null : tasks.length === 0 ? (
        <p class="empty">
          A task is a closure that runs at a time:{' '}
          <code>task(datetime().move('hours', 1), |t| .visits = 0);</code> There are none.
        </p>
      ) : (
        <Scroll label="Tasks">
          <table>
            <thead>
              <tr>
                <th>scope</th>
                <th class="end">id</th>
                <th>runs at</th>
                <th>owner</th>
                <th>arguments</th>
                <th>last run</th>
                <th>code</th>
                <th class="end">change</th>
              </tr>
            </thead>
            <tbody>
              {tasks.map((task) => (
                <tr key={`${task.scope} ${task.id}`}>
                  <td>{task.scope.replace('@collection:', '')}</td>
                  <td class="end">{String(task.id)}</td>
                  <td>{task.at === null ? <Mark kind="quiet">not scheduled</Mark> : String(task.at)}</td>
                  <td>{String(task.owner)}</td>
                  <td class="mono wide">{scalarText(task.args)}</td>
                  <td class="wide">
                    {task.error === null ? '' : <Mark kind="bad">{String(task.error)}</Mark>}
                  </td>
                  <td class="mono wide">{task.code.slice(0, 200)}</td>
                  <td class="end">
                    {mayChange(task.scope) ? (
                      <Wishes want={(kind) => want({ kind, task })} id={task.id} />
                    ) : null}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {wish === null ? null : (
        <ActionDialog
          title={TITLES[wish.kind]}
          deed={{ scope: wish.task.scope, code: CODES[wish.kind], vars: { id: wish.task.id } }}
          done={again}
          close={() => want(null)}
        />
      )}
    </div>
  );
}

function Wishes({
  want,
  id,
}: {
  readonly want: (kind: Wish['kind']) => void;
  readonly id: bigint;
}): JSX.Element {
  return (
    <span class="actions">
      {(['again', 'cancel', 'delete'] as const).map((kind) => (
        <button key={kind} type="button" class="link" onClick={() => want(kind)}>
          {kind === 'again' ? 'run now' : kind}
          <span class="hidden-text"> {String(id)}</span>
        </button>
      ))}
    </span>
  );
}
