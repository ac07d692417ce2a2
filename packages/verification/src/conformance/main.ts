/**
 * npm run conformance [-- FILES... --json --filter TEXT --only-failures --cases DIR --url URL --nodes N]
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Format } from '../harness/node-client.js';
import { memoryFolder, type NodeOptions, smallNode } from '../harness/start-node.js';
import { runProgram } from '../harness/usage.js';
import { type Case, type CaseFile, caseFileNames, readCaseFile } from './cases.js';
import { parseKnown, strayEntries } from './known.js';
import { FreshLane, GivenNodeLane, SharedLane } from './lanes.js';
import { RebuildLane, rebuildSkipReason } from './rebuild.js';
import { report } from './report.js';
import { type Job, runJobs } from './run.js';
import { type CaseResult, needsSocket, skipReason } from './run-case.js';

const HELP = `npm run conformance [-- FILES... OPTIONS]

Runs the recorded cases against real nodes: over HTTP, and those that need a socket over WebSocket. FILES are names of case files; default: all.

  --json            speak JSON instead of MessagePack, and skip what JSON can't carry
  --filter TEXT     only cases whose name contains TEXT
  --only-failures   tell only about what fails, known failures included
  --cases DIR       folder of the case files (default: ALTHING_CONFORMANCE, else ../shared/conformance)
  --rebuild         run in this process, and rebuild the state of each case from log, checkpoint and snapshot
  --url URL         use a running node instead of starting some; cases that want a fresh node are skipped
  --nodes N         shared nodes side by side (default 2)
  --storage DIR     where nodes keep their data (default: in memory, where there is room)

Exit code 0: exactly the failures of packages/verification/src/conformance/known.json. 1: others, or fewer.`;

const root = new URL('../../../../', import.meta.url);

await runProgram(HELP, main);

async function main(args: readonly string[]): Promise<number> {
  const { values: options, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      filter: { type: 'string', default: '' },
      'only-failures': { type: 'boolean', default: false },
      cases: { type: 'string' },
      rebuild: { type: 'boolean', default: false },
      url: { type: 'string' },
      nodes: { type: 'string', default: '2' },
      storage: { type: 'string' },
    },
  });
  const format: Format = options.json ? 'json' : 'msgpack';
  const folder =
    options.cases ?? process.env.ALTHING_CONFORMANCE ?? fileURLToPath(new URL('../shared/conformance', root));
  if (!existsSync(folder)) {
    console.error(
      `there are no case files in ${folder}: name their folder with --cases or ALTHING_CONFORMANCE`,
    );
    return 1;
  }
  const names =
    positionals.length > 0 ? positionals.map((name) => basename(name, '.json')) : caseFileNames(folder);
  const files = names.map((name) => readCaseFile(folder, name));
  const known = parseKnown(
    readFileSync(new URL('packages/verification/src/conformance/known.json', root), 'utf8'),
  );
  const stray = strayEntries(known, (file, name) => !isMissing(files, file, name));
  if (stray.length > 0) {
    console.error(`known.json names cases that do not exist:\n  ${stray.join('\n  ')}`);
    return 1;
  }
  const wanted = files
    .flatMap((file) => file.cases)
    .filter((item) => item.name.toLowerCase().includes(options.filter.toLowerCase()));
  const started = performance.now();
  const { results, complaints } = options.rebuild
    ? await rebuild(wanted)
    : await run(wanted, format, options.url, Number(options.nodes), options.storage);
  const { lines, isAsKnown } = report(files, results, options.rebuild ? new Map() : known, {
    format,
    onlyFailures: options['only-failures'],
  });
  for (const line of lines) console.log(line);
  for (const complaint of complaints) console.log(complaint);
  console.log(`${((performance.now() - started) / 1000).toFixed(1)} s, ${format}`);
  return isAsKnown && complaints.length === 0 && results.size > 0 ? 0 : 1;
}

interface Results {
  readonly results: Map<Case, CaseResult>;
  readonly complaints: readonly string[];
}

async function run(
  wanted: readonly Case[],
  format: Format,
  url: string | undefined,
  nodeCount: number,
  storage: string | undefined,
): Promise<Results> {
  const skipped = new Map<Case, CaseResult>();
  const groups = { shared: [] as Case[], sleeping: [] as Case[], fresh: [] as Case[] };
  for (const item of wanted) {
    const why =
      skipReason(item, format) ?? (url !== undefined && item.fresh ? 'needs a fresh node' : undefined);
    if (why !== undefined) skipped.set(item, { kind: 'skipped', why });
    else if (item.fresh) groups.fresh.push(item);
    else if (item.needs.includes('sleep')) groups.sleeping.push(item);
    else groups.shared.push(item);
  }
  const inMemory = storage ?? memoryFolder(1024 ** 3);
  const options: NodeOptions = {
    settings: smallNode,
    ...(inMemory === undefined ? {} : { storage: inMemory }),
  };
  const jobs =
    url === undefined ? jobsOf(groups, options, format, nodeCount) : givenNodeJobs(groups, url, format);
  const { results, complaints } = await runJobs(jobs);
  return { results: new Map([...skipped, ...results]), complaints };
}

async function rebuild(wanted: readonly Case[]): Promise<Results> {
  const skipped = new Map<Case, CaseResult>();
  const cases = wanted.filter((item) => {
    const why = needsSocket(item) ? 'needs socket' : (skipReason(item, 'msgpack') ?? rebuildSkipReason(item));
    if (why !== undefined) skipped.set(item, { kind: 'skipped', why });
    return why === undefined;
  });
  const { results, complaints } = await runJobs([{ cases, lanes: [new RebuildLane()] }]);
  return { results: new Map([...skipped, ...results]), complaints };
}

interface Groups {
  readonly shared: readonly Case[];
  readonly sleeping: readonly Case[];
  readonly fresh: readonly Case[];
}

/** Cases that sleep get nodes of their own, which cost little, so that nothing waits for them. */
function jobsOf(groups: Groups, options: NodeOptions, format: Format, nodeCount: number): Job[] {
  const shared = (cases: readonly Case[], count: number): Job => ({
    cases,
    lanes: Array.from({ length: Math.min(count, cases.length) }, () => new SharedLane(options, format)),
  });
  const fresh = groups.fresh.length === 0 ? [] : [new FreshLane(options, format, groups.fresh.length)];
  return [
    shared(groups.shared, nodeCount),
    shared(groups.sleeping, 4),
    { cases: groups.fresh, lanes: fresh },
  ];
}

function givenNodeJobs(groups: Groups, url: string, format: Format): Job[] {
  return [{ cases: [...groups.sleeping, ...groups.shared], lanes: [new GivenNodeLane(url, format)] }];
}

/** True if a file that was read has no such case. */
function isMissing(files: readonly CaseFile[], file: string, name: string): boolean {
  const found = files.find((candidate) => candidate.name === file);
  return found !== undefined && !found.cases.some((item) => item.name === name);
}
