/** SQLite by Python, on the orders of `data`: what a database in the same process as its program takes, without a network or a cluster. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Times of one look-up, in milliseconds, while all is in memory. */
export interface SqliteTimes {
  readonly one: number;
  readonly text: number;
  readonly range: number;
  readonly count: number;
}

/** Null where there is no Python, or none with SQLite. */
export function sqliteTimes(storage: string, orders: number): SqliteTimes | null {
  const folder = mkdtempSync(join(storage, 'althing-sqlite-'));
  try {
    const { status, stdout } = spawnSync('python3', ['-c', PROGRAM, join(folder, 'orders'), String(orders)], {
      encoding: 'utf8',
    });
    if (status !== 0) return null;
    const [one = Number.NaN, text = Number.NaN, range = Number.NaN, count = Number.NaN] = stdout
      .split(' ')
      .map(Number);
    return { one, text, range, count };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const PROGRAM = `
import sqlite3, sys, time
path, n = sys.argv[1], int(sys.argv[2])
stride, customers = 7368787, -(-n // 1000)
db = sqlite3.connect(path)
db.execute('create table orders (nr integer, email text, customer integer, created integer, amount integer)')
rows = ((i, f'customer{i * stride % n}@example.org', i * stride % customers, i, i % 97) for i in range(n))
db.executemany('insert into orders values (?, ?, ?, ?, ?)', rows)
db.execute('create unique index nr on orders (nr)')
db.execute('create index by_customer on orders (customer, created)')
db.execute('create unique index email on orders (email)')
db.commit()
def measured(count, ask):
    best = 1e9
    for turn in range(5):
        began = time.perf_counter()
        for i in range(count): ask(i * stride + turn * 31)
        best = min(best, (time.perf_counter() - began) / count)
    return best * 1000
def all(sql, *values): return db.execute(sql, values).fetchall()
print(measured(2000, lambda i: all('select amount from orders where nr = ?', i % n)),
      measured(2000, lambda i: all('select amount from orders where email = ?', f'customer{i % n}@example.org')),
      measured(200, lambda i: all('select * from orders where customer = ? order by created desc limit 100', i % customers)),
      measured(20, lambda i: all('select count(*) from orders where nr >= ? and nr < ?', i % 999, i % 999 + min(100000, n // 10))))
`;
