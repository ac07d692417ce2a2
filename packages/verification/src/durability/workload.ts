/**
 * Clients that change everything that can be changed on a node, and that know what must be found there later, whatever
 * happens to the node in between:
 *
 * - what was acknowledged is there, once, in the order of its client;
 * - what was not acknowledged is there as a whole, or not at all;
 * - what was refused is not there;
 * - what was read stays true.
 *
 * A transaction of client `c` with the number `n` changes many places at once: its list `of.c`, the list `all`, the counter,
 * two accounts, and a tree of things. Whichever transactions are found, all these places must tell of the same ones.
 */
import type { Answer, RawConnection, RealNode } from '@althing/node/testing';
import { Register, Sequence } from './model.js';

export interface WorkloadOptions {
  readonly clients: number;
  readonly random: () => number;
  /** Called with each answer that is no success of a change; returns whether the change may have taken effect. */
  readonly onRefusal?: (answer: Answer) => Fate;
}

/** The meaning of an error for a change: it never happens, or may have happened or still happen. */
export type Fate = 'refused' | 'unknown';

/**
 * The meaning of an answer for a client over HTTP, by its status and its `outcome` alone.
 *
 * @throws Error for any other answer than those that a node gives that has no room, or that stops
 */
export function fateOf(answer: Answer): Fate {
  const what = `${answer.status} ${answer.error.outcome}`;
  const mayRepeat = answer.headers.has('retry-after');
  if (what === '503 none' && mayRepeat) return 'refused';
  if (what === '504 unknown' && !mayRepeat) return 'unknown';
  throw new Error(`unexpected: ${answer.statusLine} ${answer.text}`);
}

const ACCOUNTS = 10;
const START_BALANCE = 1000;
/** Numbers of one client; a transaction is `client * NUMBERS_PER_CLIENT + n` in the list of all. */
const NUMBERS_PER_CLIENT = 1_000_000;
const BLOB_LENGTH = 20_000;

const PREPARATION = `
  .of = {}; .all = []; .counter = 0; .accounts = {}; .blobs = {};
  range(clients).each(|c| .of.set('c' + str(c), []));
  range(clients).each(|c| .blobs.set('c' + str(c), {n: 0, text: ''}));
  range(accounts).each(|a| .accounts.set('a' + str(a), balance));
  .tree = {n: 0, sub: {n: 0, sub: {n: 0}}};
  nil;`;

const TRANSACTION = `
  .of[client].push(n);
  .accounts[from] -= amount;
  .all.push(id);
  .accounts[to] += amount;
  .tree = {n: id, sub: {n: id, sub: {n: id}}};
  .counter += 1;`;

const EVERYTHING = `
  return {
    of: .of, all: .all, counter: .counter, accounts: .accounts, tree: .tree,
    blobs: .blobs.map(|name, blob| [blob.n, blob.text.len()])
  }, 5;`;

export class Workload {
  /** Changes that were acknowledged. */
  acknowledged = 0;
  /** Changes whose fate was not told. */
  unknown = 0;
  refused = 0;
  private readonly clients: Client[];
  /** The highest value of the counter that was read. */
  private seen = 0;
  private stopping = false;

  constructor(private readonly options: WorkloadOptions) {
    this.clients = Array.from({ length: options.clients }, (_, index) => new Client(index));
  }

  /** Makes what the transactions change. */
  async prepare(node: RealNode): Promise<void> {
    await node.value('//stuff', PREPARATION, {
      clients: this.clients.length,
      accounts: ACCOUNTS,
      balance: START_BALANCE,
    });
  }

  /** Lets all clients work until the node ends their connections, or `stop` is called. */
  async run(node: RealNode): Promise<void> {
    this.stopping = false;
    await Promise.all(this.clients.map((client) => this.work(client, node)));
  }

  /** Each client stops after the answer to what it sent. */
  stop(): void {
    this.stopping = true;
  }

  /**
   * Looks at everything, and takes what is found as given from here on.
   *
   * @throws Error that says what is wrong
   */
  async verify(node: RealNode): Promise<void> {
    const found = (await node.value('//stuff', EVERYTHING)) as Everything;
    this.verifyTransactions(found);
    for (const { name, blob } of this.clients) {
      const [n = -1, length] = found.blobs[Number(name.slice(1))] ?? [];
      blob.found(n, `the blob of ${name}`);
      const expected = n === 0 ? 0 : BLOB_LENGTH;
      if (length !== expected) throw new Error(`the blob of ${name} has the length ${length}`);
    }
    const procedures = namesOf(await node.value('//stuff', 'procedures_info();'));
    const users = namesOf(await node.value('/t', 'users_info();'));
    const collections = (await node.value('/t', 'collections_info();')) as readonly CollectionInfo[];
    for (const client of this.clients) {
      client.procedure.found(procedures.has(`p_${client.name}`), `procedure p_${client.name}`);
      client.user.found(users.has(`u_${client.name}`), `user u_${client.name}`);
      client.collection.found(await contentOf(node, client, collections), `collection ${client.name}`);
    }
    const things = collections.find(({ name }) => name === 'stuff')?.things;
    // The root, `of`, `accounts`, `blobs` with one each, and three of the tree.
    const expected = 4 + this.clients.length + 3;
    if (things !== expected) throw new Error(`stuff has ${things} things instead of ${expected}`);
  }

