/** The records of ThingsDB that change the scope @thingsdb. */
import { Privilege } from '../admin/privileges.js';
import { START_MAX } from '../state/parts/tasks.js';
import type { Charge } from '../state/transaction.js';
import { CollectionBuilder } from './builder.js';
import type { ArchivedChanges } from './changes.js';
import type { DataInput } from './input.js';
import { Payload } from './payload.js';
import { readRecordHead } from './records.js';
import {
  accessOf,
  NODE_SCOPE,
  plainArguments,
  THINGSDB_SCOPE,
  type ThingsdbCollectionInfo,
  type ThingsdbRoot,
  type ThingsdbTask,
  type ThingsdbUser,
} from './root.js';
import { readHash, readRule, zoneName } from './root-files.js';
import { readArguments } from './tasks.js';
import { ValueReader } from './values.js';

/**
 * Repeats the changes of the scope @thingsdb.
 *
 * @throws FormatError, with the place
 */
export function repeatRootChanges(root: ThingsdbRoot, changes: ArchivedChanges, charge: Charge): void {
  let open: RootRecords | null = null;
  changes.each(THINGSDB_SCOPE, (input) => {
    const number = readRecordHead(input);
    if (open?.input !== input) open = new RootRecords(root, input, charge);
    open.run(number);
  });
}

class RootRecords {
  private readonly values: ValueReader;
  private readonly rows: ReadonlyMap<number, () => void>;

  constructor(
    private readonly root: ThingsdbRoot,
    readonly input: DataInput,
    charge: Charge,
  ) {
    this.values = new ValueReader(input, new CollectionBuilder(charge));
    const whole = Payload.reader(input);
    this.rows = new Map([
      [5, () => this.deleteCollection()],
      [7, () => this.deleteExpired()],
      [10, () => void root.procedures.delete(input.text('the name of a procedure'))],
      [12, () => this.deleteToken()],
      [14, () => this.deleteUser(input.uint('the id of a user'))],
      [16, whole('a grant', (payload) => this.grant(payload, (mask, given) => mask | given))],
      [29, whole('a collection', (payload) => this.newCollection(payload))],
      [30, whole('a module', (payload) => this.newModule(payload))],
      [32, whole('a procedure', (payload) => this.putProcedure(payload))],
      [34, whole('a token', (payload) => this.newToken(payload))],
      [36, whole('a user', (payload) => this.newUser(payload))],
      [37, whole('the name of a collection', (payload) => this.renameCollection(payload))],
      [39, whole('the name of a module', (payload) => this.renameModule(payload))],
      [40, whole('the name of a procedure', (payload) => this.renameProcedure(payload))],
      [42, whole('the name of a user', (payload) => this.renameUser(payload))],
      [44, whole('a revocation', (payload) => this.grant(payload, (mask, given) => mask & ~given))],
      [48, whole('a password', (payload) => this.setPassword(payload))],
      [49, whole('a time zone', (payload) => this.setZone(payload))],
      [53, () => this.deleteUsers()],
      [54, () => this.takeAccess(input.uint('the id of a user'))],
      [59, whole('a task', (payload) => this.newTask(payload))],
      [60, whole('a task', (payload) => void root.tasks.delete(this.taskId(payload)))],
      [61, whole('a task', (payload) => this.putTask(this.taskId(payload), { startAt: 0 }))],
      [62, whole('a task', (payload) => this.taskRan(payload))],
      [63, whole('arguments', (payload) => this.setArguments(payload))],
      [64, whole('an owner', (payload) => this.setOwner(payload))],
      [65, whole('a closure', (payload) => this.setClosure(payload))],
      [68, whole('a depth', (payload) => this.setDeep(payload))],
      [74, whole('a procedure', (payload) => this.putProcedure(payload))],
      [80, () => this.addRule()],
      [81, () => this.deleteRule()],
      [82, () => this.setHistory()],
      // Nodes, the files and the settings of modules, restores, commits.
      ...[8, 15, 31, 43, 46, 47, 69, 83, 84].map((number) => [number, () => input.skip()] as const),
    ]);
  }

  run(number: number): void {
    const row = this.rows.get(number) ?? this.input.fail(`there is no record ${number} of @thingsdb`);
    row();
  }

