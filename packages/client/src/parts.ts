/**
 * The second door of the package, for simulations alone: the client with a platform that its user hands in, which has a clock, random
 * numbers and a way to nodes of its own, and the form that requests and answers have over HTTP.
 */
export { Client, type Platform } from './connect/client.js';
export { databaseOf } from './connect/database.js';
export type { Attempt, AttemptEnd, Reply, Sent, Transport } from './request/attempt.js';
export type { Surroundings } from './request/surroundings.js';
export { httpBody, httpHeaders, httpReply } from './transport/http-message.js';
