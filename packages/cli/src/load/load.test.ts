/** Files that are loaded into a real node. */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { connect } from '@althing/client';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { main } from '../program.js';
import { type OwnNode, startOwnNode } from '../shell/testing.js';
import { FakeIo } from '../testing.js';

let node: OwnNode;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'althing-load-test-'));
  node = await startOwnNode();
  await query(`
    set_enum('State', {OPEN: 'open', PAID: 'paid'}); new_type('Order'); set_type('Customer', {email: 'str', orders: '{Order}'});
    set_type('Order', {nr: 'int', customer: 'Customer?', at: 'datetime?', amount: 'float', state: 'State', tags: '[str]', note: 'str?'});`);
  await query(`mod_type('Customer', 'rel', 'orders', 'customer');
    new_index('Customer', 'email', UNIQUE); new_index('Order', 'nr', UNIQUE);
    .customers = [Customer{email: 'ann@x.org'}, Customer{email: 'bob@x.org'}]; nil;`);
});

beforeEach(() =>
  query(
    '.customers.each(|c| c.orders.clear()); .orders = []; .map = {}; loads_info().each(|l| del_load(l.name)); nil;',
  ),
);

afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function query(code: string): Promise<unknown> {
  const db = connect(node.url, { user: 'admin', password: 'pass', attemptsMax: 1 });
  try {
    return await db.$scope('//stuff').query(code);
  } finally {
    await db.$close();
  }
}

function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function load(file: string, args: readonly string[] = [], input?: string, url = node.url) {
  const io = new FakeIo({ ALTHING_URL: url, ALTHING_USER: 'admin:pass' }, input);
  const into = args.includes('--into') ? [] : ['--into', 'orders'];
  const code = await main(['load', '//stuff', 'Order', file, ...into, ...args], io);
  return { code, errors: io.errors };
}

const CSV = `Number,Email,Made,amount,state,tags,note
1,ann@x.org,03.02.2024,1.5,open,"[""a"", ""b""]","a ""note"",
of two lines"
2,bob@x.org,04.02.2024,2,paid,[],
3,,,7,open,,""
`;
const MAP = ['--map', 'nr=Number,customer=@Customer.email:Email,at=datetime(Made,"%d.%m.%Y")'];

test('a row that the node can not take in is told by its line, and may be refused as others', async () => {
  const row = (nr: string, more = ''): string => `{"nr":${nr},"amount":1.5${more}}\n`;
  const rows = [
    row('1'),
    row('9223372036854775808'),
    row('3'),
    row('4', ',"note":"\\ud800"'),
    row('5', ',"customer":{"#":3}'),
    row('6'),
  ];
  const file = fileOf('beyond.jsonl', rows.join(''));
  const { code, errors } = await load(file);
  expect([code, errors]).toEqual([1, expect.stringMatching(/ line 2: the integer 9223372036854775808 is /)]);
  const rejects = join(folder, 'beyond.rejects');
  const allowed = await load(file, ['--errors', '3', '--rejects', rejects]);
  expect([allowed.code, allowed.errors]).toEqual([
    0,
    expect.stringMatching(/line 4: .*line 5: the key '#' is /s),
  ]);
  expect(await query('.orders.map(|o| o.nr);')).toEqual([1, 3, 6]);
  expect(readFileSync(rejects, 'utf8')).toBe([rows[1], rows[3], rows[4]].join(''));
});

test('the file that is loaded takes no refused rows', async () => {
  const file = fileOf('own.jsonl', '{"nr":"x"}\n');
  symlinkSync(file, join(folder, 'own.link'));
  for (const rejects of [file, join(folder, '.', 'own.jsonl'), join(folder, 'own.link')]) {
    const { code, errors } = await load(file, ['--errors', '5', '--rejects', rejects]);
    expect([code, errors]).toEqual([2, expect.stringContaining('is the file that is loaded')]);
  }
  expect(readFileSync(file, 'utf8')).toBe('{"nr":"x"}\n');
});

test('a refused row of two lines is kept once, also when the load goes on behind it', async () => {
  const file = fileOf('two-lines.csv', 'nr,note\nx,"a\nb"\n');
  const rejects = join(folder, 'two-lines.rejects');
  for (const told of ['1 refused', '1 done before'])
    expect((await load(file, ['--errors', '1', '--rejects', rejects])).errors).toContain(told);
  expect(readFileSync(rejects, 'utf8')).toBe('x,"a\nb"\n');
});