  private text(payload: Payload, what: string): string {
    return payload.next().text(what);
  }

  private uint(payload: Payload, what: string): number {
    return payload.next().uint(what);
  }

  private newUser(payload: Payload): void {
    const id = this.uint(payload, 'the id of a user');
    const name = this.text(payload, 'the name of a user');
    const createdAt = this.uint(payload, 'a time');
    const none = { passwordHash: null, hasPassword: false, tokens: [], rooms: null, procedures: null };
    this.root.users.set(id, { id, name, createdAt, ...none });
  }

  private renameUser(payload: Payload): void {
    const id = this.uint(payload, 'the id of a user');
    this.putUser(id, { name: this.text(payload, 'the name of a user') });
  }

  private setPassword(payload: Payload): void {
    const id = this.uint(payload, 'the id of a user');
    const passwordHash = readHash(payload.next());
    this.putUser(id, { passwordHash, hasPassword: passwordHash !== null });
  }

  private newToken(payload: Payload): void {
    const id = this.uint(payload, 'the id of a user');
    const key = this.text(payload, 'the key of a token');
    const expires = this.uint(payload, 'a time');
    const createdAt = this.uint(payload, 'a time');
    const description = this.text(payload, 'a description');
    const token = { key, expiresAt: expires === 0 ? null : expires, createdAt, description };
    this.putUser(id, { tokens: [...(this.root.users.get(id)?.tokens ?? []), token] });
  }

  private deleteToken(): void {
    const key = this.input.text('the key of a token');
    this.keepTokens((token) => token.key !== key);
  }

  private deleteExpired(): void {
    const time = this.input.uint('a time');
    this.keepTokens(({ expiresAt }) => expiresAt === null || expiresAt >= time);
  }

  private keepTokens(isKept: (token: ThingsdbUser['tokens'][number]) => boolean): void {
    for (const { id, tokens } of this.root.users.values())
      this.putUser(id, { tokens: tokens.filter(isKept) });
  }

  private deleteUser(id: number): void {
    this.root.users.delete(id);
    for (const access of this.root.access.values()) access.delete(id);
  }

  private deleteUsers(): void {
    this.input.bool();
    this.root.users.clear();
    this.root.access.clear();
  }

  /** A user gets all rights everywhere, and is the only one that has any. */
  private takeAccess(id: number): void {
    const { root } = this;
    root.access.clear();
    for (const scope of [THINGSDB_SCOPE, NODE_SCOPE, ...root.collections.keys()])
      accessOf(root, scope).set(id, Privilege.FULL);
  }

  private grant(payload: Payload, change: (mask: number, given: number) => number): void {
    const scope = this.uint(payload, 'a scope');
    const user = this.uint(payload, 'the id of a user');
    const given = this.uint(payload, 'a mask') & Privilege.FULL;
    const access = accessOf(this.root, scope);
    const mask = change(access.get(user) ?? 0, given);
    if (mask === 0) access.delete(user);
    else access.set(user, mask);
  }

  private newCollection(payload: Payload): void {
    const { root } = this;
    const name = this.text(payload, 'the name of a collection');
    const user = this.uint(payload, 'the id of a user');
    const id = this.uint(payload, 'the id of a collection');
    const rootId = payload.remaining > 1 ? this.uint(payload, 'the id of a root') : id;
    const createdAt = this.uint(payload, 'a time');
    root.collections.set(id, { id, name, createdAt, timeZone: 'UTC', deep: 1, folder: null, rootId });
    accessOf(root, id).set(user, Privilege.FULL);
  }

  private deleteCollection(): void {
    const id = this.input.uint('the id of a collection');
    this.root.collections.delete(id);
    this.root.access.delete(id);
    this.root.histories.delete(id);
  }

  private renameCollection(payload: Payload): void {
    const id = this.uint(payload, 'the id of a collection');
    this.putCollection(id, { name: this.text(payload, 'the name of a collection') });
  }

  private setZone(payload: Payload): void {
    const id = this.uint(payload, 'a scope');
    this.putCollection(id, { timeZone: zoneName(this.uint(payload, 'a time zone')) });
  }

