import { expect, test } from '@jest/globals';
import { hadNoRoomToStart } from './run.js';

test('a node that has no room to start in ends with code 1 and says so; one that runs does not end for that', () => {
  const audit = '{"level":"info","event":"collection_made","msg":"a collection was made"}';
  const advice = 'Free some space, or release the reserve file, then compact and write again.';
  const folder = `althing: The disk is full: the data folder can not be opened. ${advice}`;
  const log = `althing: the log can not be opened: The disk is full: the log can not be opened. ${advice}`;
  expect(hadNoRoomToStart('code 1', `${audit} | ${folder}`)).toBe(true);
  expect(hadNoRoomToStart('code 1', `${audit} | ${log}`)).toBe(true);
  expect(hadNoRoomToStart('code 5', `${audit} | ${folder}`)).toBe(false);
  expect(hadNoRoomToStart('code 1', `${folder} | ${audit}`)).toBe(false);
  expect(hadNoRoomToStart('code 1', `${audit} | althing: The disk is full: a checkpoint. ${advice}`)).toBe(
    false,
  );
});