  private verifyTransactions(found: Everything): void {
    const byClient = this.clients.map((): number[] => []);
    const balances = Array.from({ length: ACCOUNTS }, () => START_BALANCE);
    for (const id of found.all) {
      const client = Math.floor(id / NUMBERS_PER_CLIENT);
      const n = id % NUMBERS_PER_CLIENT;
      byClient[client]?.push(n);
      const { from, to, amount } = transferOf(client, n);
      balances[from] = (balances[from] ?? 0) - amount;
      balances[to] = (balances[to] ?? 0) + amount;
    }
    for (const [index, { name, sequence }] of this.clients.entries()) {
      const own = found.of[name] ?? [];
      sequence.found(own, `the list of ${name}`);
      same(own, byClient[index], `the list of ${name} and its part of the list of all`);
    }
    same(found.counter, found.all.length, 'the counter and the number of transactions');
    if (found.counter < this.seen) {
      throw new Error(`the counter is ${found.counter}, and ${this.seen} was read before`);
    }
    for (const [account, balance] of balances.entries()) {
      same(found.accounts[`a${account}`], balance, `account a${account} and what was transferred`);
    }
    const last = found.all.at(-1) ?? 0;
    same([found.tree.n, found.tree.sub.n, found.tree.sub.sub.n], [last, last, last], 'the tree');
  }

  private async work(client: Client, node: RealNode): Promise<void> {
    const { random } = this.options;
    const connection = await node.open();
    try {
      while (!this.stopping && (await this.step(client, node, connection, random()))) {
        // Each step is one request.
      }
    } finally {
      connection.close();
    }
  }

  /** @returns false when the connection ended */
  private step(client: Client, node: RealNode, connection: RawConnection, dice: number): Promise<boolean> {
    const ask = (scope: string, code: string, vars: object = {}): Promise<Answer | null> => {
      connection.send(node.text(scope, JSON.stringify({ type: 'query', code, vars })));
      // The end of a node within an answer is one without an answer.
      return connection.answer().catch((error: unknown) => {
        if (connection.isClosed) return null;
        throw error;
      });
    };
    if (dice < 0.55) return this.transaction(client, ask);
    if (dice < 0.62) return this.failing(client, ask);
    if (dice < 0.7) return this.blob(client, ask);
    if (dice < 0.78) return this.procedure(client, ask);
    if (dice < 0.84) return this.user(client, ask);
    if (dice < 0.9) return this.collection(client, ask);
    return this.read(ask);
  }

  private async transaction(client: Client, ask: Ask): Promise<boolean> {
    const n = client.sequence.next();
    const answer = await ask('//stuff', TRANSACTION, varsOf(client, n));
    return this.settle(answer, {
      sent: () => client.sequence.sent(n),
      acknowledged: () => client.sequence.acknowledged(n),
    });
  }

  /** Does everything, and then fails: nothing of it may be found. */
  private async failing(client: Client, ask: Ask): Promise<boolean> {
    const answer = await ask(
      '//stuff',
      `${TRANSACTION} raise('no');`,
      varsOf(client, client.sequence.next()),
    );
    if (answer === null) return false;
    if (answer.status === 200) throw new Error(`a query that fails got ${answer.text}`);
    return true;
  }

  private async blob(client: Client, ask: Ask): Promise<boolean> {
    const n = client.sequence.next();
    const text = 'abcdefgh'[n % 8]?.repeat(BLOB_LENGTH);
    const code = '.blobs[client] = {n: n, text: text}; nil;';
    const answer = await ask('//stuff', code, { client: client.name, n, text });
    return this.settle(answer, changeOf(client.blob, n));
  }

  private async procedure(client: Client, ask: Ask): Promise<boolean> {
    const wanted = !client.procedure.value;
    const name = `p_${client.name}`;
    const code = wanted ? `new_procedure('${name}', |x| .all.push(x));` : `del_procedure('${name}');`;
    return this.settle(await ask('//stuff', code), changeOf(client.procedure, wanted));
  }

