/**
 * The contents of the data folders in here, and the questions about them. Each part is a list of [scope, code]. Written are values of
 * all kinds and effects of all kinds; answers must not depend on the moment.
 */

/** Written first, and in the checkpoint of both folders. */
export const WRITTEN = [
  ['/t', "new_user('ann'); set_password('ann', 'secret of ann'); nil"],
  ['/t', "new_user('ben'); rename_user('ben', 'benny'); new_user('gone'); del_user('gone'); nil"],
  ['/t', "new_collection('second'); set_time_zone('//second', 'Europe/Amsterdam'); nil"],
  ['/t', "new_collection('third'); rename_collection('third', 'drei'); set_default_deep('//drei', 3); nil"],
  ['/t', "new_collection('gone'); nil"],
  [
    '/t',
    "grant('//stuff', 'ann', QUERY | CHANGE); grant('//drei', 'ann', FULL); grant('@thingsdb', 'benny', JOIN); nil",
  ],
  ['/t', "revoke('//drei', 'ann', GRANT); set_password('benny', 'x'); set_password('benny', nil); nil"],
  ['/t', "new_procedure('twice', |n| { 'Doubles.'; n * 2; }); nil"],
  [
    '//stuff',
    '.scalars = {nothing: nil, yes: true, no: false, zero: 0, small: -7, wide: 9007199254740993, least: INT_MIN, most: INT_MAX}; nil',
  ],
  [
    '//stuff',
    ".floats = [0.0, -0.0, 1.0, 1.5, -2.25e-300, 1.0e+308, 1.0 / 3.0]; .odd = [float('inf'), float('-inf'), float('nan')]; nil",
  ],
  ['//stuff', ".texts = ['', 'plain', 'Grüße, 世界 🐉', 'it''s', 'two\nlines']; nil"],
  [
    '//stuff',
    ".long = range(20000).map(|i| str(i % 10)).join(' long '); .bytes = bytes('bytes: ü'); .none = bytes(''); nil",
  ],
  [
    '//stuff',
    ".moments = [datetime(2024, 2, 29, 12, 30, 15), datetime(1999, 12, 31, 23, 59, 59, '+0530'), datetime(1), timeval(1700000000)]; nil",
  ],
  [
    '//second',
    ".zoned = [datetime(2024, 7, 1, 12, 0, 0), datetime(2024, 1, 1).to('America/New_York'), datetime(2020, 1, 1, '+01')]; nil",
  ],
  [
    '//stuff',
    ".regexes = [/^a.c$/i, /(?<year>\\d{4})-\\d\\d/, regex('[/]+', 's')]; .errors = [err(-100, 'mine'), lookup_err('lost'), zero_div_err()]; nil",
  ],
  [
    '//stuff',
    ".closures = [|| nil, |a, b| a + b, |x| { 'Doc.'; y = x; if (y > 3) { 'big'; } else { 'small'; }; }]; .call = |n| n * n; nil",
  ],
  ['//stuff', ".nested = [1, [2, [3, [4, {five: 5}]]], []]; .tuples = {in: [[1, 2], ['a', nil]]}; nil"],
  ['//stuff', ".tree = {a: {b: {c: {d: 'deep'}}}}; .again = .tree.a; .self = {}; .self.self = .self; nil"],
  ['//stuff', ".ring = {name: 'one', next: {name: 'two'}}; .ring.next.next = .ring; nil"],
  ['//stuff', ".restricted = {n: 1, m: 2}.restrict('int'); .maybe = {a: 'x', b: nil}.restrict('str?'); nil"],
  [
    '//stuff',
    ".things = {t: {u: 1}}.restrict('thing'); .lists = {l: [1]}.restrict('[]'); .numbers = {p: 1, q: 2.5}.restrict('number'); nil",
  ],
  [
    '//stuff',
    ".empty = {}; .empty_list = []; .empty_set = set(); .wider = {}; range(500).each(|i| .wider.set('key ' + str(i), i)); nil",
  ],
  ['//stuff', '.members = set({n: 1}, {n: 2}, {n: 3}); .kept = .members.one(); nil'],
  ['//stuff', '.many = range(5000); nil'],
  ['//stuff', ".guests = range(1500).map(|i| {name: 'guest ' + str(i), age: i % 90}); nil"],
  [
    '//stuff',
    ".crowd = set(range(1500).map(|i| {n: i})); .crowd.each(|c| c.n < 3 && .set('first ' + str(c.n), c)); nil",
  ],
  [
    '//stuff',
    "new_procedure('add', |a, b| a + b); new_procedure('touch', |n| { 'Counts.'; .count = n; }); new_procedure('old', || 1); nil",
  ],
  [
    '//stuff',
    "rename_procedure('old', 'newer'); new_procedure('gone', || 2); del_procedure('gone'); mod_procedure('newer', |x| x || 3); nil",
  ],
  ['//stuff', ".gone = {ring: {}}; .gone.ring.back = .gone; .del('gone'); nil"],
  [
    '//stuff',
    ".set('a key with blanks', 1); .set('ключ', 2); .set('', 3); .renamed = 4; .ren('renamed', 'name now'); nil",
  ],
  ['//drei', '.a = {b: {c: {d: {e: 1}}}}; nil'],
];

