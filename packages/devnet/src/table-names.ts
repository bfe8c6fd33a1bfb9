// For tests of growth: what a service keeps.

import type { Kysely } from 'kysely'

/** The tables of a service, without those of the migrations and of pg-boss. */
export async function tableNames(db: Kysely<unknown>): Promise<string[]> {
  const tables = await db.introspection.getTables()
  const own = tables.filter(({ schema }) => schema === undefined || schema === 'public')
  return own.map(({ name }) => name).filter((name) => name !== 'schema_migrations')
}
