// A list of any length as one parameter. The text of the query then stays the same, so that it can be prepared.

import { type AliasedRawBuilder, type Kysely, SqliteAdapter, sql } from 'kysely'

/** The items of a JSON array as the rows of a table `list` with one column, `value`; in their order. */
export function jsonList<Schema>(db: Kysely<Schema>, json: string): AliasedRawBuilder<{ value: unknown }, 'list'> {
  return db.getExecutor().adapter instanceof SqliteAdapter
    ? sql<{ value: unknown }>`json_each(${json})`.as('list')
    : sql<{ value: unknown }>`json_array_elements(${json}::json)`.as<'list'>(sql`list(value)`)
}

/** Text at a position of an item that is an array itself; null where it is null. */
export function textAt<Text extends string | null = string>(position: number) {
  return sql<Text>`list.value ->> ${sql.lit(position)}`
}
