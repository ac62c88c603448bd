/**
 * Random queries over one source of events, `logs`, whose metadata has a list of records with a
 * number `n`, a string `s`, a list of numbers `v` and now and then a value of another kind.
 */
export type RandomQuery = {
  readonly sql: string;
  /** Whether the text orders its rows by every column, so that only equal rows may change places. */
  readonly isOrdered: boolean;
};

export function randomQuery(random: Random): RandomQuery {
  const query = new QueryMaker(random).query(2);
  return { sql: query.sql, isOrdered: query.isOrdered };
}

/** Numbers of one seed: xorshift32. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0 || 1;
    for (let round = 0; round < 8; round++) this.#next();
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#next() * items.length)]!;
  }

  chance(probability: number): boolean {
    return this.#next() < probability;
  }

  #next(): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return this.#state / 2 ** 32;
  }
}

const KINDS = ['number', 'text', 'truth', 'time'] as const;
type Kind = (typeof KINDS)[number];

type Value = { readonly text: string; readonly kind: Kind };
type Table = { readonly sql: string; readonly values: readonly Value[] };
type Column = { readonly name: string; readonly kind: Kind };
type Query = { readonly sql: string; readonly columns: readonly Column[]; isOrdered: boolean };

const LITERALS: Readonly<Record<Kind, readonly string[]>> = {
  number: ['0', '1', '2', '3', 'CAST(NULL AS INT64)'],
  text: ["'x'", "'y'", "'xy'", 'CAST(NULL AS STRING)'],
  truth: ['TRUE', 'FALSE', 'CAST(NULL AS BOOL)'],
  time: [
    "TIMESTAMP '2026-01-15 00:00:00'",
    "TIMESTAMP '2026-01-15 01:30:00'",
    "TIMESTAMP '2026-01-15 02:00:00'",
    'CAST(NULL AS TIMESTAMP)',
  ],
};

/** `?` and a letter stand for an operand: number, text, (b)oolean, time. */
const OPERATIONS: Readonly<Record<Kind, readonly string[]>> = {
  number: ['(?n + ?n)', '(?n * ?n)', 'MOD(?n, 2)', 'LENGTH(?t)', 'CAST(?b AS INT64)', '(- ?n)'],
  text: ['CONCAT(?t, ?t)', 'UPPER(?t)', 'CAST(?n AS STRING)', "REPLACE(?t, 'x', 'y')"],
  truth: [
    ...['(?n = ?n)', '(?n < ?n)', '(?n >= ?n)', '(?t = ?t)', '(?t != ?t)', '(?i <= ?i)'],
    ...['(?b AND ?b)', '(?b OR ?b)', '(NOT ?b)', '(?n IS NULL)', '(?t IS NOT NULL)'],
    ...['(?b IS TRUE)', '(?b IS NOT FALSE)', '(?n BETWEEN ?n AND ?n)', '(?n IN (?n, 1))'],
    ...["(?t NOT IN (?t, 'x'))", "(?t LIKE 'x%')", "REGEXP_CONTAINS(?t, '^y?$')", '(?i > ?i)'],
    "(TIMESTAMP_TRUNC(?i, HOUR) IN ('2026-01-15 00:00:00', '2026-01-15 01:00:00'))",
  ],
  time: [
    ...['TIMESTAMP_TRUNC(?i, HOUR)', 'TIMESTAMP_TRUNC(?i, DAY)'],
    'TIMESTAMP_ADD(?i, INTERVAL 30 MINUTE)',
  ],
};

const OPERANDS: Readonly<Record<string, Kind>> = { n: 'number', t: 'text', b: 'truth', i: 'time' };

const LISTS: readonly { readonly text: string; readonly kind: Kind }[] = [
  { text: '[1, 2, 3]', kind: 'number' },
  { text: '[2, NULL, 2]', kind: 'number' },
  { text: '[1]', kind: 'number' },
  { text: "['x', 'y']", kind: 'text' },
  { text: "['y', NULL]", kind: 'text' },
  {
    text: "GENERATE_TIMESTAMP_ARRAY('2026-01-15 00:00:00', '2026-01-15 02:00:00', INTERVAL 1 HOUR)",
    kind: 'time',
  },
];

