/**
 * Time it takes to take things back, in nanoseconds, as measured on a slow machine, since a query that ends too late
 * holds all others up: the inverse of a small change of things; a property that gets its former value; an item or member that comes or
 * goes again; an item of a list that moves; a thing that is unstored; a property of one; an entry of an index.
 */
export const NS_PER_UNDO = 400;
export const NS_PER_PUT_BACK = 80;
export const NS_PER_ITEM = 35;
export const NS_PER_MOVED_ITEM = 1;
export const NS_PER_MEMBER = 200;
export const NS_PER_THING = 800;
export const NS_PER_PROPERTY = 100;
export const NS_PER_ENTRY = 8000;
