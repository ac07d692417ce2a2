/** One small number for each kind of value; `kinds.ts` says what each is. */
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
  MEMBER: 16,
  WRAP: 17,
  ANONYMOUS: 18,
  FUTURE: 19,
  TASK: 20,
  MODULE: 21,
  ROOM: 22,
} as const;

export type Tag = (typeof Tag)[keyof typeof Tag];

export const TAG_COUNT = 23;
