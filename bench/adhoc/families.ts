import type { AdhocDialect } from './dialects.ts';
import { VariantDraw } from './variant-draw.ts';

/** One question in the SQL of any engine. The order of its rows is total. */
type Variant = (sql: AdhocDialect) => string;

/** Questions that differ in their values alone, and some in their form: `form` counts up from 0. */
export type Family = {
  readonly name: string;
  readonly draw: (draw: VariantDraw, form: number) => Variant;
};

/** Of each family, beside one to warm up with. */
export const VARIANT_COUNT = 5;

/** What is asked: the first of each family warms up. */
export type FamilyVariants = {
  readonly name: string;
  readonly warmUp: Variant;
  readonly asked: readonly Variant[];
};

/** Parts of messages and URLs, frequent and rare ones. */
const WORDS = [
  ...['Firefox', 'okhttp', 'CrOS', 'iPhone', 'Pixel 9', 'Redmi', 'httpx', 'Dalvik', 'curl', 'moto'],
  ...['/rpc/', 'refresh_token', 'webhook', 'avatars', 'audit_log', 'width=', 'apikey=', 'graphql'],
  ...['trace=', '.desc', 'eq.', 'select', 'provider=', 'checkout', 'carts', '| 404 |', '| 503 |'],
];

const TEXTS = ['url', 'path', 'message'] as const;

