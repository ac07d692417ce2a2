/** Collections of a ThingsDB in a cluster: each comes as a whole, under its name, or not at all. */
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isWireList, isWireMap } from '@althing/client';
import { type Connection, runQuery } from '../connection.js';
import { CommandError } from '../input.js';
import { type Io, tell } from '../io.js';
import type * as Node from '../node.js';
import { Progress } from '../progress.js';
import { resumedAt } from '../restore.js';
import { inTemporaryFolder } from '../temporary.js';
import { receive, send } from '../transfer.js';
import { version } from '../version.js';
import { type ClusterUser, clusterUsers } from './accounts.js';
import type { Report } from './report.js';
import type { MigrationSource } from './source.js';

const ROOT = '@thingsdb';

interface Migration {
  readonly node: typeof Node;
  readonly io: Io;
  readonly connection: Connection;
  readonly source: MigrationSource;
  readonly report: Report;
  readonly signal: AbortSignal;
}

/** A collection of the source, as an export of ours. */
interface Packed {
  readonly file: string;
  readonly size: number;
  readonly contents: Node.ExportDigest;
}

export class CollectionMover {
  private readonly users: Promise<Map<string, ClusterUser>>;

  constructor(
    private readonly migration: Migration,
    private readonly isDryRun: boolean,
  ) {
    this.users = clusterUsers(migration.connection);
  }

  /**
   * Brings a collection, unless it is there.
   *
   * @returns whether it is there now, as it is in the source
   * @throws CommandError when it is there and not what was sent
   */
  bring(info: Node.ThingsdbCollectionInfo): Promise<boolean> {
    const { report, connection } = this.migration;
    const { name } = info;
    return inTemporaryFolder(async (folder) => {
      const packed = await this.pack(info, join(folder, 'collection.export'));
      const things = `${packed.contents.things} things`;
      const names = await this.names();
      if (names.has(name)) {
        const present = await this.digest(name);
        if (present.digest === packed.contents.digest) {
          await report.add('collection', name, 'there', `${things}, the same as in the ThingsDB`);
          return true;
        }
        const empty = await this.emptyDigest();
        if (present.digest !== empty.digest) {
          const why = `one of that name is there, with ${present.things} things: it stays as it is; rename it, and begin again`;
          await report.add('collection', name, 'kept', why);
          return false;
        }
        if (!this.isDryRun) await this.removeEmpty(name, names, empty);
      }
      if (this.isDryRun) {
        await report.add('collection', name, 'made', things);
        return true;
      }
      const resumed = await this.send(name, packed);
      const zone = 'set_time_zone(name, zone); set_default_deep(scope, deep); nil;';
      const settings = { name, scope: `//${name}`, zone: info.timeZone, deep: BigInt(info.deep) };
      await runQuery(connection, ROOT, zone, settings);
      await this.verify(name, packed);
      await report.add(
        'collection',
        name,
        'made',
        `${things}, digest ${packed.contents.digest.slice(0, 16)}, the same here${resumed}`,
      );
      return true;
    });
  }

  /** Reads a collection of the source, and writes it as an export. */
  private async pack(info: Node.ThingsdbCollectionInfo, file: string): Promise<Packed> {
    const { node, io, source } = this.migration;
    await tell(io, `collection ${info.name}: reading`);
    const { group, taskOwners } = await source.read(info);
    const users = await this.users;
    const owners = new Map<number, number>();
    for (const [task, owner] of taskOwners) {
      const user = users.get(source.root.users.get(owner)?.name ?? '');
      if (user !== undefined) owners.set(task, user.id);
    }
    const importer = users.get(this.migration.connection.who)?.id ?? 0;
    node.giveTasks(group, owners, importer);
    await pipeline(
      node.exportOfCollection(group, { name: info.name, version: version(), begunAt: 0 }),
      createWriteStream(file, { mode: 0o600 }),
    );
    const { size } = await stat(file);
    return { file, size, contents: await node.digestOfExport(createReadStream(file)) };
  }

  /** @returns where the import of it went on that was interrupted before, in words */
  private async send(name: string, { file, size, contents }: Packed): Promise<string> {
    const { io, connection, signal } = this.migration;
    const progress = new Progress(io, `of the collection ${name} sent`, size);
    const answer = await send(
      connection,
      `/@import/${name}/owned_tasks/${contents.file}`,
      size,
      progress.watch(createReadStream(file)),
      signal,
    );
    await progress.end(`collection ${name}: sent, ${progress.size}`);
    return resumedAt(answer);
  }

  private async verify(name: string, { contents }: Packed): Promise<void> {
    const present = await this.digest(name);
    if (present.digest === contents.digest) return;
    throw new CommandError(
      `the collection ${name} has ${present.things} things here and ${contents.things} in the ThingsDB, or they differ: a task of it may have run, or somebody changed it since. It is there: compare it, or delete it and begin again`,
    );
  }

  private async digest(name: string): Promise<Node.ExportDigest> {
    const { node, connection, signal } = this.migration;
    return node.digestOfExport(await receive(connection, `/@export/${name}`, signal));
  }

  private emptyDigest(): Promise<Node.ExportDigest> {
    const { node } = this.migration;
    const made = { name: 'empty', version: version(), begunAt: 0 };
    return node.digestOfExport(node.exportOfCollection(node.emptyCollection(), made));
  }

  private async names(): Promise<Set<string>> {
    const infos = await runQuery(this.migration.connection, ROOT, 'collections_info();');
    const list = isWireList(infos) ? infos : [];
    return new Set(list.map((info) => (isWireMap(info) ? String(info.get('name')) : '')));
  }

  /**
   * Removes a collection in which there is nothing. It loses its name first, so that nobody can put anything into it that would be lost.
   */
  private async removeEmpty(
    name: string,
    names: ReadonlySet<string>,
    empty: Node.ExportDigest,
  ): Promise<void> {
    const { connection } = this.migration;
    let aside = `${name}_empty`;
    for (let number = 2; names.has(aside); number++) aside = `${name}_empty${number}`;
    await runQuery(connection, ROOT, 'rename_collection(name, aside);', { name, aside });
    const { digest } = await this.digest(aside);
    if (digest === empty.digest) {
      await runQuery(connection, ROOT, 'del_collection(aside);', { aside });
      return;
    }
    await runQuery(connection, ROOT, 'rename_collection(aside, name);', { name, aside });
    throw new CommandError(`the collection ${name} was empty a moment ago, and is no more: begin again`);
  }
}
