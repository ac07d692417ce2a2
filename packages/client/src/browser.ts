/** The client of Althing, for browsers: as that of Node.js, over `fetch` and `WebSocket`. */
export { connect } from './connect/browser.js';
export * from './public.js';