  private async user(client: Client, ask: Ask): Promise<boolean> {
    const wanted = !client.user.value;
    const name = `u_${client.name}`;
    const code = wanted ? `new_user('${name}');` : `del_user('${name}');`;
    return this.settle(await ask('/t', code), changeOf(client.user, wanted));
  }

  /** Makes the client's own collection, writes into it, and deletes it. */
  private async collection(client: Client, ask: Ask): Promise<boolean> {
    const { name, collection } = client;
    const now = collection.value;
    if (now === null) {
      return this.settle(await ask('/t', `new_collection('${name}');`), changeOf(collection, 0));
    }
    if (now % 3 === 2) {
      return this.settle(await ask('/t', `del_collection('${name}');`), changeOf(collection, null));
    }
    const answer = await ask(`//${name}`, '.n = n;', { n: now + 1 });
    return this.settle(answer, changeOf(collection, now + 1));
  }

  private async read(ask: Ask): Promise<boolean> {
    const answer = await ask('//stuff', '[.counter, .all.len()];');
    if (answer === null) return false;
    if (answer.status !== 200) {
      this.considered(answer);
      return true;
    }
    const [counter = 0, length] = answer.json as readonly number[];
    same(counter, length, 'the counter and the length of the list in one read');
    this.seen = Math.max(this.seen, counter);
    return true;
  }

  /** Notes what an answer says about a change. */
  private settle(answer: Answer | null, change: Change): boolean {
    if (answer !== null && answer.status !== 200 && this.considered(answer) === 'refused') {
      this.refused += 1;
      return true;
    }
    change.sent();
    if (answer?.status === 200) {
      this.acknowledged += 1;
      change.acknowledged();
      return true;
    }
    this.unknown += 1;
    // A client that knows no more what is there can't go on with it.
    return false;
  }

  private considered(answer: Answer): Fate {
    const { onRefusal } = this.options;
    if (onRefusal === undefined) throw new Error(`unexpected: ${answer.statusLine} ${answer.text}`);
    return onRefusal(answer);
  }
}

type Ask = (scope: string, code: string, vars?: object) => Promise<Answer | null>;

/** Notes a change in the model. */
interface Change {
  readonly sent: () => void;
  readonly acknowledged: () => void;
}

class Client {
  readonly name: string;
  readonly sequence = new Sequence();
  readonly blob = new Register<number>(0);
  readonly procedure = new Register<boolean>(false);
  readonly user = new Register<boolean>(false);
  /** The value in the client's own collection; null while there is none. */
  readonly collection = new Register<number | null>(null);

  constructor(readonly index: number) {
    this.name = `c${index}`;
  }
}

interface Tree<Sub> {
  readonly n: number;
  readonly sub: Sub;
}

interface Everything {
  readonly of: Readonly<Record<string, readonly number[]>>;
  readonly all: readonly number[];
  readonly counter: number;
  readonly accounts: Readonly<Record<string, number>>;
  readonly tree: Tree<Tree<{ readonly n: number }>>;
  readonly blobs: readonly (readonly number[])[];
}

interface CollectionInfo {
  readonly name: string;
  readonly things: number;
}

function changeOf<T>(register: Register<T>, value: T): Change {
  return { sent: () => register.sent(value), acknowledged: () => register.acknowledged() };
}

/** The transfer that belongs to a transaction: everybody can compute it from the number. */
function transferOf(
  client: number,
  n: number,
): { readonly from: number; readonly to: number; readonly amount: number } {
  return { from: (client + n) % ACCOUNTS, to: (3 * n + 1) % ACCOUNTS, amount: 1 + (n % 17) };
}

function varsOf({ name, index }: Client, n: number): object {
  const { from, to, amount } = transferOf(index, n);
  return { client: name, n, id: index * NUMBERS_PER_CLIENT + n, from: `a${from}`, to: `a${to}`, amount };
}

function namesOf(infos: unknown): ReadonlySet<string> {
  return new Set((infos as readonly { readonly name: string }[]).map(({ name }) => name));
}

async function contentOf(
  node: RealNode,
  { name }: Client,
  collections: readonly CollectionInfo[],
): Promise<number | null> {
  if (!collections.some((collection) => collection.name === name)) return null;
  return (await node.value(`//${name}`, '.get("n", 0);')) as number;
}

function same(left: unknown, right: unknown, what: string): void {
  const [a, b] = [JSON.stringify(left), JSON.stringify(right)];
  if (a !== b) throw new Error(`${what} are not the same: ${a?.slice(0, 200)} and ${b?.slice(0, 200)}`);
}
