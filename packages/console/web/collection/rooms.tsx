/** Rooms: join one by its name or id, see what happens in it, and emit. */
import type { RoomEvent } from '@althing/client';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { valueOfText } from '../query/variables.js';
import { ask, database, may } from '../state/session.js';
import { readOnly } from '../state/settings.js';
import { errorText, timeText } from '../state/texts.js';
import { Field, Part, Scroll } from '../ui/parts.js';
import type { SectionProps } from './page.js';

interface Told {
  readonly number: number;
  readonly at: number;
  readonly text: string;
}

/** Events that are kept to be seen. */
const TOLD_MAX = 500;

export function Rooms({ name, scope }: SectionProps): JSX.Element {
  const [typed, type] = useState('');
  const [joined, join] = useState<string | null>(null);
  const [told, tell] = useState<readonly Told[]>([]);
  useEffect(() => {
    if (joined === null) return;
    const controller = new AbortController();
    const note = (text: string): void =>
      tell((before) =>
        [{ number: (before[0]?.number ?? 0) + 1, at: Date.now() / 1000, text }, ...before].slice(0, TOLD_MAX),
      );
    void listen(name, joined, controller.signal, note);
    return () => controller.abort();
  }, [name, joined]);
  if (!may('JOIN', scope)) return <p class="empty">To join a room takes the privilege JOIN on {scope}.</p>;
  return (
    <Part title="Join a room">
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          tell([]);
          join(typed.trim() === '' ? null : typed.trim());
        }}
      >
        <input
          aria-label="Name or id of the room"
          placeholder="name or id"
          value={typed}
          onInput={(event) => type(event.currentTarget.value)}
        />
        <button type="submit" class="main">
          Join
        </button>
        {joined === null ? null : (
          <button type="button" onClick={() => join(null)}>
            Leave {joined}
          </button>
        )}
      </form>
      {joined === null ? (
        <p class="empty">
          A room tells clients of events: <code>.lobby = room(); .lobby.set_name('lobby');</code> makes one.
        </p>
      ) : (
        <Emit scope={scope} room={joined} />
      )}
      <Scroll label="Events">
        <table>
          <tbody aria-live="polite">
            {told.map(({ number, at, text }) => (
              <tr key={number}>
                <td class="quiet num">{timeText(at)}</td>
                <td class="value mono">{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Part>
  );
}

function Emit({ scope, room }: { readonly scope: string; readonly room: string }): JSX.Element {
  const [event, setEvent] = useState('hello');
  const [text, setText] = useState('"world"');
  const [said, say] = useState('');
  const emit = async (submit: Event): Promise<void> => {
    submit.preventDefault();
    try {
      const value = valueOfText('json', text);
      await ask(scope, 'room(room).emit(event, value);', { room: idOrName(room), event, value }, {});
      say('Told.');
    } catch (error) {
      say(errorText(error));
    }
  };
  return (
    <form class="row" onSubmit={(submit) => void emit(submit)}>
      <Field label="Event">
        <input value={event} onInput={(input) => setEvent(input.currentTarget.value)} />
      </Field>
      <Field label="Value, as JSON">
        <input value={text} onInput={(input) => setText(input.currentTarget.value)} />
      </Field>
      <button type="submit" disabled={readOnly.value}>
        Emit
      </button>
      <span role="status">{said}</span>
    </form>
  );
}

async function listen(
  collection: string,
  room: string,
  signal: AbortSignal,
  note: (text: string) => void,
): Promise<void> {
  try {
    for await (const event of database().$collection(collection).room(idOrName(room)).events({ signal }))
      note(textOf(event));
  } catch (error) {
    if (!signal.aborted) note(errorText(error));
  }
}

function textOf(event: RoomEvent): string {
  switch (event.kind) {
    case 'joined':
      return `joined room:${event.room}`;
    case 'emit':
      return `${event.event} ${event.args.map((each) => JSON.stringify(each, (_, value) => (typeof value === 'bigint' ? String(value) : value))).join(' ')}`;
    case 'gap':
      return 'some events may be missing here';
    case 'deleted':
      return 'the room is no more';
  }
}

function idOrName(room: string): string | bigint {
  return /^\d+$/.test(room) ? BigInt(room) : room;
}
