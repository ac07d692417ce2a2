/** The ports of a node. */
import { createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { RealNode, until } from '../../testing/index.js';

test.each(['listen_client_port', 'http_api_port', 'http_status_port'] as const)(
  'a port that is in use ends the start with the name of its setting: %s',
  async (setting) => {
    const server = createServer().listen(0, '127.0.0.1');
    await until(async () => server.listening, 'the port is taken');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const second = await RealNode.launch({ [setting]: port });
    expect(await second.ended()).not.toBe(0);
    expect(second.log).toContain(`${setting} = ${port}: the port is in use`);
    second.clear();
    server.close();
  },
);
