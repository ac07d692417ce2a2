/**
 * The yardstick: a uWebSockets.js server that reads the body of a request and answers a short one, and does nothing else.
 * Started as a process of its own; it says its port to its parent.
 */
import { App, us_socket_local_port } from 'uWebSockets.js';

App()
  .post('/*', (response) => {
    response.onAborted(() => undefined);
    response.onData((_, isLast) => {
      if (isLast) response.cork(() => response.writeHeader('Content-Type', 'application/json').end('2'));
    });
  })
  .get('/ready', (response) => {
    response.end('OK');
  })
  .listen('127.0.0.1', 0, (socket) => {
    if (socket === false) throw new Error('no port to listen on');
    process.send?.({ port: us_socket_local_port(socket) });
  });

process.on('disconnect', () => process.exit(0));
