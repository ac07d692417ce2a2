/** Backups of all nodes: what each takes, and how it went. Files are not downloaded: they hold hashes of passwords. */
import type { WireValue } from '@althing/client';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { askNodes } from '../state/other-nodes.js';
import { ask, may, mayChange } from '../state/session.js';
import { timeText } from '../state/texts.js';
import { at, itemsOf, listAt, numberAt, textAt, textsOf } from '../state/values.js';
import { ActionDialog } from '../ui/action.js';
import { Copied, Failure, Field, Head, Mark, Part, RowButton, Scroll, useAnswer } from '../ui/parts.js';

type Wish =
  | { readonly kind: 'new'; readonly node: string }
  | { readonly kind: 'delete'; readonly node: string; readonly id: string }
  | { readonly kind: 'restore'; readonly files: readonly string[] };

export function Backups(): JSX.Element {
  const { value, error, again } = useAnswer('backups', async () => ({
    // Files of other nodes are restored in their consoles.
    own: textAt(await ask('@node', 'node_info();'), 'node_id'),
    nodes: await askNodes('backups_info();', itemsOf),
  }));
  const [wish, want] = useState<Wish | null>(null);
  const isEditable = mayChange('@node') && may('GRANT', '@thingsdb');
  const isRestorable = mayChange('@thingsdb') && may('GRANT', '@thingsdb');
  const server = new URL('../', location.href).href;
  return (
    <div class="page">
      <Head title="Backups">
        <button type="button" onClick={again}>
          Refresh
        </button>
      </Head>
      <Failure error={error} />
      {(value?.nodes ?? []).map(({ node, name, answer: backups }) => (
        <Part
          key={node}
          title={`Node ${node} (${name})`}
          actions={
            isEditable && backups !== null ? (
              <button type="button" onClick={() => want({ kind: 'new', node })}>
                New backup<span class="hidden-text"> on node {node}</span>
              </button>
            ) : undefined
          }
        >
          {backups === null ? (
            <p class="quiet">It did not answer.</p>
          ) : backups.length === 0 ? (
            <p class="quiet">
              It takes none by order. Those of the setting backup_interval_ms are not listed.
            </p>
          ) : (
            <Table
              backups={backups}
              remove={isEditable ? (id) => want({ kind: 'delete', node, id }) : null}
              restore={
                isRestorable && node === value?.own ? (files) => want({ kind: 'restore', files }) : null
              }
            />
          )}
        </Part>
      ))}
      <Part title="Elsewhere">
        <Copied
          label="Take one to another machine, look whether it is whole, and restore it"
          text={`althing backup today.backup --url ${server}\nalthing backup --verify today.backup\nalthing restore today.backup --url NEW_CLUSTER`}
        />
      </Part>
      {wish?.kind === 'new' ? <NewBackup node={wish.node} done={again} close={() => want(null)} /> : null}
      {wish?.kind === 'restore' ? <Restore files={wish.files} done={again} close={() => want(null)} /> : null}
      {wish?.kind === 'delete' ? (
        <ActionDialog
          title="End the backup"
          what="No more are taken by this order. The files that there are stay."
          deed={{ scope: `@node:${wish.node}`, code: 'del_backup(id);', vars: { id: BigInt(wish.id) } }}
          done={again}
          close={() => want(null)}
        />
      ) : null}
    </div>
  );
}

