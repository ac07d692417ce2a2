/**
 * One small number for each type of value. Method tables, packers and converters are arrays indexed by it.
 */
export const Tag = {
  NIL: 0,
  BOOL: 1,
  INT: 2,
  FLOAT: 3,
  STR: 4,
  BYTES: 5,
  REGEX: 6,
  DATETIME: 7,
  TIMEVAL: 8,
  ERROR: 9,
  CLOSURE: 10,
  LIST: 11,
  TUPLE: 12,
  SET: 13,
  THING: 14,
  MPDATA: 15,
} as const;

export type Tag = (typeof Tag)[keyof typeof Tag];

export const TAG_COUNT = 16;