test('a CSV becomes things with references, dates, members of enums, and defaults', async () => {
  const { code, errors } = await load(fileOf('a.csv', `\ufeff${CSV}`), MAP);
  expect([code, errors]).toEqual([0, expect.stringMatching(/^3 made; \d+ rows a second\n$/)]);
  const rows =
    '.orders.map(|o| [o.nr, o.customer && o.customer.email, o.at && o.at.format("%Y-%m-%d"), o.amount, o.state.name(), o.tags, o.note]);';
  expect(await query(rows)).toEqual([
    [1, 'ann@x.org', '2024-02-03', 1.5, 'OPEN', ['a', 'b'], 'a "note",\nof two lines'],
    [2, 'bob@x.org', '2024-02-04', 2, 'PAID', [], null],
    [3, null, null, 7, 'OPEN', [], ''],
  ]);
  expect(await query('.customers.map(|c| c.orders.len());')).toEqual([1, 1]);
});

test('the same command makes nothing twice, and goes on where a run before ended', async () => {
  const lines = Array.from({ length: 500 }, (_, nr) => JSON.stringify({ nr, amount: nr, state: 'open' }));
  const half = fileOf('a.jsonl', `${lines.slice(0, 200).join('\n')}\n`);
  // A name of one's own, since the file grows within what it is known by.
  expect((await load(half)).code).toBe(0);
  expect((await load(half)).errors).toContain('0 made, 200 done before');
  const all = fileOf('b.jsonl.gz', gzipSync(lines.join('\n')));
  await query('.orders = [];');
  expect((await load(all, ['--rate', '100000'])).errors).toContain('500 made');
  expect((await load(all, ['--rate', '100000'])).errors).toContain('0 made, 500 done before');
  expect(await query('.orders.map(|o| o.nr) == range(500);')).toBe(true);
});

test('another file under the name of a load is refused', async () => {
  expect((await load(fileOf('a.jsonl', '{"nr": 1}\n'), ['--id', 'mine'])).code).toBe(0);
  const { code, errors } = await load(fileOf('b.jsonl', '{"nr": 2}\n'), ['--id', 'mine']);
  expect(code).toBe(1);
  expect(errors).toContain('of another file, or another plan');
});

