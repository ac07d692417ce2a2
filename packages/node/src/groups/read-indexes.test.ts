import { beforeEach, describe, expect, test } from '@jest/globals';
import { ReadIndexes } from './read-indexes.js';

let asked: number[] = [];
let heard: string[] = [];

function make(): ReadIndexes {
  asked = [];
  heard = [];
  return new ReadIndexes((id) => asked.push(id));
}

let reads = make();

beforeEach(() => {
  reads = make();
});

function request(name: string, isPatient = true): void {
  reads.request((ok) => heard.push(`${name} ${ok}`), isPatient);
}

describe('read indexes', () => {
  test('one question serves everyone who asked before it was sent, the next one who came meanwhile', () => {
    request('a');
    request('b');
    request('c');
    expect(asked).toEqual([1]);
    reads.answered(1, 5, 5);
    expect(heard).toEqual(['a true']);
    expect(asked).toEqual([1, 2]);
    reads.answered(2, 5, 5);
    expect(heard).toEqual(['a true', 'b true', 'c true']);
    expect(asked).toEqual([1, 2]);
  });

  test('are waited for where the state takes long by who is patient, as places are that others gave', () => {
    request('a', false);
    reads.answered(1, 7, 5);
    request('b', false);
    reads.answered(2, 7, 5);
    request('c');
    reads.answered(3, 7, 5);
    reads.whenApplied(7, 5, () => heard.push('there'));
    reads.turnAway();
    expect(heard).toEqual(['a false', 'b false']);
    reads.appliedTo(7);
    expect(heard.slice(2)).toEqual(['c true', 'there']);
  });

  test('are confirmed once the state is there', () => {
    request('a');
    reads.answered(1, 7, 5);
    reads.appliedTo(6);
    expect(heard).toEqual([]);
    reads.appliedTo(8);
    expect(heard).toEqual(['a true']);
  });

  test('read indexes that can not be had are told so', () => {
    request('a');
    reads.answered(1, null, 5);
    expect(heard).toEqual(['a false']);
  });

  test('an answer to another question counts for nothing', () => {
    request('a');
    reads.answered(9, 5, 5);
    expect(heard).toEqual([]);
    reads.answered(1, 5, 5);
    reads.answered(1, 5, 5);
    expect(heard).toEqual(['a true']);
  });

  test('a read that comes while others are told waits for the next question', () => {
    reads.request(() => request('b'), true);
    reads.answered(1, 5, 5);
    expect(heard).toEqual([]);
    expect(asked).toEqual([1, 2]);
  });

  test('are given up together', () => {
    request('a');
    request('b');
    reads.whenApplied(9, 1, () => heard.push('applied'));
    reads.abandon();
    reads.appliedTo(10);
    expect(heard).toEqual(['a false', 'b false']);
  });
});

describe('waiting for a log position', () => {
  test('ends at once when the state is there, else as soon as it is', () => {
    reads.whenApplied(3, 3, () => heard.push('three'));
    reads.whenApplied(5, 3, () => heard.push('five'));
    reads.whenApplied(4, 3, () => heard.push('four'));
    expect(heard).toEqual(['three']);
    reads.appliedTo(4);
    expect(heard).toEqual(['three', 'four']);
    reads.appliedTo(5);
    expect(heard).toEqual(['three', 'four', 'five']);
  });
});
