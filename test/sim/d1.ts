// A stand-in for D1 on node:sqlite, in memory. Like D1, it runs a batch as one transaction, binds numbers as REAL, returns blobs as arrays
// and enforces foreign keys, and refuses long statements and many values. Not simulated: D1's authorizer, its other limits and its billed rows.
import { constants, DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';

/** Decides when a call to the database runs and what its caller learns. */
type Intercept = <T>(run: () => T) => Promise<T>;

type Value = SQLInputValue | boolean;
type Result = { results: Record<string, unknown>[]; success: true; meta: Record<string, number> };

const MAX_VALUES = 100;
const MAX_SQL = 100_000;

type Prepared = { statement: StatementSync; returnsRows: boolean; writes: ReadonlySet<string> };
const WRITES = [constants.SQLITE_INSERT, constants.SQLITE_UPDATE, constants.SQLITE_DELETE];

export class SimulatedD1 {
  readonly sqlite = new DatabaseSync(':memory:');
  /** The tables that statements have changed since somebody last emptied this. */
  readonly changed = new Set<string>();
  /** The tables that the statement being prepared may change, also by deleting what refers to its rows. */
  #writes = new Set<string>();
  readonly #reads = new Map<string, StatementSync>();
  readonly #prepared = new Map<string, Prepared>();
  readonly #intercept: Intercept;

  /** `now` replaces SQLite's clock, in milliseconds since 1970. */
  constructor(now: () => number, intercept: Intercept) {
    this.#intercept = intercept;
    this.sqlite.function('unixepoch', { varargs: true }, () => now() / 1000);
    this.sqlite.setAuthorizer((action, table) => {
      if (WRITES.includes(action) && table !== null) this.#writes.add(table);
      return constants.SQLITE_OK;
    });
  }

  prepare(sql: string): Statement {
    return new Statement(this, sql, []);
  }

  /** Reads rows for a test: not as a call of the service. */
  rows(sql: string): Record<string, SQLOutputValue>[] {
    const known = this.#reads.get(sql) ?? this.sqlite.prepare(sql);
    this.#reads.set(sql, known);
    return known.all();
  }

  async batch(statements: Statement[]): Promise<Result[]> {
    if (statements.length === 0) throw new Error('D1_ERROR: No SQL statements detected.');
    return this.#intercept(() => this.#transaction(statements));
  }

  #transaction(statements: Statement[]): Result[] {
    this.sqlite.exec('begin immediate');
    try {
      const results = statements.map((statement) => this.#run(statement));
      this.sqlite.exec('commit');
      return results;
    } catch (error) {
      this.sqlite.exec('rollback');
      throw new Error(`D1_ERROR: ${error instanceof Error ? error.message : error}: SQLITE_ERROR`);
    }
  }

  #run({ sql, values }: Statement): Result {
    const { statement, returnsRows, writes } = this.#cached(sql);
    if (values.length > MAX_VALUES) throw new Error(`${values.length} values are too many`);
    if (sql.length > MAX_SQL) throw new Error(`${sql.length} characters are too many`);
    const given = values.map(bound);
    const results = returnsRows ? statement.all(...given).map(asSent) : [];
    const changes = returnsRows ? results.length : Number(statement.run(...given).changes);
    if (changes > 0) for (const table of writes) this.changed.add(table);
    return { results, success: true, meta: { changes, rows_read: 0, rows_written: 0, size_after: 0, duration: 0 } };
  }

  /** Prepares each text once. */
  #cached(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    this.#writes = new Set();
    const statement = this.sqlite.prepare(sql);
    statement.setReadBigInts(true); // otherwise it throws where D1 returns the nearest number
    const prepared = { statement, returnsRows: statement.columns().length > 0, writes: this.#writes };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

class Statement {
  readonly #d1: SimulatedD1;
  readonly sql: string;
  readonly values: readonly Value[];
  constructor(d1: SimulatedD1, sql: string, values: readonly Value[]) {
    this.#d1 = d1;
    this.sql = sql;
    this.values = values;
  }
  bind(...values: Value[]): Statement {
    return new Statement(this.#d1, this.sql, values);
  }
  async all(): Promise<Result> {
    const [result] = await this.#d1.batch([this]);
    return result as Result;
  }
  run(): Promise<Result> {
    return this.all();
  }
  async first(column?: string): Promise<unknown> {
    const [row = null] = (await this.all()).results;
    return column === undefined ? row : (row?.[column] ?? null);
  }
}

function bound(value: Value): SQLInputValue {
  if (value === undefined) throw new Error("Type 'undefined' not supported for value 'undefined'");
  return typeof value === 'boolean' ? Number(value) : value;
}

function asSent(row: Record<string, SQLOutputValue>): Record<string, unknown> {
  const sent: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    sent[name] = value instanceof Uint8Array ? [...value] : typeof value === 'bigint' ? Number(value) : value;
  }
  return sent;
}