export const FAMILIES: readonly Family[] = [
  {
    name: '1 paths of the newest hours',
    draw: (draw) => {
      const since = draw.since(6, 48);
      return (sql) => `SELECT ${sql.path} AS name, COUNT(*) AS n FROM ${sql.from('q')}
        WHERE ${sql.since(since)} GROUP BY name ORDER BY n DESC, name LIMIT 10`;
    },
  },
  {
    name: '2 a part of the path by an expression',
    draw: (draw, form) => {
      const length = 2 + form + draw.random.below(2);
      const pattern = draw.fresh(() =>
        draw.random.pick([
          `^/[a-z]+/v1/([a-z_]{${length}})`,
          `^/([a-z]+/v1/[^/]{${length}})`,
          `/([^/]{${length},})$`,
          `([a-z]{${length}})[^a-z]*$`,
        ]),
      );
      return (sql) => `SELECT ${sql.extract(sql.path, pattern)} AS name, COUNT(*) AS n
        FROM ${sql.from('q')} GROUP BY name ORDER BY n DESC, name LIMIT 10`;
    },
  },
  {
    name: '3 a word in the message',
    draw: (draw) => {
      const word = draw.pickFresh(WORDS);
      return (sql) => `SELECT COUNT(*) AS n, MAX(${sql.time}) AS newest FROM ${sql.from('')}
        WHERE ${sql.message} LIKE '%${word}%'`;
    },
  },
  {
    name: '4 an expression on the URL',
    draw: (draw) => {
      const digits = draw.fresh(() => draw.random.hex(2));
      const pattern = draw.random.pick([
        String.raw`eq\.${digits}[0-9a-f]{6}-`,
        String.raw`(width|limit)=\d+.*${digits.slice(0, 1)}\d$`,
        String.raw`/(avatars|videos)/${digits}.*\.(png|jpg)$`,
        `[?&](token|apikey)=${digits}`,
        String.raw`offset=\d{3,}|trace=${digits}`,
      ]);
      return (sql) => `SELECT COUNT(*) AS n, MAX(${sql.time}) AS newest FROM ${sql.from('q')}
        WHERE ${sql.matches(sql.url, pattern)}`;
    },
  },
  {
    name: '5 functions of a text, summed by status',
    draw: (draw, form) => {
      const column = TEXTS[form % TEXTS.length]!;
      const word = draw.pickFresh(WORDS).toUpperCase();
      const since = draw.since(40, 110);
      return (sql) => `SELECT ${sql.status} AS status, SUM(LENGTH(${sql[column]})) AS characters,
          SUM(${sql.position(`UPPER(${sql[column]})`, word)}) AS positions
        FROM ${sql.from('qr')} WHERE ${sql.since(since)} GROUP BY status ORDER BY status`;
    },
  },
  {
    name: '6 messages, grouped',
    draw: (draw) => {
      const since = draw.since(4, 24);
      return (sql) => `SELECT ${sql.message} AS name, COUNT(*) AS n FROM ${sql.from('')}
        WHERE ${sql.since(since)} GROUP BY name ORDER BY n DESC, name LIMIT 10`;
    },
  },
  {
    name: '7 small columns, grouped',
    draw: (draw, form) => {
      const since = draw.since(48, 110);
      const less = 100 + draw.random.below(900);
      return (sql) => {
        const keys = [sql.method, sql.status, sql.hour].slice(form % 2, 2 + (form % 3));
        const names = keys.map((_, index) => `key_${index}`);
        return `SELECT ${keys.map((key, index) => `${key} AS ${names[index]}`).join(', ')},
            COUNT(*) AS n, SUM(${sql.originTime}) AS total, MAX(${sql.originTime}) AS longest
          FROM ${sql.from('qr')} WHERE ${sql.since(since)} AND ${sql.originTime} < ${less}
          GROUP BY ${names.join(', ')} ORDER BY ${names.join(', ')} LIMIT 500`;
      };
    },
  },
  {
    name: '8 the newest 100 that match',
    draw: (draw, form) => {
      const before = draw.since(0, 90);
      const status = Number(
        draw.pickFresh(['401', '404', '409', '429', '500', '503', '304', '206']),
      );
      const slower = 20 + draw.random.below(300);
      return (sql) => `SELECT ${sql.time} AS time, ${sql.path} AS name, ${sql.originTime} AS ms,
          ${sql.message} AS message
        FROM ${sql.from('qr')}
        WHERE ${sql.status} = ${status} AND ${sql.before(before)}
          AND ${form % 2 === 0 ? `${sql.originTime} > ${slower}` : `${sql.path} LIKE '/rest/%'`}
        ORDER BY ${sql.time} DESC, message LIMIT 100`;
    },
  },
  { name: '9 joins', draw: drawJoin },
  { name: '10 window functions', draw: drawWindow },
  {
    name: '11 distinct texts',
    draw: (draw, form) => {
      const since = draw.since(20, 60);
      const column = TEXTS[form % TEXTS.length]!;
      return (sql) => `SELECT ${sql.status} AS status, COUNT(DISTINCT ${sql[column]}) AS texts
        FROM ${sql.from('qr')} WHERE ${sql.since(since)} GROUP BY status ORDER BY status`;
    },
  },
  { name: '12 arrays and JSON', draw: drawParts },
];

/** The same for the same seed. */
export function drawFamilies(families: readonly Family[], seed: number): readonly FamilyVariants[] {
  // A family draws the same whether or not others are asked.
  return families.map((family) => {
    const draw = new VariantDraw(seed * 100 + FAMILIES.indexOf(family));
    const variants = Array.from({ length: 1 + VARIANT_COUNT }, (_, form) =>
      family.draw(draw, form),
    );
    return { name: family.name, warmUp: variants[0]!, asked: variants.slice(1) };
  });
}

/** Two windows of paths beside each other; or events of the busy projects. */
function drawJoin(draw: VariantDraw, form: number): Variant {
  const since = draw.since(10, 50);
  const before = draw.since(55, 100);
  const rowsMin = 200 + draw.random.below(2_000);
  const counts = (sql: AdhocDialect, condition: string): string =>
    `SELECT ${sql.path} AS name, COUNT(*) AS n FROM ${sql.from('q')} WHERE ${condition} GROUP BY name`;
  if (form % 2 === 0) {
    return (sql) => `WITH newer AS (${counts(sql, sql.since(since))}),
        older AS (${counts(sql, sql.before(before))})
      SELECT newer.name AS name, newer.n AS n, older.n AS was
      FROM newer INNER JOIN older ON newer.name = older.name
      ORDER BY newer.n - older.n DESC, name LIMIT 20`;
  }
  return (sql) => `WITH busy AS (SELECT ${sql.project} AS ref, COUNT(*) AS n FROM ${sql.from('')}
        WHERE ${sql.since(since)} GROUP BY ref HAVING COUNT(*) > ${rowsMin}),
      failed AS (SELECT ${sql.project} AS ref, ${sql.status} AS status FROM ${sql.from('r')}
        WHERE ${sql.status} >= 400)
    SELECT failed.status AS status, COUNT(*) AS n, SUM(busy.n) AS total
    FROM failed INNER JOIN busy ON failed.ref = busy.ref GROUP BY status ORDER BY status`;
}

