import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';

const AUDIT = fileURLToPath(new URL('../audit.mjs', import.meta.url));

let registry: Server;
afterEach(() => {
  registry.close();
});

/** Code and output of the audit, where the registry answers so. */
async function audit(status: number, body: unknown): Promise<{ code: number | null; output: string }> {
  registry = createServer((request, response) => {
    request.resume();
    // npm asks which versions there are of what is vulnerable.
    if (request.method === 'GET' && status === 200) {
      response.end(JSON.stringify({ name: 'msgpackr', 'dist-tags': {}, versions: {} }));
      return;
    }
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  const address = registry.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const child = spawn(process.execPath, [
    AUDIT,
    '--registry',
    `http://127.0.0.1:${port}/`,
    '--fetch-retries=0',
  ]);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => {
      output += part.toString('utf8');
    });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })));
}

test('an audit of packages without known vulnerabilities says so', async () => {
  expect(await audit(200, {})).toEqual({
    code: 0,
    output: expect.stringContaining('0 known vulnerabilities'),
  });
});

test('an audit tells of each vulnerability', async () => {
  const advisory = {
    id: 1,
    url: 'https://example.org/advisory',
    title: 'Reads beyond the end',
    severity: 'high',
    vulnerable_versions: '*',
  };
  const { code, output } = await audit(200, { msgpackr: [advisory] });
  expect([code, output]).toEqual([1, expect.stringContaining('msgpackr: Reads beyond the end')]);
});

test.each([404, 405, 500])(
  'an audit of a registry that answers %d says that nothing was checked',
  async (status) => {
    expect(await audit(status, { error: 'no' })).toEqual({
      code: 2,
      output: expect.stringMatching(/^NOT CHECKED/),
    });
  },
);