  private setDeep(payload: Payload): void {
    const id = this.uint(payload, 'a scope');
    this.putCollection(id, { deep: payload.next().uint('a depth', 0xff) });
  }

  private newModule(payload: Payload): void {
    this.root.modules.add(this.text(payload, 'the name of a module'));
    while (payload.remaining > 0) payload.next().skip();
  }

  private renameModule(payload: Payload): void {
    this.root.modules.delete(this.text(payload, 'the name of a module'));
    this.root.modules.add(this.text(payload, 'the name of a module'));
  }

  private putProcedure(payload: Payload): void {
    const name = this.text(payload, 'the name of a procedure');
    const createdAt = this.uint(payload, 'a time');
    payload.next();
    this.root.procedures.set(name, { name, createdAt, source: this.values.closure().store() });
  }

  private renameProcedure(payload: Payload): void {
    const { procedures } = this.root;
    const procedure = procedures.get(this.text(payload, 'the name of a procedure'));
    const name = this.text(payload, 'the name of a procedure');
    if (procedure === undefined) return;
    procedures.delete(procedure.name);
    procedures.set(name, { ...procedure, name });
  }

  private taskId(payload: Payload): number {
    return this.uint(payload, 'the id of a task');
  }

  private newTask(payload: Payload): void {
    const id = this.taskId(payload);
    const startAt = payload.next().uint('a time', START_MAX);
    const owner = this.uint(payload, 'the id of a user');
    payload.next();
    const source = this.values.closure().store();
    const args = plainArguments(readArguments(payload.next(), this.values).items);
    this.root.tasks.set(id, { id, startAt, owner, source, args });
  }

  private taskRan(payload: Payload): void {
    const id = this.taskId(payload);
    const startAt = payload.next().uint('a time', START_MAX);
    payload.next().skip();
    this.putTask(id, { startAt });
  }

  private setArguments(payload: Payload): void {
    const id = this.taskId(payload);
    this.putTask(id, {
      args: plainArguments(readArguments(payload.next(), this.values).items),
    });
  }

  private setOwner(payload: Payload): void {
    const id = this.taskId(payload);
    this.putTask(id, { owner: this.uint(payload, 'the id of a user') });
  }

  private setClosure(payload: Payload): void {
    const id = this.taskId(payload);
    payload.next();
    this.putTask(id, { source: this.values.closure().store() });
  }

  /** [user, list, (rule)]: without a rule, the user has a list from now on. */
  private addRule(): void {
    const { user, list, rules, rule } = this.rule();
    if (user !== undefined)
      this.putUser(user.id, { [list]: rule === null ? (rules ?? []) : [...(rules ?? []), rule] });
  }

  /** Deletes a rule; a list without a rule is gone. */
  private deleteRule(): void {
    const { user, list, rules, rule } = this.rule();
    if (user !== undefined)
      this.putUser(user.id, {
        [list]: rule === null ? null : (rules?.filter((other) => other !== rule) ?? null),
      });
  }

  private rule() {
    const { input } = this;
    const count = input.array('a rule');
    const user = this.root.users.get(input.uint('the id of a user'));
    const list = input.uint('the number of a list', 1) === 0 ? ('rooms' as const) : ('procedures' as const);
    const rule = count > 2 ? readRule(input, this.values) : null;
    for (let left = count - 3; left > 0; left--) input.skip();
    return { user, list, rules: user?.[list] ?? null, rule };
  }

  private setHistory(): void {
    const { input } = this;
    input.parts(2, 'a history');
    const scope = input.uint('a scope');
    if (input.bool()) this.root.histories.add(scope);
    else this.root.histories.delete(scope);
  }

  private putUser(id: number, change: Partial<ThingsdbUser>): void {
    const user = this.root.users.get(id);
    if (user !== undefined) this.root.users.set(id, { ...user, ...change });
  }

  private putCollection(id: number, change: Partial<ThingsdbCollectionInfo>): void {
    const collection = this.root.collections.get(id);
    if (collection !== undefined) this.root.collections.set(id, { ...collection, ...change });
  }

  private putTask(id: number, change: Partial<ThingsdbTask>): void {
    const task = this.root.tasks.get(id);
    if (task !== undefined) this.root.tasks.set(id, { ...task, ...change });
  }
}
