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

/** What both engines take as a parameter. */
type Value = string | number | bigint | Uint8Array | null

export type Prepared<Db, Values extends readonly Value[], Row> = (
  db: Db,
  ...values: Values
) => Promise<QueryResult<Row>>

/**
 * `build` runs once for each database, with a stand-in for every value. It may only pass values on to the query: what
 * it computes or decides from them would be fixed for good. In a transaction, call it with `trx`.
 *
 * PostgreSQL gets the same text each time but no named statement: one that was planned before a migration fails after
 * it, and a connection pooler between may not know its name.
 */
export function prepared<Db extends Executor, Values extends readonly Value[], Row>(
  build: (db: Db, ...values: Values) => Compilable<Row>,
): Prepared<Db, Values, Row> {
  const templateOf = templates<Db, Row>(build.length - 1, (db, standIns) =>
    build(db, ...(standIns as unknown as Values)),
  )
  return (db, ...values) => db.executeQuery(templateOf(db)(values))
}

/** The same with values by name, as for the columns of a row. */
export function preparedRow<Db extends Executor, Name extends string, Row>(
  names: readonly Name[],
  build: (db: Db, values: Readonly<Record<Name, never>>) => Compilable<Row>,
): (db: Db, values: Readonly<Record<Name, Value>>) => Promise<QueryResult<Row>> {
  const templateOf = templates<Db, Row>(names.length, (db, standIns) =>
    build(db, Object.fromEntries(names.map((name, i) => [name, standIns[i]])) as Record<Name, never>),
  )
  return (db, values) => db.executeQuery(templateOf(db)(names.map((name) => values[name])))
}

type Template<Row> = (values: readonly Value[]) => CompiledQuery<Row>

/** One for each database. */
function templates<Db extends Executor, Row>(
  count: number,
  build: (db: Db, standIns: readonly symbol[]) => Compilable<Row>,
): (db: Db) => Template<Row> {
  // A transaction has the adapter of its database.
  const known = new WeakMap<object, Template<Row>>()
  return (db) => {
    const { adapter } = db.getExecutor()
    let template = known.get(adapter)
    if (!template) {
      // Symbols, because computing with one throws.
      const standIns = Array.from({ length: count }, (_, i) => Symbol(`value ${i}`))
      // They are in the places of the values, and nothing but the query sees them.
      template = templateOf(build(db, standIns).compile(), standIns)
      known.set(adapter, template)
    }
    return template
  }
}

function templateOf<Row>(compiled: CompiledQuery<Row>, standIns: readonly symbol[]): Template<Row> {
  const { sql, query, queryId, parameters } = compiled
  const unused = standIns.find((standIn) => !parameters.includes(standIn))
  if (unused) throw new Error(`${unused.description} is no parameter of the query ${sql}`)
  const sources = parameters.map((parameter) => standIns.indexOf(parameter as symbol))
  return (values) => ({
    sql,
    query,
    queryId,
    parameters: sources.map((source, i) => (source === -1 ? parameters[i] : values[source])),
  })
}

/**
 * Any number of rows as one parameter, so that one text serves lists of every length: `json` is an array of arrays, each
 * of which becomes a row. Name it with `.as('item')`, and read its columns with `itemText` and `itemInteger`.
 */
export function jsonRows<Schema>(db: Reader<Schema>, json: string): RawBuilder<{ value: string }> {
  const read = isSqlite(db) ? 'json_each' : 'json_array_elements'
  return sql`${sql.raw(read)}(${json})`
}

/**
 * Whether a column has one of the texts of such rows, each of one. As an array, because PostgreSQL may join a subquery
 * with the whole table when it knows little about the table.
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

/** A whole number in the JSON object that a text column holds. */
export function jsonInteger<Schema>(db: Reader<Schema>, column: string, key: string): RawBuilder<number> {
  const json = isSqlite(db) ? sql.ref(column) : sql`cast(${sql.ref(column)} as json)`
  return sql`cast(${json} ->> ${sql.lit(key)} as bigint)`
}
