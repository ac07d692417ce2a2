/** The definitions of a collection as a script, and how all of it is moved. */
import type { JSX } from 'preact';
import { ask } from '../state/session.js';
import { Copied, Failure, Part, useAnswer } from '../ui/parts.js';
import type { SectionProps } from './page.js';

export function Export({ name, scope }: SectionProps): JSX.Element {
  const { value: script, error } = useAnswer(`export ${scope}`, async () =>
    String(await ask(scope, 'export();')),
  );
  const server = new URL('../', location.href).href;
  return (
    <>
      <Part title="Definitions">
        <Failure error={error} />
        {script === null ? null : (
          <Copied
            label="A script that makes types, enums and procedures again, in an empty collection"
            text={script}
          />
        )}
      </Part>
      <Part title="Everything">
        <p class="quiet">
          A collection of any size is moved by the command line; the file holds all of its data.
        </p>
        <Copied
          label="Export and import"
          text={`althing export //${name} ${name}.export --url ${server}\nalthing import //${name}2 ${name}.export --url ${server}`}
        />
      </Part>
    </>
  );
}