class QueryMaker {
  readonly #random: Random;
  #tables: readonly { readonly name: string; readonly columns: readonly Column[] }[] = [];
  #nameCount = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  query(depth: number): Query {
    const outer = this.#tables;
    const ctes = depth > 0 && this.#random.chance(0.4) ? this.#ctes(depth) : '';
    const query = this.#select(depth);
    this.#tables = outer;
    return { ...query, sql: ctes + query.sql };
  }

  #ctes(depth: number): string {
    const query = this.query(depth - 1);
    const name = this.#name('w');
    this.#tables = [...this.#tables, { name, columns: query.columns }];
    return `WITH ${name} AS (${query.sql}) `;
  }

  #select(depth: number): Query {
    const random = this.#random;
    const from = this.#from(depth);
    const where = random.chance(0.6) ? ` WHERE ${this.#value('truth', from.values, 2)}` : '';
    const tail = ` FROM ${from.sql}${where}`;
    const select = random.chance(0.35) ? this.#grouped(from, tail) : this.#plain(from, tail);
    return random.chance(0.5) ? this.#ordered(select) : select;
  }

  #plain(from: Table, tail: string): Query {
    const items = [1, 2, 3].slice(this.#random.pick([0, 1, 2])).map(() => this.#item(from));
    const distinct = this.#random.chance(0.2) ? 'DISTINCT ' : '';
    return {
      sql: `SELECT ${distinct}${items.map((item) => item.sql).join(', ')}${tail}`,
      columns: items.map((item) => item.column),
      isOrdered: false,
    };
  }

  #grouped(from: Table, tail: string): Query {
    const random = this.#random;
    const keys = [1, 2].slice(random.pick([0, 1, 2])).map(() => this.#item(from));
    const results = [1, 2].slice(random.pick([0, 1])).map(() => this.#aggregate(from));
    const items = [...keys, ...results];
    const columns = items.map((item) => item.column);
    const groupBy =
      keys.length === 0 ? '' : ` GROUP BY ${keys.map((key) => key.column.name).join(', ')}`;
    const values = columns.map(({ name, kind }) => ({ text: name, kind }));
    const having = random.chance(0.3) ? ` HAVING ${this.#value('truth', values, 1)}` : '';
    const list = items.map((item) => item.sql).join(', ');
    return { sql: `SELECT ${list}${tail}${groupBy}${having}`, columns, isOrdered: false };
  }

  #ordered(select: Query): Query {
    const random = this.#random;
    const directions = ['', ' DESC', ' DESC NULLS FIRST', ' NULLS LAST'];
    const keys = select.columns.map(({ name }) => `${name}${random.pick(directions)}`);
    const limit = random.chance(0.6) ? ` LIMIT ${random.pick([0, 1, 2, 5])}` : '';
    const offset = limit !== '' && random.chance(0.3) ? ' OFFSET 1' : '';
    return {
      ...select,
      sql: `${select.sql} ORDER BY ${keys.join(', ')}${limit}${offset}`,
      isOrdered: true,
    };
  }

  #item(from: Table): { readonly sql: string; readonly column: Column } {
    const kind = this.#random.pick(KINDS);
    const name = this.#name('c');
    return { sql: `${this.#value(kind, from.values, 2)} AS ${name}`, column: { name, kind } };
  }

  #aggregate(from: Table): { readonly sql: string; readonly column: Column } {
    const random = this.#random;
    const name = this.#name('c');
    const kind = random.pick(['number', 'text', 'time'] as const);
    const value = this.#value(kind, from.values, 1);
    const counts = ['COUNT(*)', `COUNT(${value})`, `COUNT(DISTINCT ${value})`];
    const condition = this.#value('truth', from.values, 1);
    const numbers = [...counts, `COUNTIF(${condition})`, `SUM(${kind === 'number' ? value : 1})`];
    if (random.chance(0.6)) {
      return { sql: `${random.pick(numbers)} AS ${name}`, column: { name, kind: 'number' } };
    }
    return { sql: `${random.pick(['MIN', 'MAX'])}(${value}) AS ${name}`, column: { name, kind } };
  }

  #from(depth: number): Table {
    const random = this.#random;
    let from = this.#table(depth);
    for (let count = random.pick([0, 0, 1, 1, 2]); count > 0; count--) {
      const right = random.chance(0.5) ? this.#list() : this.#oneTable(depth - 1);
      const values = [...from.values, ...right.values];
      const on = this.#joinCondition(from.values, right.values);
      const sql = random.pick([
        `${from.sql}, ${right.sql}`,
        `${from.sql} INNER JOIN ${right.sql} ON ${on}`,
        `${from.sql} INNER JOIN ${right.sql} ON ${on}`,
        `${from.sql} LEFT JOIN ${right.sql} ON ${on}`,
      ]);
      from = { sql, values };
    }
    return from;
  }

  #joinCondition(left: readonly Value[], right: readonly Value[]): string {
    const random = this.#random;
    const rest = this.#value('truth', [...left, ...right], 1);
    const one = random.pick(left);
    const other = right.find(({ kind }) => kind === one.kind);
    if (other === undefined) return rest;
    const tested =
      one.kind === 'time' && random.chance(0.7) ? `TIMESTAMP_TRUNC(${one.text}, HOUR)` : one.text;
    const equality = random.chance(0.5) ? `${tested} = ${other.text}` : `${other.text} = ${tested}`;
    return random.chance(0.3) ? `${equality} AND ${rest}` : equality;
  }

  #table(depth: number): Table {
    return this.#random.chance(0.4) ? this.#metadata() : this.#oneTable(depth);
  }

  /** One without joins of its own, as may stand behind JOIN. */
  #oneTable(depth: number): Table {
    const random = this.#random;
    if (depth > 0 && random.chance(0.4)) {
      const query = this.query(depth - 1);
      return this.#columnsOf(`(${query.sql})`, query.columns);
    }
    if (this.#tables.length > 0 && random.chance(0.5)) {
      const table = random.pick(this.#tables);
      return this.#columnsOf(table.name, table.columns);
    }
    return random.chance(0.2) ? this.#list() : this.#logs(this.#name('l'));
  }

  #columnsOf(sql: string, columns: readonly Column[]): Table {
    const alias = this.#name('t');
    const values = columns.map(({ name, kind }) => ({ text: `${alias}.${name}`, kind }));
    return { sql: `${sql} AS ${alias}`, values };
  }

  #logs(logs: string): Table {
    const values: readonly Value[] = [
      { text: `${logs}.timestamp`, kind: 'time' },
      { text: `${logs}.id`, kind: 'text' },
      { text: `${logs}.project`, kind: 'text' },
    ];
    return { sql: `logs AS ${logs}`, values };
  }

  #metadata(): Table {
    const [logs, m, v] = [this.#name('l'), this.#name('m'), this.#name('v')];
    const own = this.#logs(logs).values;
    const ofMetadata: readonly Value[] = [
      { text: `SAFE_CAST(${m}.n AS INT64)`, kind: 'number' },
      { text: `IFNULL(${m}.s, 'x')`, kind: 'text' },
      { text: `(${m}.s = 'y')`, kind: 'truth' },
      { text: `(${m}.n > 1)`, kind: 'truth' },
    ];
    const ofList: readonly Value[] = [{ text: `SAFE_CAST(${v} AS INT64)`, kind: 'number' }];
    const inner = `logs AS ${logs}, UNNEST(metadata) AS ${m}`;
    const outer = `logs AS ${logs} LEFT JOIN UNNEST(metadata) AS ${m}`;
    return this.#random.pick<Table>([
      { sql: inner, values: [...own, ...ofMetadata] },
      { sql: outer, values: [...own, ...ofMetadata] },
      { sql: `${outer} ON ${m}.n > 1`, values: [...own, ...ofMetadata] },
      { sql: `${inner}, UNNEST(${m}.v) AS ${v}`, values: [...own, ...ofMetadata, ...ofList] },
    ]);
  }

  #list(): Table {
    const list = this.#random.pick(LISTS);
    const alias = this.#name('e');
    const element: Value = { text: alias, kind: list.kind };
    if (!this.#random.chance(0.2)) {
      return { sql: `UNNEST(${list.text}) AS ${alias}`, values: [element] };
    }
    const offset = this.#name('o');
    return {
      sql: `UNNEST(${list.text}) AS ${alias} WITH OFFSET AS ${offset}`,
      values: [element, { text: offset, kind: 'number' }],
    };
  }

  #value(kind: Kind, values: readonly Value[], depth: number): string {
    const random = this.#random;
    const own = values.filter((value) => value.kind === kind);
    if (depth === 0 || random.chance(0.3)) {
      return own.length > 0 && random.chance(0.8)
        ? random.pick(own).text
        : random.pick(LITERALS[kind]);
    }
    const inner = (of: Kind) => this.#value(of, values, depth - 1);
    if (random.chance(0.25)) {
      return random.pick([
        `IF(${inner('truth')}, ${inner(kind)}, ${inner(kind)})`,
        `COALESCE(${inner(kind)}, ${inner(kind)})`,
        `CASE ${inner('number')} WHEN ${inner('number')} THEN ${inner(kind)} END`,
        `NULLIF(${inner(kind)}, ${inner(kind)})`,
      ]);
    }
    const operation = random.pick(OPERATIONS[kind]);
    return operation.replace(/\?([ntbi])/g, (_, letter: string) => inner(OPERANDS[letter]!));
  }

  #name(prefix: string): string {
    this.#nameCount += 1;
    return `${prefix}${this.#nameCount}`;
  }
}
