/**
 * Builds the files of the console out of `web/`, into `dist/files/`: scripts and style with a hash of their content in the name, the page
 * that names them, and gzip and br of each, so that a node compresses nothing. Does nothing when they are as new as what they are made of.
 * Fails when the console grows beyond its limits.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { licences } from './licences.mjs';

const home = fileURLToPath(new URL('..', import.meta.url));
const packages = fileURLToPath(new URL('../..', import.meta.url));
const manifest = `${home}package.json`;
const target = `${home}dist/files`;
const made = `${home}dist/files.new`;

/** Bytes of gzip: of everything that a browser may load, and of what comes before somebody can log in. */
const ALL_MAX = 250_000;
const LOGIN_MAX = 75_000;

const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

if (!isCurrent()) await make();

function isCurrent() {
  const builtAt = timeOf(join(target, 'index.json'));
  if (builtAt === undefined) return false;
  const own = ['web', 'generator', 'src'].flatMap((folder) =>
    readdirSync(join(home, folder), { recursive: true }).map((name) => join(home, folder, String(name))),
  );
  const others = ['client', 'language'].map((name) => join(packages, name, 'dist/.tsbuildinfo'));
  return [manifest, ...own, ...others].every((file) => (timeOf(file) ?? 0) <= builtAt);
}

async function make() {
  const { outputFiles, metafile } = await bundle();
  const files = outputFiles.map(({ path, contents }) => ({
    path: nameOf(path),
    mode: null,
    type: TYPES[path.split('.').at(-1)],
    bytes: Buffer.from(contents),
  }));
  const named = (pattern) => files.find(({ path }) => pattern.test(path)).path;
  const template = readFileSync(`${home}web/page.html`, 'utf8')
    .replace('START_CSS', named(/^start-.*\.css$/))
    .replace('VERSION', JSON.parse(readFileSync(manifest, 'utf8')).version)
    .replace('START_JS', named(/^start-.*\.js$/))
    .replace('WORKER_JS', named(/^worker-.*\.js$/));
  for (const mode of ['on', 'production', 'read_only']) {
    const bytes = Buffer.from(template.replace('CONSOLE_MODE', mode));
    files.push({ path: '', mode, type: 'text/html; charset=utf-8', bytes });
  }
  const licenceBytes = Buffer.from(licences(metafile));
  files.push({ path: 'licences.txt', mode: null, type: 'text/plain; charset=utf-8', bytes: licenceBytes });
  put(
    files.map((file) => ({ ...file, gzip: gzipSync(file.bytes, { level: 9 }) })),
    startChunks(metafile),
  );
}

/** The files that `start` imports statically: with it all of that is loaded. */
function startChunks({ outputs }) {
  const found = new Set();
  const visit = (path) => {
    if (found.has(path)) return;
    found.add(path);
    for (const { path: next, kind } of outputs[path].imports) if (kind === 'import-statement') visit(next);
  };
  visit(Object.keys(outputs).find((path) => /start-[^/]*\.js$/.test(path)));
  return new Set([...found].map(nameOf));
}

function put(files, firstScripts) {
  const size = (of) => of.reduce((sum, { gzip }) => sum + gzip.length, 0);
  const used = files.filter(({ mode, path }) => (mode === null || mode === 'on') && path !== 'licences.txt');
  const isFirst = ({ path }) => path === '' || firstScripts.has(path) || path.endsWith('.css');
  insistOn('the whole console', size(used), ALL_MAX);
  insistOn('the console up to the login', size(used.filter(isFirst)), LOGIN_MAX);
  if (process.argv.includes('--sizes'))
    for (const file of used)
      console.log(String(file.gzip.length).padStart(7), isFirst(file) ? '*' : ' ', file.path);
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  const index = files.map(({ path, mode, type, bytes, gzip }) => {
    const file = path === '' ? `page-${mode}.html` : path;
    writeFileSync(join(made, file), bytes);
    writeFileSync(join(made, `${file}.gz`), gzip);
    writeFileSync(join(made, `${file}.br`), brotliCompressSync(bytes, brotliOptions(bytes)));
    const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
    return { path, file, type, etag, mode };
  });
  writeFileSync(join(made, 'index.json'), JSON.stringify(index, null, 2));
  rmSync(target, { recursive: true, force: true });
  renameSync(made, target);
}

function insistOn(what, bytes, max) {
  if (bytes > max) throw new Error(`${what} is ${bytes} bytes of gzip, and may be ${max}`);
}

function brotliOptions(bytes) {
  return {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 10,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  };
}

function bundle() {
  return build({
    entryPoints: { start: `${home}web/start.tsx`, worker: `${home}web/results/worker.ts` },
    outdir: made,
    entryNames: '[name]-[hash]',
    chunkNames: 'chunk-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    // The first that know light-dark() in CSS.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'error',
    // Types of the page have been checked by then.
    tsconfigRaw: { compilerOptions: {} },
  });
}

function nameOf(path) {
  return path.split(/[\\/]/).at(-1);
}

function timeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
