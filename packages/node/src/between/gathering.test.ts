import { expect, test } from '@jest/globals';
import { Gathering } from './gathering.js';

/** Rounds until proposals wait again. */
function roundsUntilOn(gathering: Gathering): number {
  for (let rounds = 0; rounds < 1000; rounds++) if (gathering.begin(32, 0)) return rounds;
  throw new Error('nothing waits any more');
}

test('waits until all who were answered have asked again', () => {
  const gathering = new Gathering();
  expect(gathering.begin(32, 10)).toBe(true);
  expect(gathering.goesOn(41)).toBe(true);
  expect(gathering.isOn).toBe(true);
  expect(gathering.goesOn(42)).toBe(false);
  expect(gathering.isOn).toBe(false);
  expect(gathering.goesOn(0)).toBe(false);
});

test('waits for no more than a part of them, where its owner wants that', () => {
  const gathering = new Gathering(0.5);
  expect(gathering.begin(32, 10)).toBe(true);
  expect(gathering.goesOn(25)).toBe(true);
  expect(gathering.goesOn(26)).toBe(false);
});

test('waits for few, and for more than enough, not at all', () => {
  const gathering = new Gathering();
  expect(gathering.begin(3, 10)).toBe(false);
  expect(gathering.begin(1000, 200)).toBe(false);
  expect(gathering.begin(1000, 100)).toBe(true);
  expect(gathering.goesOn(127)).toBe(true);
  expect(gathering.goesOn(128)).toBe(false);
});

test('waits for as many as came before', () => {
  const gathering = new Gathering();
  gathering.begin(32, 8);
  gathering.end(24);
  expect(gathering.begin(32, 8)).toBe(true);
  expect(gathering.goesOn(23)).toBe(true);
  expect(gathering.goesOn(24)).toBe(false);
  // More than that are waited for only bit by bit.
  gathering.begin(32, 8);
  expect(gathering.goesOn(24)).toBe(true);
  expect(gathering.goesOn(25)).toBe(false);
});

test('does not wait where nobody asks again, but for a try now and then', () => {
  const gathering = new Gathering();
  expect(gathering.begin(32, 0)).toBe(true);
  gathering.end(0);
  expect(roundsUntilOn(gathering)).toBeGreaterThan(20);
  gathering.end(0);
  expect(roundsUntilOn(gathering)).toBeGreaterThan(20);
  expect(gathering.goesOn(8)).toBe(false);
  expect(roundsUntilOn(gathering)).toBe(0);
});

test('what is sent for another reason tells nothing about who comes', () => {
  const gathering = new Gathering();
  gathering.begin(32, 0);
  gathering.stop();
  gathering.end(0);
  expect(gathering.begin(32, 0)).toBe(true);
  expect(gathering.goesOn(31)).toBe(true);
});
