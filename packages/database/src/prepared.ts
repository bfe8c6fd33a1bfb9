// Queries that are built once. Building and compiling a query takes longer than SQLite takes to run it.

import {
  type Compilable,
  type CompiledQuery,
  type Kysely,
  type QueryResult,
  type RawBuilder,
  type SqlBool,
  SqliteAdapter,
  sql,
} from 'kysely'
import type { Reader } from './open.ts'

type Executor = Pick<Kysely<unknown>, 'executeQuery' | 'getExecutor'>

/** Parameter types that both engines accept. */
type Value = string | number | bigint | Uint8Array | null

export type Prepared<Db, Values extends readonly Value[], Row> = (
  db: Db,
  ...values: Values
) => Promise<QueryResult<Row>>

/**
 * `build` runs once per database, with a placeholder for every value. It may only pass the values on to the query:
 * anything that it computed or decided from them would be the same for every call. In a transaction, call the query
 * with `trx`.
 *
 * PostgreSQL receives the same text each time but no named statement: one that was planned before a migration fails
 * after it, and a connection pooler may not know its name.
 */
export function prepared<Db extends Executor, Values extends readonly Value[], Row>(
  build: (db: Db, ...values: Values) => Compilable<Row>,
): Prepared<Db, Values, Row> {
  const templateOf = templates<Db, Row>(build.length - 1, (db, markers) => build(db, ...(markers as unknown as Values)))
  return (db, ...values) => db.executeQuery(templateOf(db)(values))
}

/** Like `prepared`, with named values, such as the columns of a row. */
export function preparedRow<Db extends Executor, Name extends string, Row>(
  names: readonly Name[],
  build: (db: Db, values: Readonly<Record<Name, never>>) => Compilable<Row>,
): (db: Db, values: Readonly<Record<Name, Value>>) => Promise<QueryResult<Row>> {
  const templateOf = templates<Db, Row>(names.length, (db, markers) =>
    build(db, Object.fromEntries(names.map((name, i) => [name, markers[i]])) as Record<Name, never>),
  )
  return (db, values) => db.executeQuery(templateOf(db)(names.map((name) => values[name])))
}

type Template<Row> = (values: readonly Value[]) => CompiledQuery<Row>

/** One template per database. */
function templates<Db extends Executor, Row>(
  count: number,
  build: (db: Db, markers: readonly symbol[]) => Compilable<Row>,
): (db: Db) => Template<Row> {
  // A transaction has the adapter of its database.
  const known = new WeakMap<object, Template<Row>>()
  return (db) => {
    const { adapter } = db.getExecutor()
    let template = known.get(adapter)
    if (!template) {
      // Symbols, because computing with one throws.
      const markers = Array.from({ length: count }, (_, i) => Symbol(`value ${i}`))
      // The placeholders replace the values, and only the query sees them.
      template = templateOf(build(db, markers).compile(), markers)
      known.set(adapter, template)
    }
    return template
  }
}

function templateOf<Row>(compiled: CompiledQuery<Row>, markers: readonly symbol[]): Template<Row> {
  const { sql, query, queryId, parameters } = compiled
  const unused = markers.find((marker) => !parameters.includes(marker))
  if (unused) throw new Error(`${unused.description} is not a parameter of the query ${sql}`)
  const sources = parameters.map((parameter) => markers.indexOf(parameter as symbol))
  return (values) => ({
    sql,
    query,
    queryId,
    parameters: sources.map((source, i) => (source === -1 ? parameters[i] : values[source])),
  })
}

/**
 * Passes any number of rows as one parameter, so that one text serves lists of every length: `json` is an array of
 * arrays, each of which becomes a row. Name it with `.as('item')`, and read its columns with `itemText` and
 * `itemInteger`.
 */
export function jsonRows<Schema>(db: Reader<Schema>, json: string): RawBuilder<{ value: string }> {
  const read = isSqlite(db) ? 'json_each' : 'json_array_elements'
  return sql`${sql.raw(read)}(${json})`
}

/**
 * Whether a column equals one of the texts in such rows of one text each. Uses an array, because PostgreSQL may join a
 * subquery with the whole table when it knows little about the table.
 */
export function inJsonRows<Schema>(db: Reader<Schema>, column: string, json: string): RawBuilder<SqlBool> {
  const texts = sql`select ${itemText(0)} from ${jsonRows(db, json)} as item`
  return isSqlite(db) ? sql`${sql.ref(column)} in (${texts})` : sql`${sql.ref(column)} = any(array(${texts}))`
}

export function isSqlite<Schema>(db: Reader<Schema>): boolean {
  return db.getExecutor().adapter instanceof SqliteAdapter
}

export function itemText(column: number): RawBuilder<string> {
  return sql`item.value ->> ${sql.lit(column)}`
}

export function itemInteger(column: number): RawBuilder<number> {
  return sql`cast(${itemText(column)} as bigint)`
}

/** An integer from the JSON object in a text column. */
export function jsonInteger<Schema>(db: Reader<Schema>, column: string, key: string): RawBuilder<number> {
  const json = isSqlite(db) ? sql.ref(column) : sql`cast(${sql.ref(column)} as json)`
  return sql`cast(${json} ->> ${sql.lit(key)} as bigint)`
}