test('steps are as large as the node takes in its time, however far away it is', async () => {
  let asked = 0;
  const far = createServer((incoming, answer) => {
    asked += 1;
    const { method, headers, url } = incoming;
    const onward = request(`${node.url}${url}`, { method, headers }, (reply) => {
      setTimeout(() => {
        answer.writeHead(reply.statusCode ?? 0, reply.headers);
        reply.pipe(answer);
      }, 60);
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((listens) => far.listen(0, '127.0.0.1', listens));
  const { port } = far.address() as AddressInfo;
  const rows = Array.from({ length: 1500 }, (_, nr) => JSON.stringify({ nr })).join('\n');
  const { errors } = await load(fileOf('far.jsonl', rows), [], undefined, `http://127.0.0.1:${port}`);
  far.closeAllConnections();
  far.close();
  expect(errors).toContain('1500 made');
  expect(asked).toBeLessThan(40);
});

const BAD = `{"nr": 1}\n{"nr": "x"}\nno json\n\n[1]\n{"nr": 2}\n{"nr": 1}\n`;

test('a row that does not fit ends the load with its line, and its step makes nothing', async () => {
  const { code, errors } = await load(fileOf('bad.jsonl', BAD));
  expect(code).toBe(1);
  expect(errors).toMatch(/line 2: type `Order`, property `nr`: .*0 rows are done, and this step made none/);
  expect(await query('[.orders.len(), loads_info().len()];')).toEqual([0, 0]);
});

test('rows that may be refused are told with their lines, and kept as they are', async () => {
  const rejects = join(folder, 'rejects.jsonl');
  const { code, errors } = await load(fileOf('bad.jsonl', BAD), ['--errors', '4', '--rejects', rejects]);
  expect(code).toBe(0);
  expect(errors).toContain('2 made, 4 refused');
  expect(errors).toMatch(/line 3: this is no JSON.*\nline 5: this is no JSON object\nline 7: .*#\d+ already/);
  expect(readFileSync(rejects, 'utf8')).toBe('{"nr": "x"}\nno json\n[1]\n{"nr": 1}\n');
  expect(await query('return load_info(loads_info()[0].name), 2;')).toMatchObject({ rows: 6, refused: 4 });
});

test('rows whose unique value is there are skipped, or replace what is there', async () => {
  await load(fileOf('a.jsonl', '{"nr": 1, "note": "old"}\n{"nr": 2}\n'));
  const more = fileOf('b.jsonl', '{"nr": 1, "note": "new"}\n{"nr": 3}\n');
  expect((await load(more, ['--on-duplicate', 'skip'])).errors).toContain(
    '1 made, 1 skipped, which are there',
  );
  expect(await query('.orders.map(|o| [o.nr, o.note]);')).toEqual([
    [1, 'old'],
    [2, null],
    [3, null],
  ]);
  expect((await load(more, ['--on-duplicate', 'replace', '--unique', 'nr'])).code).toBe(0);
  expect(await query('.orders.map(|o| [o.nr, o.note]);')).toEqual([
    [1, 'new'],
    [2, null],
    [3, null],
  ]);
});

test('rows go into a thing by a key, from the standard input', async () => {
  const args = ['--into', 'map', '--key', 'nr', '--format', 'tsv', '--columns', 'nr,note'];
  expect((await load('-', args, '7\ta\n8\tb\n')).code).toBe(0);
  expect(await query('[.map.keys(), .map["8"].note];')).toEqual([['7', '8'], 'b']);
});

test('a dry run tries everything, and leaves nothing', async () => {
  const { code, errors } = await load(fileOf('a.csv', CSV), [...MAP, '--dry-run']);
  expect([code, errors]).toEqual([0, expect.stringContaining('3 would be made')]);
  expect(await query('[.orders.len(), loads_info().len()];')).toEqual([0, 0]);
});

test.each<[string, string | Uint8Array, readonly string[], number, RegExp]>([
  ['no format', 'x', [], 2, /which format/],
  [
    'semicolons.csv',
    'nr;note\n1;a\n',
    [],
    2,
    /no column of the file is a property of Order; it has "nr;note"/,
  ],
  [
    'mistyped.csv',
    'nr,note\n1,a\n',
    ['--map', 'note=Note'],
    2,
    /--map: the file has no column "Note"; it has "nr, note"/,
  ],
  ['utf16.csv', Buffer.from('\ufeffnr\n1\n', 'utf16le'), [], 1, /line 1: this is UTF-16/],
  ['latin.csv', Buffer.from('nr,note\n1,\xe9\n', 'latin1'), [], 1, /no UTF-8/],
  ['twice.csv', 'nr,nr\n1,2\n', [], 1, /name each column, each once/],
  ['mac.csv', 'nr,note\r1,a\r2,b\r', [], 1, /line 1: a carriage return alone ends no line/],
  ['short.csv', 'nr,note\n1\n', [], 1, /line 2: 1 values for 2 columns/],
  ['cut.jsonl.gz', gzipSync('{"nr": 1}\n').subarray(0, 20), [], 1, /can't be unpacked/],
  ['none.jsonl', '{"nr": 1}\n', ['--into', 'nothing'], 1, /nothing/],
  [
    'ref.csv',
    'nr,who\n1,eve\n',
    ['--map', 'customer=@Customer.email:who'],
    1,
    /line 2: there is no Customer with the email eve/,
  ],
])('%s is refused, and makes nothing', async (name, content, args, wanted, why) => {
  const { code, errors } = await load(fileOf(name, content), args);
  expect([code, errors]).toEqual([wanted, expect.stringMatching(why)]);
  expect(await query('.orders.len();')).toBe(0);
});

async function dump(...args: readonly string[]) {
  const io = new FakeIo({ ALTHING_URL: node.url, ALTHING_USER: 'admin:pass' });
  const code = await main(['dump', '//stuff', ...args], io);
  return { code, output: io.output, errors: io.errors };
}

test('a dump has all instances of a type, with ids in the place of other things', async () => {
  await load(fileOf('a.csv', CSV), MAP);
  const { code, output, errors } = await dump('Order');
  expect([code, errors]).toEqual([
    0,
    expect.stringMatching(
      /3 instances of Order, as of change \d+ of \/\/stuff; what comes then: althing changes \/\/stuff --since \d+-[0-9a-f]{8}\n$/,
    ),
  ]);
  const rows = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows).toMatchObject([
    {
      nr: 1,
      customer: { '#': expect.any(Number) },
      at: '2024-02-03T00:00:00Z',
      amount: 1.5,
      state: 'open',
      tags: ['a', 'b'],
    },
    { nr: 2, state: 'paid', note: null },
    { nr: 3, customer: null, note: '' },
  ]);
});

test('indexes that are built after a load are there when it is over, once', async () => {
  const args = [...MAP, '--build-after', 'at,by_amount=amount+nr'];
  const file = fileOf('a.csv', CSV);
  expect((await load(file, [...args, '--dry-run'])).code).toBe(0);
  const properties =
    "['at', 'by_amount'].map(|i| { i = try(index_info('Order', i)); is_err(i) ? nil : i.load().fields; });";
  expect(await query(properties)).toEqual([null, null]);
  expect([(await load(file, args)).code, (await load(file, args)).code]).toEqual([0, 0]);
  expect(await query(properties)).toEqual([['at'], ['amount', 'nr']]);
  await query("del_index('Order', 'at'); del_index('Order', 'by_amount'); nil;");
  for (const wrong of ['', 'sum', 'a=nr=at', 'a=nr+', '=nr']) {
    const refused = await load(file, [...MAP, '--id', 'new', '--build-after', wrong]);
    expect([refused.code, refused.errors]).toEqual([2, expect.stringContaining('is not like NAME=')]);
  }
});

test.each(['orders.jsonl', 'orders.csv', 'orders.tsv.gz'])(
  'things dumped as %s can be loaded again',
  async (name) => {
    await load(fileOf('a.csv', CSV), ['--map', 'nr=Number,at=datetime(Made,"%d.%m.%Y")']);
    const rows = '.orders.map(|o| [o.nr, o.at, o.amount, o.state.name(), o.tags, o.note]);';
    const before = await query(rows);
    const file = join(folder, name);
    expect((await dump('Order', file)).code).toBe(0);
    await query('.orders = [];');
    expect((await load(file)).code).toBe(0);
    expect(await query(rows)).toEqual(before);
  },
);

test('a dump shows other things by a property of theirs, or what a type wraps, or what a query gives', async () => {
  await load(fileOf('a.csv', CSV), MAP);
  const rowsOf = (output: string): unknown[] =>
    output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const refs = await dump('Order', '--refs', 'by:email');
  expect(rowsOf(refs.output)).toMatchObject([
    { nr: 1, customer: 'ann@x.org' },
    { customer: 'bob@x.org' },
    { customer: null },
  ]);
  expect(Object.keys(rowsOf(refs.output)[0] as object)).not.toContain('#');
  await query("set_type('Brief', {nr: 'int', who: |o| o.customer && o.customer.email}, true); nil;");
  const brief = await dump('Order', '--wrap', 'Brief', '--format', 'csv');
  expect(brief.output).toMatch(/^#,nr,who\n\d+,1,ann@x.org\n\d+,2,bob@x.org\n\d+,3,\n$/);
  const asked = "each_by('Order', 'nr', nil, {after: 1}, |o| out({nr: o.nr})); 'end';";
  const some = await dump('--query', asked);
  expect(rowsOf(some.output)).toEqual([{ nr: 2 }, { nr: 3 }, 'end']);
  expect(some.errors).toMatch(/^3 lines, as of change \d+ of \/\/stuff;/);
  expect((await dump('--query', 'nil;')).output).toBe('');
  await query("del_type('Brief'); nil;");
});

test.each([
  [['Nothing'], 1, /Nothing/],
  [['Nothing', '--wrap', 'Order'], 1, /Nothing/],
  [['Order', '--wrap', 'Nothing'], 1, /Nothing/],
  [['Order', '/'], 2, /exists already/],
  [[], 2, /give a type, or --query/],
  [['Order', 'file', '--query', '1;'], 2, /there is no type/],
  [['--query', '1;', '--wrap', 'Order'], 2, /for the instances of a type/],
  [['--query', '.orders = [];'], 1, /changes nothing/],
  [['--query', 'out(1); raise("stop");'], 1, /stop/],
  [['--query', '[1];', '--format', 'csv'], 1, /a row of a table is a thing/],
  [['Order', '--refs', 'email'], 2, /id or by:NAME/],
  [['Order', '--refs', 'by:e-mail'], 2, /id or by:NAME/],
  [['Order', '--refs', 'by:color'], 2, /nothing that Order refers to has a property color/],
  [['Order', '--refs', 'by:email', '--wrap', 'Order'], 2, /--wrap or --refs/],
])('a dump of %j is refused', async (args, wanted, why) => {
  const { code, errors } = await dump(...args);
  expect([code, errors]).toEqual([wanted, expect.stringMatching(why)]);
});

test('althing index wait ends when an index is ready, or could not be built', async () => {
  const wait = async (...args: readonly string[]) => {
    const io = new FakeIo({ ALTHING_URL: node.url, ALTHING_USER: 'admin:pass' });
    const code = await main(['index', 'wait', ...args], io);
    return [code, io.errors];
  };
  await query("set_type('Many', {n: 'int', same: 'int'}); .many = range(1500).map(|n| Many{n: n}); nil;");
  await query("new_index('Many', 'n', UNIQUE); new_index('Many', 'same', UNIQUE); nil;");
  expect(await wait('//stuff', 'Many', 'n')).toEqual([
    0,
    expect.stringMatching(/^1500 entries, about \d+ bytes\n$/),
  ]);
  expect(await wait('//stuff', 'Many', 'same')).toEqual([1, expect.stringContaining('could not be built')]);
  expect(await wait('//stuff', 'Many', 'none')).toEqual([1, expect.stringContaining('has no index')]);
  expect((await wait('//stuff', 'Many'))[0]).toBe(2);
  await query('.del("many"); del_type("Many"); nil;');
});
