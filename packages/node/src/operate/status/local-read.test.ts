import { StoreClosedError } from '@althing/storage';
import { beforeEach, expect, test } from '@jest/globals';
import { MiniCluster } from '../../testing/mini-cluster.js';
import { LocalRead, type LocalReadOptions } from './local-read.js';

let cluster: MiniCluster;
let records: number;
let failures: unknown[];
let store: LocalReadOptions['state'];
let isReadable: boolean;

beforeEach(async () => {
  cluster = await MiniCluster.begin(1);
  records = 0;
  failures = [];
  isReadable = true;
  store = stateThat(() => {
    records += 1;
  });
});

function stateThat(read: () => void, isOpen = true): LocalReadOptions['state'] {
  return {
    isOpen,
    store: {
      read: () => {
        read();
        return undefined;
      },
    },
  };
}

function makeRead(): LocalRead {
  const { engine } = cluster.node(1);
  return new LocalRead({
    engine,
    state: {
      get isOpen() {
        return store.isOpen;
      },
      get store() {
        return store.store;
      },
    },
    session: () => ({ readable: isReadable }),
    onFailure: (error) => failures.push(error),
  });
}

test('a record of the storage and a query are read, each time anew', () => {
  const read = makeRead();
  expect([read.attempt(), read.attempt()]).toEqual([true, true]);
  expect(records).toBe(2);
  const { engine } = cluster.node(1);
  engine.run = () => {
    throw new Error('the engine is broken');
  };
  expect(read.attempt()).toBe(false);
  expect(failures).toEqual([new Error('the engine is broken')]);
});

test('nothing is read while the state stands still or is opened again', () => {
  const read = makeRead();
  isReadable = false;
  expect(read.attempt()).toBe(false);
  isReadable = true;
  store = stateThat(() => {}, false);
  expect(read.attempt()).toBe(false);
  expect([records, failures]).toEqual([0, []]);
});

test('a failure is told once, until it works again', () => {
  const read = makeRead();
  const closed = new StoreClosedError('state');
  const broken = stateThat(() => {
    throw closed;
  });
  const well = store;
  store = broken;
  expect([read.attempt(), read.attempt()]).toEqual([false, false]);
  expect(failures).toEqual([closed]);
  store = well;
  expect(read.attempt()).toBe(true);
  store = broken;
  expect(read.attempt()).toBe(false);
  expect(failures).toEqual([closed, closed]);
});