/** Written after that, and in the log only in the folder of a node that was killed. */
export const WRITTEN_LATER = [
  ['//stuff', ".scalars.small += 100; .scalars.later = 'later'; .scalars.del('zero'); nil"],
  [
    '//stuff',
    ".many.splice(10, 5, -1, -2); .many.push(7, 8); .many.shift(); .many[3] = 'three'; .floats.clear(); nil",
  ],
  [
    '//stuff',
    ".guests.remove(|g| g.age == 45); .guests[0].name = 'first'; .guests.unshift({name: 'zeroth', age: 1}); nil",
  ],
  [
    '//stuff',
    '.crowd.add({n: -1}, {n: -2}); .crowd.remove(|c| c.n >= 1000); .members |= set({n: 4}); .members ^= set(.kept); nil',
  ],
  ['//stuff', '.restricted.o = 3; .maybe.restrict(nil); .maybe.c = 1; nil'],
  [
    '//stuff',
    ".wider.clear(); .wider.set('only', .tree.a.b); .tree.del('a'); .del('again'); .new_ring = {}; .new_ring.x = .new_ring; nil",
  ],
  [
    '//stuff',
    "mod_procedure('add', |a, b, c| a + b + c); rename_procedure('touch', 'touched'); del_procedure('newer'); nil",
  ],
  [
    '//stuff',
    ".empty_list.extend(range(300).map(|i| [i, str(i)])); .long2 = 'y' + .long; .when = datetime(2024, 5, 5); nil",
  ],
  ['//second', '.late = /late/g; .fn = |x| x; .zoned.push(timeval(5)); nil'],
  [
    '/t',
    "new_user('late'); grant('//second', 'late', QUERY | RUN); del_collection('gone'); rename_user('benny', 'ben'); nil",
  ],
  [
    '/t',
    "new_procedure('thrice', |n| n * 3); mod_procedure('twice', |n| n + n); set_time_zone('//drei', 'UTC'); nil",
  ],
];

/** Questions that a node of any version answers the same. */
export const ASKED = [
  [
    '/t',
    'return users_info().map(|u| {u = u.load(); {name: u.name, has_password: u.has_password, access: u.access, tokens: u.tokens.len()}}), 4',
  ],
  [
    '/t',
    'collections_info().map(|c| {c = c.load(); [c.name, c.collection_id, c.time_zone, c.default_deep, c.next_free_id, c.things]})',
  ],
  [
    '/t',
    'procedures_info().map(|p| {p = p.load(); [p.name, p.doc, p.arguments, p.definition, p.with_side_effects, p.created_at]})',
  ],
  ['/t', "run('twice', 21)"],
  ['//stuff', '[.id(), .keys(), .len()]'],
  ['//stuff', 'return .scalars, 3'],
  ['//stuff', '[.scalars.keys(), .scalars.map(|k, v| [k, type(v), str(v)])]'],
  ['//stuff', '[.floats, .floats.map(|f| type(f)), .odd.map(|f| str(f))]'],
  ['//stuff', '[.texts, .texts.map(|t| t.len())]'],
  [
    '//stuff',
    "[.long.len(), .long == range(20000).map(|i| str(i % 10)).join(' long '), base64_encode(.bytes), .bytes.len(), type(.none), .none.len()]",
  ],
  ['//stuff', '.moments.map(|m| [type(m), str(m), m.extract(), m.zone()])'],
  ['//second', '.zoned.map(|m| [type(m), str(m), m.extract(), m.zone()])'],
  ['//stuff', ".regexes.map(|r| [type(r), str(r), 'aBc 2024-05 //'.replace(r, '_')])"],
  ['//stuff', '.errors.map(|e| [type(e), e.code(), e.msg()])'],
  [
    '//stuff',
    '[.closures, .closures.map(|c| c.doc()), .closures[1].call(2, 3), .closures[2].call(4), .call(7)]',
  ],
  ['//stuff', 'return [.nested, .tuples], 10'],
  ['//stuff', '[type(.nested), type(.nested[1]), type(.tuples.in[0]), .nested[1][1][1][1].id()]'],
  ['//stuff', "return [.get('tree'), .get('again'), .self, .ring, .get('new_ring')], 6"],
  ['//stuff', '[.self.self == .self, .ring.next.next == .ring, try(.tree.a == .again)]'],
  [
    '//stuff',
    "return ['restricted', 'maybe', 'things', 'lists', 'numbers'].map(|name| {t = .get(name); [t.restriction(), t.keys(), t]}), 6",
  ],
  ['//stuff', "[try(.restricted.z = 'z').code(), try(.things.z = 1).code(), try(.lists.z = 1).code()]"],
  [
    '//stuff',
    '[.empty, .empty_list, .empty_set, .empty_list.restriction(), .empty_set.restriction(), .kept]',
  ],
  ['//stuff', '[.wider.len(), .wider.keys(), .wider.values()]'],
  ['//stuff', '[.members.len(), .members.map_id(), .members.map(|m| m.n), .members.has(.kept)]'],
  ['//stuff', '[.many.len(), .many]'],
  ['//stuff', '[.guests.len(), .guests.map_id(), .guests.map(|g| [g.name, g.age])]'],
  ['//stuff', "[.crowd.len(), .crowd.map_id(), .crowd.map(|c| c.n), .crowd.has(.get('first 1'))]"],
  [
    '//stuff',
    "[.get('a key with blanks'), .get('ключ'), .get(''), .get('name now'), .has('renamed'), .has('gone')]",
  ],
  [
    '//stuff',
    'procedures_info().map(|p| {p = p.load(); [p.name, p.doc, p.arguments, p.definition, p.with_side_effects, p.created_at]})',
  ],
  ['//stuff', "run('add', 'x', 'y', 'z')"],
  ['//stuff', "[.get('long2').len(), .empty_list.len(), .get('when')]"],
  ['//drei', '.a'],
  ['//drei', '[datetime(2024, 1, 1, 12), .a.b.c.d.e]'],
  ['//second', "[.get('late'), .get('fn'), .len(), datetime(2024, 7, 1)]"],
];
