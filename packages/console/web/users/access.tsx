/** The privileges of a user on a scope. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { PRIVILEGES, type Privilege } from '../state/session.js';
import { ActionDialog } from '../ui/action.js';
import { ROOT } from './forms.js';

export interface Access {
  readonly user: string;
  readonly scope: string;
  readonly has: ReadonlySet<Privilege>;
}

interface Props {
  readonly access: Access;
  readonly done: () => void;
  readonly close: () => void;
}

export function AccessDialog({ access: { user, scope, has }, done, close }: Props): JSX.Element {
  const [chosen, choose] = useState<ReadonlySet<Privilege>>(has);
  const added = PRIVILEGES.filter((each) => chosen.has(each) && !has.has(each));
  const gone = PRIVILEGES.filter((each) => !chosen.has(each) && has.has(each));
  const code = [
    ...(added.length > 0 ? [`grant(scope, user, ${added.join(' | ')});`] : []),
    ...(gone.length > 0 ? [`revoke(scope, user, ${gone.join(' | ')});`] : []),
  ].join('\n');
  const toggle = (each: Privilege, isChosen: boolean): void => {
    choose(new Set(PRIVILEGES.filter((other) => (other === each ? isChosen : chosen.has(other)))));
  };
  return (
    <ActionDialog
      title="Set privileges"
      what={`${user} on ${scope}`}
      deed={code === '' ? null : { scope: ROOT, code, vars: { scope, user } }}
      done={done}
      close={close}
    >
      <div class="row">
        {PRIVILEGES.map((each) => (
          <label key={each} class="check">
            <input
              type="checkbox"
              checked={chosen.has(each)}
              onChange={(event) => toggle(each, event.currentTarget.checked)}
            />
            {each}
          </label>
        ))}
      </div>
    </ActionDialog>
  );
}