function Table({
  backups,
  remove,
  restore,
}: {
  readonly backups: readonly WireValue[];
  readonly remove: ((id: string) => void) | null;
  readonly restore: ((files: readonly string[]) => void) | null;
}): JSX.Element {
  return (
    <Scroll label="Backups">
      <table>
        <thead>
          <tr>
            <th class="end">id</th>
            <th>last run</th>
            <th>next run</th>
            <th>file</th>
            <th class="end">every</th>
            <th class="end">files</th>
            <th>ordered</th>
            {remove === null && restore === null ? null : <th class="end">change</th>}
          </tr>
        </thead>
        <tbody>
          {backups.map((backup) => (
            <tr key={textAt(backup, 'id')}>
              <td class="end">{textAt(backup, 'id')}</td>
              <td class="wide">
                {at(backup, 'result_code') === undefined ? (
                  ''
                ) : (
                  <Mark kind={at(backup, 'result_code') === 0n ? 'good' : 'bad'}>
                    {textAt(backup, 'result_message')}
                  </Mark>
                )}
              </td>
              <td>{textAt(backup, 'next_run')}</td>
              <td class="wide mono">
                {textsOf(at(backup, 'files')).at(-1) ?? textAt(backup, 'file_template')}
              </td>
              <td class="end">{textAt(backup, 'repeat') === '' ? '' : `${textAt(backup, 'repeat')} s`}</td>
              <td class="end">{listAt(backup, 'files').length}</td>
              <td>{timeText(numberAt(backup, 'created_at') ?? 0)}</td>
              {remove === null && restore === null ? null : (
                <td class="end">
                  {restore === null || listAt(backup, 'files').length === 0 ? null : (
                    <RowButton
                      text="restore"
                      about={textAt(backup, 'id')}
                      act={() => restore(textsOf(at(backup, 'files')))}
                    />
                  )}{' '}
                  {remove === null ? null : (
                    <RowButton
                      text="end"
                      about={textAt(backup, 'id')}
                      act={() => remove(textAt(backup, 'id'))}
                    />
                  )}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Choices for what a backup holds beside the data. */
const ACCESS: readonly (readonly [title: string, options: ReadonlyMap<string, boolean>])[] = [
  ['users and access of the backup', new Map()],
  ['of all users only me, with all privileges', new Map([['take_access', true]])],
  ['users, access and tasks of the backup', new Map([['restore_tasks', true]])],
];

function Restore({
  files,
  done,
  close,
}: {
  readonly files: readonly string[];
  readonly done: () => void;
  readonly close: () => void;
}): JSX.Element {
  const [file, choose] = useState(files.at(-1) ?? '');
  const [access, setAccess] = useState(0);
  const options = ACCESS[access]?.[1] ?? new Map();
  return (
    <ActionDialog
      title="Restore"
      what="It replaces all that the cluster holds, users included. Collections must be empty, and everybody logs in again. It takes as long as there are data in the file."
      typed={file.split('/').at(-1) ?? file}
      canBeTried={false}
      deed={{ scope: '@thingsdb', code: 'restore(file, options);', vars: { file, options } }}
      done={done}
      close={close}
    >
      <Field label="File">
        <select value={file} onChange={(event) => choose(event.currentTarget.value)}>
          {files.toReversed().map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </Field>
      <Field label="With">
        <select value={access} onChange={(event) => setAccess(Number(event.currentTarget.value))}>
          {ACCESS.map(([title], i) => (
            <option key={title} value={i}>
              {title}
            </option>
          ))}
        </select>
      </Field>
    </ActionDialog>
  );
}

function NewBackup({
  node,
  done,
  close,
}: {
  readonly node: string;
  readonly done: () => void;
  readonly close: () => void;
}): JSX.Element {
  const [template, setTemplate] = useState('{DATE}/{TIME}.backup');
  const [hours, setHours] = useState('24');
  const [kept, setKept] = useState('14');
  const isGood = [hours, kept].every((each) => /^\d+$/.test(each)) && template !== '';
  const repeats = hours !== '0';
  const vars = { template, repeat: BigInt(isGood ? hours : 0) * 3600n, kept: BigInt(isGood ? kept : 0) };
  const code = repeats ? 'new_backup(template, datetime(), repeat, kept);' : 'new_backup(template);';
  return (
    <ActionDialog
      title="New backup"
      deed={isGood ? { scope: `@node:${node}`, code, vars: repeats ? vars : { template } } : null}
      done={done}
      close={close}
    >
      <Field label="File, below backup_path of the node">
        <input value={template} onInput={(event) => setTemplate(event.currentTarget.value)} />
      </Field>
      <Field label="Every so many hours; 0: once, now">
        <input inputMode="numeric" value={hours} onInput={(event) => setHours(event.currentTarget.value)} />
      </Field>
      <Field label="Files that are kept">
        <input inputMode="numeric" value={kept} onInput={(event) => setKept(event.currentTarget.value)} />
      </Field>
    </ActionDialog>
  );
}
