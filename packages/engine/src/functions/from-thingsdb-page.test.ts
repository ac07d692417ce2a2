/** The rows of docs/from-thingsdb.md: those with a query run here, each in a collection of its own, and the others name their tests. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Harness, type Plain } from '../testing/harness.js';
import { Float } from '../value/scalars.js';

const page = readFileSync(new URL('../../../../docs/from-thingsdb.md', import.meta.url), 'utf8');

/** Queries, what ThingsDB answers to the last of them, and what Althing does. */
const rows = page
  .split('\n')
  .filter((line) => /^\| ``?[^`]/.test(line))
  .map((line) => {
    const [queries = '', theirs = '', ours = ''] = line.slice(2, -2).split(' | ');
    return {
      queries: queries.split('<br>').map(codeIn),
      theirs: theirs.replaceAll('`', ''),
      ours: codeIn(ours),
    };
  });

/** Tests by what stands in front of a row or an entry of a list: a file below `packages/`, and titles in it. */
const TESTS: Readonly<Record<string, Readonly<Record<string, readonly (readonly [string, ...string[]])[]>>>> =
  {
    'The language': {
      'A query is atomic.': [
        [
          'engine/src/decisions.test.ts',
          '1 atomic queries: one that ends in an error changes nothing; a try is no transaction; one operation is whole',
        ],
        [
          'engine/src/functions/rooms.test.ts',
          'events come in the order of emits, with the depth that is asked for, and of what succeeded alone',
        ],
      ],
      'Text is Unicode.': [
        [
          'engine/src/decisions.test.ts',
          '2 text is Unicode: everything counts code points, and bytes count bytes',
        ],
      ],
      'Times without an offset': [
        [
          'engine/src/decisions.test.ts',
          '3 local time: summer time counts; in a gap time moves forward, in an overlap the first one is meant',
        ],
      ],
      JSON: [
        [
          'engine/src/decisions.test.ts',
          '5 JSON: exactly RFC 8259 is read; floats are written shortest and stay floats',
        ],
      ],
      "A literal that can't be": [
        ['engine/src/decisions.test.ts', '6 literals: one that can not be fails before anything runs'],
      ],
      'A token': [
        ['verification/src/bad-input/authentication.test.ts', 'a key is shown once, and passwords never'],
      ],
      '`import`, `mod_type` and `mod_enum` with callbacks, joins of several rooms': [
        ['engine/src/functions/import.test.ts', 'is complete, or nothing is left of it'],
        ['engine/src/functions/types.test.ts', 'a closure that fails for an instance puts all of them back'],
        ['engine/src/functions/enums.test.ts', 'a failed query takes the deletion back'],
        ['node/src/listen/native/rooms.test.ts', 'a wrong JOIN is told, and nothing is joined'],
      ],
      'A task': [
        [
          'engine/src/functions/tasks.test.ts',
          'is one of its owner, with the privileges that it has then',
          'belong to their owner: others need GRANT, and go with it when it is deleted',
        ],
      ],
      Modules: [['node/src/modules/modules.test.ts', 'nothing runs where modules are turned off']],
      Futures: [
        [
          'engine/src/functions/future.test.ts',
          'futures that make futures without end are ended where they are 255 deep',
        ],
      ],
      'A long query': [
        [
          'engine/src/run/slice.test.ts',
          'a slice that is too short has changed nothing, and the query may run again',
        ],
      ],
      'A whitelist of procedures': [
        ['node/src/requests/checks.test.ts', 'does not tell which of those that it does not allow exist'],
        [
          'node/src/events/rooms.test.ts',
          'joins nothing with what is refused, and is out at once without the privilege',
        ],
      ],
      'A user without any privilege': [
        [
          'node/src/requests/checks.test.ts',
          'learns neither whether there is one nor what is wrong with its values',
        ],
      ],
      'Limits.': [['engine/src/decisions.test.ts', '15 limits: what would hang or crash gives an error']],
    },
    'The cluster': {
      'a node is away in turns, to store': [
        [
          'node/src/state/checkpointer.test.ts',
          'stands for the place of what it holds, and the log behind it is applied after a restart',
          'takes longer turns the longer it takes, beside work that never ends',
        ],
      ],
      'a change is answered': [
        [
          'node/src/requests/cluster.test.ts',
          'changes without a majority are refused clearly, stale reads go on, and service comes back by itself',
        ],
        [
          'verification/src/durability/power.test.ts',
          `\${ROUNDS} cuts: the node ends with code 1, and after them every acknowledged write is there, and no half query`,
        ],
      ],
      'a read': [
        [
          'node/src/requests/cluster.test.ts',
          'a change is seen at every node as soon as it is acknowledged',
          'changes without a majority are refused clearly, stale reads go on, and service comes back by itself',
        ],
        [
          'node/src/listen/auth/stale.test.ts',
          '%s serves nobody after a while, and the next request as soon as it is ready again',
        ],
      ],
      'requests of one connection': [
        ['node/src/listen/native/protocol.test.ts', 'are carried out in the order in which they came'],
      ],
      'a changed password, a deleted token or user': [
        [
          'node/src/listen/native/protocol.test.ts',
          'holds as long as the password, the token and the user do',
          'holds on the connection by which users change their own password, and on no other one',
        ],
      ],
      'a revoked right': [
        [
          'node/src/listen/native/protocol.test.ts',
          'holds as long as the password, the token and the user do',
        ],
      ],
      'the page `/status` of the status port': [
        ['node/src/operate/status/status-server.test.ts', 'says what the node says'],
      ],
      'the log': [
        [
          'verification/src/bad-input/log.test.ts',
          'is one object a line, whatever clients log, name or send',
        ],
        ['node/src/config/config.test.ts', 'the defaults hold where nothing is set'],
      ],
      'ports without a setting': [
        ['node/src/config/config.test.ts', 'the defaults hold where nothing is set'],
        ['cli/src/thingsdb.test.ts', 'has the defaults of ThingsDB, where nothing says otherwise'],
      ],
      'beyond this machine': [
        [
          'verification/src/bad-input/authentication.test.ts',
          'refuses to listen to a network with a password that everybody knows',
        ],
      ],
    },
    Errors: {
      'Codes and names are the same': [
        ['engine/src/functions/core.test.ts', '%s without a message has the documented text'],
        ['node/src/listen/http/api.test.ts', '%s: %s', 'a name that exists already is a conflict'],
        ['node/src/listen/http/reply.test.ts', 'says what became of the changes: %s'],
      ],
    },
    Clients: {
      'The libraries of ThingsDB connect': [
        [
          'node/src/listen/native/protocol.test.ts',
          'are answered as in the examples',
          'holds as long as the password, the token and the user do',
        ],
        [
          'node/src/listen/native/outgoing.test.ts',
          'leave later than it, in a write of their own and in order',
        ],
        [
          'node/src/listen/websocket/websocket.test.ts',
          'hold a package each, in frames of any size, cut anywhere, with pings between them',
          'is for pages of origins that may use the API',
        ],
        ['node/src/listen/http/api.test.ts', '%s is the root scope'],
      ],
    },
    'How to move': {
      'Start Althing beside the ThingsDB': [
        ['cli/src/thingsdb.test.ts', 'has the defaults of ThingsDB, where nothing says otherwise'],
      ],
      '`althing migrate SOURCE --dry-run`': [
        [
          'cli/src/migrate/migrate.test.ts',
          'a dry run tells what would come, and changes nothing',
          'an archive comes as a whole, takes the place of what is empty, and comes once',
        ],
      ],
      'a backup archive': [
        [
          'node/src/backup/thingsdb-archive.test.ts',
          'a collection of a backup archive is what ThingsDB restores of it, byte for byte',
          'so is one of the folder of a store',
          'users come with passwords, tokens, rights and whitelists',
        ],
        [
          'engine/src/thingsdb/changes.test.ts',
          'count once where they overlap, and not at all where the store has them',
        ],
      ],
      '`thingsdb://USER@HOST:9200`': [
        [
          'cli/src/migrate/migrate.test.ts',
          'a ThingsDB that runs is asked by its own protocol, and tells no passwords',
        ],
      ],
      'Collections come with ids': [
        [
          'cli/src/migrate/migrate.test.ts',
          'an archive comes as a whole, takes the place of what is empty, and comes once',
          'users log in with the tokens and passwords that they had, under the whitelists that they had',
          'a collection in the way stays as it is, and is told',
        ],
        ['engine/src/functions/import-user.test.ts', 'leaves the password of a user who has one'],
        [
          'node/src/backup/import.test.ts',
          'goes on where clients and nodes that were killed left it, and ends with the same',
        ],
        [
          'node/src/backup/thingsdb-archive.test.ts',
          'a file of a store that is too large is refused',
          'an archive that unpacks to far more than it is, is refused before it is in memory',
        ],
      ],
      'Make modules anew': [
        ['cli/src/migrate/migrate.test.ts', 'a dry run tells what would come, and changes nothing'],
      ],
      // It is advice.
      'Run your own tests against both': [],
    },
    'What is different behind a migration': {
      'Passwords are kept by ThingsDB under a weak hash.': [
        [
          'engine/src/functions/import-user.test.ts',
          'makes a user with the password and the tokens that it had',
        ],
        [
          'node/src/requests/password.test.ts',
          'tell a password of which only the hash of ThingsDB came, and become its own with the same salt',
        ],
        [
          'node/src/listen/auth/authenticator.test.ts',
          'passwords that came as hashes of ThingsDB are told, once they are right, so that they get hashes of their own',
        ],
        [
          'cli/src/migrate/migrate.test.ts',
          'users log in with the tokens and passwords that they had, under the whitelists that they had',
        ],
      ],
      'The tasks of `@thingsdb` have new ids': [
        [
          'cli/src/migrate/migrate.test.ts',
          'a ThingsDB that runs is asked by its own protocol, and tells no passwords',
          'a migrated scope has the times of the migration, new ids of tasks, and all rights for the user who brought it',
        ],
      ],
      'Times at which collections and procedures': [
        [
          'cli/src/migrate/migrate.test.ts',
          'a migrated scope has the times of the migration, new ids of tasks, and all rights for the user who brought it',
        ],
      ],
    },
    'What a dump brings': {
      '`export({dump: true})` in each collection': [
        ['node/src/backup/thingsdb.test.ts', 'a dump of ThingsDB becomes an export of ours, with tasks: %s'],
        ['engine/src/thingsdb/samples.test.ts', '$name: $title'],
      ],
      'Everything that is in it': [
        ['engine/src/thingsdb/samples.test.ts', '$name: $title', 'a dump that is odd or wrong: $name'],
        ['node/src/backup/thingsdb.test.ts', 'a dump that is cut off is damaged, at a place'],
      ],
      'a `str` that is no UTF-8': [
        [
          'engine/src/thingsdb/dump.test.ts',
          'a str that is no UTF-8 comes as bytes, and is refused where a property takes text only',
        ],
      ],
      'a length, as in `str<3:5>`, counts bytes': [
        [
          'engine/src/thingsdb/dump.test.ts',
          'a length of a text counts characters, and one of another length is refused with its place',
        ],
      ],
      'a root with another id than 1': [
        [
          'engine/src/thingsdb/dump.test.ts',
          'a root with another id than 1 gets that, and all others keep theirs',
        ],
      ],
      "a pattern that can't be matched in bounded time, as `(?R)`": [
        [
          'engine/src/thingsdb/dump.test.ts',
          'a pattern that can not be matched in bounded time is refused with its place',
        ],
      ],
      'members of a set in no order': [
        ['engine/src/thingsdb/dump.test.ts', 'members of a set come in the order of the dump'],
      ],
      'lists in each other beyond 500 levels': [
        ['engine/src/thingsdb/dump.test.ts', 'lists nest to 500 levels, and things without limit'],
      ],
    },
    'The way back': {
      '`althing export //NAME FILE --thingsdb`': [
        [
          'engine/src/thingsdb/dump-writer.test.ts',
          'has the bytes that ThingsDB wrote: $name',
          'tells what ThingsDB can not hold',
        ],
        [
          'cli/src/migrate/migrate.test.ts',
          'a collection goes back as a dump of the version that is named, which comes again',
        ],
      ],
    },
  };

