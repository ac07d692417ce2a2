/** `althing types` against a real node: what it writes compiles strictly, and misuse of it does not. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connect } from '@althing/client';
import { Launched, RealNode } from '@althing/node/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const run = promisify(execFile);
const project = fileURLToPath(new URL('../../../../', import.meta.url));

let node: RealNode;
let folder: string;

beforeAll(async () => {
  node = await RealNode.start();
  folder = mkdtempSync(join(tmpdir(), 'althing-types-'));
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['@althing', '@types']) {
    symlinkSync(join(project, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const db = connect<{ stuff: unknown }>(`http://127.0.0.1:${node.port}`, { token: node.token });
  await db.stuff.query(`
    set_enum('Level', {GUEST: 'guest', HOST: 'host'});
    new_type('Team');
    set_type('Guest', {name: 'str<1:40>', age: 'uint?', level: 'Level{GUEST}', team: 'Team?', tags: '[str]', score: 'float'});
    set_type('Team', {guests: '{Guest}'});
    set_type('_Guest', {name: 'any', inner: {a: 'int'}, label: |g| g.name}, WPO|HID);
    set_type('Root', {guests: '[Guest]'});
    root().to_type('Root');
    new_procedure('add', |name, age| { '@param name str
      @param age uint?
      @returns Guest'; .guests.first(); });
    new_procedure('scale', |by| { '@param by float
      @returns float'; by; });
    new_procedure('anything', |x| x);
    nil;`);
  await db.$root.query(
    "new_user('reader'); set_password('reader', 'reader-password'); grant('//stuff', 'reader', QUERY); nil;",
  );
  await db.$close();
});

afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function types(
  args: readonly string[],
  login: Readonly<Record<string, string>> = { ALTHING_TOKEN: node.token },
): Promise<{ code: number | null; output: string }> {
  const command = [process.execPath, join(project, 'packages/cli/bin/althing.js'), 'types', ...args];
  const program = new Launched(command, {
    environment: { ALTHING_URL: `http://127.0.0.1:${node.port}`, HOME: folder, ...login },
  });
  const { code } = await program.ended;
  return { code, output: program.output };
}

describe('althing types', () => {
  test('writes the same bytes each time, whoever asks', async () => {
    const first = await types(['//stuff']);
    expect(first).toMatchObject({ code: 0, output: expect.stringContaining('export interface Stuff {') });
    expect(await types(['stuff'], { ALTHING_USER: 'reader', ALTHING_PASSWORD: 'reader-password' })).toEqual(
      first,
    );
  });

  test('--check says whether a file is out of date', async () => {
    const { output } = await types(['//stuff']);
    const file = join(folder, 'checked.d.ts');
    writeFileSync(file, output);
    expect(await types(['//stuff', '--check', file])).toEqual({ code: 0, output: '' });
    writeFileSync(file, `${output}\n`);
    expect(await types(['//stuff', '--check', file])).toMatchObject({
      code: 1,
      output: expect.stringContaining('out of date'),
    });
    expect(await types(['//stuff', '--check', join(folder, 'none.d.ts')])).toMatchObject({ code: 1 });
  });

  test('refuses what is no collection, or not there', async () => {
    expect(await types(['@thingsdb'])).toMatchObject({ code: 2 });
    expect(await types(['//nowhere'])).toMatchObject({ code: 1 });
  });

  test('is compiled strictly, and misuse is not', async () => {
    const { output } = await types(['//stuff']);
    writeFileSync(join(folder, 'stuff.d.ts'), output);
    writeFileSync(join(folder, 'use.ts'), USE);
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    const compilerOptions = {
      target: 'es2023',
      lib: ['es2023', 'dom'],
      module: 'nodenext',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      types: ['node'],
      noEmit: true,
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['use.ts'] }));
    const tsc = join(project, 'node_modules/typescript/bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', folder]).catch((error) => ({
      stdout: String(error.stdout),
    }));
    expect(stdout).toBe('');
  });
});

/** Each line behind `@ts-expect-error` must not compile. */
const USE = `
import { connect, Float, type Int, isLoaded, type Ref } from '@althing/client';
import type { Guest, Level, Stuff, Team, _Guest } from './stuff.js';

const db = connect<{ stuff: Stuff }>('http://127.0.0.1');
const ann: Guest = await db.stuff.procs.add('Ann', 31);
const level: Level = ann.level;
const age: Int | null = ann.age;
const named: Guest = await db.stuff.call('add', { name: 'Ann' });
const scaled: number = await db.stuff.procs.scale(new Float(1));
const unknown: unknown = await db.stuff.procs.anything({ any: ['thing', 1n] });
const team: Team | Ref<Team> | null = ann.team;
if (team !== null && isLoaded(team)) for (const guest of team.guests) if (isLoaded(guest)) guest.name.trim();
const wrapped: _Guest = { name: 1, inner: { a: 1n }, label: '' };
const root: Stuff['root'] = { '#': 1, guests: [ann] };
const trials = db.stuff.with({ dryRun: true });
const tried: Guest = (await trials.procs.add('Ann', 31)).result;
const removed: number | undefined = (await trials.call('add', { name: 'Ann' })).changes['things_removed'];
const answer: { readonly result: Int } = await trials.query<Int>('.visits += 1;');
const reading: Guest = await db.stuff.with({ readOnly: true }).procs.add('Ann', 31);
for await (const event of db.stuff.room('lobby').events()) if (event.kind === 'emit') event.args.at(0);
console.log(level, age, named, scaled, unknown, wrapped, root, tried, removed, answer, reading);

// @ts-expect-error there is no such collection
db.other.query('1');
// @ts-expect-error there is no such procedure
db.stuff.procs.remove('Ann');
// @ts-expect-error an argument is missing
db.stuff.procs.add('Ann');
// @ts-expect-error an argument has another type
db.stuff.procs.add(31, 'Ann');
// @ts-expect-error a parameter has another name
db.stuff.call('add', { nme: 'Ann' });
// @ts-expect-error a parameter that has to be given is missing
db.stuff.call('add', { age: 31 });
// @ts-expect-error there is no such procedure
db.stuff.call('remove', {});
// @ts-expect-error depth may have cut the team off
ann.team?.guests.length;
// @ts-expect-error a property that the type does not have
ann.nick;
// @ts-expect-error an int may be a bigint
const years: number = ann.age ?? 0;
// @ts-expect-error no member of the enum
const other: Level = 'admin';
// @ts-expect-error an option that is none
db.stuff.with({ timeout: 5 });
// @ts-expect-error a call that is only tried out gives no guest
trials.procs.add('Ann', 31).then((guest) => guest.name);
// @ts-expect-error nothing is told of rooms
trials.room('lobby');
// @ts-expect-error whether calls are tried out is to be known when it is compiled
db.stuff.with({ dryRun: Math.random() < 0.5 });
// @ts-expect-error a call takes no options
db.stuff.query('1;', {}, { timeoutMs: 5 });
// @ts-expect-error the id of a thing is not to be changed
ann['#'] = 5;
// @ts-expect-error a function can't be an argument
db.stuff.procs.anything(() => 1);
// @ts-expect-error a token and nothing else
connect('http://127.0.0.1', { token: 5 });
// @ts-expect-error nothing is to be assigned to a database
db.stuff = db.stuff;
`;
