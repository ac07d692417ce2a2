/**
 * uWebSockets.js, which is told how large the head of a request may be: it reads that from the environment,
 * once, while it is loaded.
 */

/** Bytes of a request's head: browsers send the cookies of every program on the same host name along. */
export const HEAD_BYTES_MAX = 16 * 1024;

process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(HEAD_BYTES_MAX);

export const { App, SSLApp, us_listen_socket_close, us_socket_local_port } = await import('uWebSockets.js');