describe('the page for those who come from ThingsDB', () => {
  test('has no section without tests', () => {
    expect(Array.from(page.matchAll(/^##+ (.*)$/gm), ([, name]) => name).sort()).toEqual(
      Object.keys(TESTS).sort(),
    );
  });

  test('has queries, and each is answered in another way', () => {
    expect(rows.length).toBeGreaterThan(25);
    expect(rows.filter(({ theirs, ours }) => theirs === ours.replace(/^error /, ''))).toEqual([]);
  });

  test.each(rows)('$queries', ({ queries, ours }) => {
    const db = new Harness();
    const last = queries.pop() ?? '';
    for (const query of queries) db.outcome(query);
    expect(ours.startsWith('error ') ? `error ${db.error(last)}` : textOf(db.run(last))).toBe(ours);
  });
});

describe.each(Object.entries(TESTS))('%s: what has no query', (section, tests) => {
  test('names its tests, row by row', () => {
    const told = claimsOf(section);
    const named = Object.keys(tests);
    expect(told.length).toBe(named.length);
    expect(told.filter((claim, at) => !claim.startsWith(named[at] ?? '?'))).toEqual([]);
  });

  test.each(Object.entries(tests))('%s', (_, files) => {
    for (const [path, ...titles] of files) {
      const source = readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
      const missing = titles.filter((title) => !isTitle(title, source));
      expect([path, missing]).toEqual([path, []]);
    }
  });
});

/** The beginnings of rows without a query, of entries of lists and of paragraphs in a section of the page; heads of tables are none. */
function claimsOf(section: string): string[] {
  const lines = (page.split(`# ${section}\n`)[1]?.split(/^#/m)[0] ?? '').split('\n');
  const isHead = (at: number): boolean => lines[at + 1]?.trimStart().startsWith('| ---') === true;
  const isClaim = (line: string, at: number): boolean =>
    /^( *- | *\d+\. |\| (?!``?[^`]|---)| +\| (?!---))/.test(line) ||
    (/^ *[^ |]/.test(line) && lines[at - 1] === '');
  return lines
    .filter((line, at) => isClaim(line, at) && !isHead(at))
    .map((line) => line.replace(/^ *(- |\d+\. |\| )?/, '').replaceAll('**', ''));
}

/** True if a test of a file has a title. */
function isTitle(title: string, source: string): boolean {
  return ["'", '"', '`'].some((quote) => {
    const at = source.indexOf(`${quote}${title}${quote},`);
    return at >= 0 && /\(\s*$/.test(source.slice(0, at));
  });
}

/** The text of a code span in a table, where a vertical bar is written with a backslash. */
function codeIn(span: string): string {
  return span.replace(/^(``?)(.*)\1$/, '$2').replaceAll('\\|', '|');
}

/** As JSON, with ints of any size, and floats that show that they are. */
function textOf(value: Plain): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Float)
    return Number.isInteger(value.value) ? value.value.toFixed(1) : String(value.value);
  return JSON.stringify(value);
}