/** The slowest requests of each project; running sums; or averages over hours. */
function drawWindow(draw: VariantDraw, form: number): Variant {
  const since = draw.since(5, 20);
  const rankMax = 1 + draw.random.below(5);
  switch (form % 3) {
    case 0:
      return (sql) => `SELECT project, ms, COUNT(*) AS n FROM (
          SELECT ${sql.project} AS project, ${sql.originTime} AS ms,
            RANK() OVER (PARTITION BY ${sql.project} ORDER BY ${sql.originTime} DESC) AS place
          FROM ${sql.from('r')} WHERE ${sql.since(since)}) AS ranked
        WHERE place <= ${rankMax} GROUP BY project, ms ORDER BY ms DESC, project LIMIT 50`;
    case 1:
      return (sql) => `SELECT project, MAX(running) AS most, COUNT(*) AS n FROM (
          SELECT ${sql.project} AS project,
            SUM(${sql.originTime}) OVER (PARTITION BY ${sql.project} ORDER BY ${sql.time}) AS running
          FROM ${sql.from('r')} WHERE ${sql.since(since)}) AS sums
        GROUP BY project ORDER BY most DESC, project LIMIT 50`;
    default:
      return (sql) => `SELECT project, hour, n,
          SUM(n) OVER (PARTITION BY project ORDER BY hour ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS near
        FROM (SELECT ${sql.project} AS project, ${sql.hour} AS hour, COUNT(*) AS n
          FROM ${sql.from('')} WHERE ${sql.since(since)} GROUP BY project, hour) AS hours
        ORDER BY near DESC, project, hour LIMIT 50`;
  }
}

/** Parts of paths as rows, one of them, how many there are, and JSON written and read. */
function drawParts(draw: VariantDraw, form: number): Variant {
  const since = draw.since(30, 100);
  const index = 2 + draw.random.below(4);
  switch (form % 5) {
    case 0:
      return (sql) => `SELECT part, COUNT(*) AS n FROM ${sql.fromParts(sql.path, '/')}
        WHERE ${sql.since(since)} GROUP BY part ORDER BY n DESC, part LIMIT 20`;
    case 1:
      return (sql) => `SELECT ${sql.splitAt(sql.path, '/', index)} AS name, COUNT(*) AS n
        FROM ${sql.from('q')} WHERE ${sql.since(since)}
        GROUP BY name ORDER BY n DESC, name LIMIT 20`;
    case 2:
      return (sql) => `SELECT ${sql.splitLength(sql.url, '&')} AS parts, COUNT(*) AS n
        FROM ${sql.from('q')} WHERE ${sql.since(since)} GROUP BY parts ORDER BY parts`;
    case 3:
      return (sql) => `SELECT ${sql.status} AS status,
          SUM(${sql.jsonLength([sql.method, sql.path])}) AS characters
        FROM ${sql.from('qr')} WHERE ${sql.since(since)} GROUP BY status ORDER BY status`;
    default:
      return (sql) => `SELECT ${sql.throughJson(sql.path)} AS name, COUNT(*) AS n
        FROM ${sql.from('q')} WHERE ${sql.since(since)}
        GROUP BY name ORDER BY n DESC, name LIMIT 20`;
  }
}
