/**
 * The health check of the container: exit code 0 when the node in it is ready, else 1 and the reason.
 *
 * The status port speaks HTTP, or HTTPS when certificates are configured; this check stays inside the container, so it
 * takes any certificate.
 */
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';

const TIMEOUT_MS = 2000;

const port = process.env.SERVICE_HTTP_STATUS_PORT || '9230';
const secure = (process.env.SERVICE_TLS_CERT_FILE ?? '') !== '';

const options = { host: '127.0.0.1', port, path: process.argv[2] ?? '/ready', timeout: TIMEOUT_MS };
const request = secure
  ? getHttps({ ...options, rejectUnauthorized: false }, answered)
  : getHttp(options, answered);
request.on('timeout', () => request.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
request.on('error', (error) => finish(1, error.message));

function answered(response) {
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (part) => {
    text = (text + part).slice(0, 1000);
  });
  response.on('end', () => finish(response.statusCode === 200 ? 0 : 1, text.trim()));
}

function finish(code, text) {
  console.log(text);
  process.exit(code);
}
