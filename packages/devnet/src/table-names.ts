// For tests of growth: the tables of a service, and how many rows they have.

import { type Kysely, sql } from 'kysely'

/** The tables of a service, without those of the migrations and of pg-boss. */
export async function tableNames(db: Kysely<unknown>): Promise<string[]> {
  const tables = await db.introspection.getTables()
  const own = tables.filter(({ schema }) => schema === undefined || schema === 'public')
  return own.map(({ name }) => name).filter((name) => name !== 'schema_migrations')
}

/** How many rows each of them has. */
export async function countRows(db: Kysely<unknown>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const name of await tableNames(db)) {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)}`.execute(db)
    counts[name] = Number(rows[0]?.count)
  }
  return counts
}
