/**
 * A backup that release 0.1.0 took, after these queries:
 *
 *   .l = range(1500).map(|i| 7); .s = set({n: 1}, {n: 2}); .t = {name: 'Ann', when: datetime(2020,1,2), nested: [[1],[2]]};
 *   new_procedure('add', |a, b| a + b); .c = |x| x + 1;                                                        in //stuff
 *   new_user('iris'); set_password('iris', 'secret'); grant('//stuff', 'iris', FULL);                          in @thingsdb
 */
export const FIRST_RELEASE_BACKUP = Buffer.from(
  [
    'QUxUSEJBQ0sAAAABAQAAAGOPhc8MeyJ2ZXJzaW9uIjoiMC4xLjAiLCJjbHVzdGVyIjoiNjFhN2YyM2FlMDc5NWI5ZDhkMDFmMDM1',
    'OWMxYjA3ZGQiLCJiZWd1bkF0IjoxNzk1ODk0OTMzMjU1LCJncm91cHMiOjJ9AgAAADBSFboAY2BgYFgyqe4do6NPiEewn2MAIwMC',
    'sECZTFBaiIGB4ccpHi0Gxhuz5l3/1mYOFgcAAgAAAUIfGrY2Y2BgYJxQJSvJxMiADFQYGBiYmFgYGZlDQ5zrQQTzfwjgZ2SUZ2Bk',
    'lGdiYpRnlmdF0ebMwMDAyJqYkpuZ1313zQ02RoGzveUGmu6CO3plGV5HWbLnKVwrXrPczHbiuWNLv93YqNfSPz/5U4yOmsT2e+8m',
    'NQge5r3Az8HIwMqM7JRCBgYGZpbMosziyRAzny7h9PmWtvHqIgFPLV+daVIKgsnePU6a8pOenkzZ1eX2O2diAttBs0+r1ywqmT77',
    'UXdcJD8HIyNbYkWJhWuhwsbkX4EbHh8o3Pq8ysHso5F3wP3YJYY3v65SzJvdz336806wHQwMbEzITpAEhQZrcUlpWhrEX6AAYbwx',
    'a971b23m7BG9z7PM70DVKzAwMEAlGBg4c/KTE3My8otLEKxP0xlBahCABxRo3602PNg+d5EJIyMDAAIAAAAwBbNSGWNgYGBaraGZ',
    'xszGAAFpuzUSah6mWe9dqOC4WPOK1tWvrvqOM96UZ/4WsL0tyCINAAIAAAAywqeRnGNgYGBQ0TeVZ3T0CfEI9nMMYGRgYGBigABm',
    'KA3jCzEwMBw6m6vJwHhj1rzr39rMwfIAAgAAARArwkoQ7Ze/TsMwEMa/u3OslKpFYurIXgb+vQDiFcqKlJJIHcBLK7VDBj8DOwsz',
    'M4hnYEZigIfgAZDQuYpFHgH1LrIt3SW55PxL/BkAzb7ffpjw1woATIVD33+s5xAc3U4AT5E5skR2kYvI/pNouccstBo6utn37abd',
    'TE/yHVIGYgAytmOXK5CRUBhgSNjnMM5IiCFhOKQKZCScIWFI9JFQfWILxy5riO7d81/CKxKvKjK7kI3/qwKc5KBOo1qpHYEoCHNS',
    'BVt/L+I4LQ5d5Gx7jbhQ3TVeLkJw60UTRil+PTqNcjW7hA/NctXUJQ9ItDnpbX4OFKGqru+/nj582VZH87aazg+7HGkcpmd7fn95',
    'eDwnwi8CAAAAMGZhLPZjYGBg4vSovs7MywABfvvbGT+Kb2pOtzW+E3lpu59bu9+/Tu20W+vDIzoO9dyZBgADAAAAIGYRk6cOzU2r',
    'lrADwV+OCRwKKFN2bEEN0nnv8d7/3SnqPl8AVg==',
  ].join(''),
  'base64',
);
