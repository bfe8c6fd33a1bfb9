// The SQLite file to move, which is open on a single connection.

import type { DatabaseSync } from 'node:sqlite'
import { MOVED_AWAY } from '@svc/database/migrate'

export type Row = Record<string, string | number | Uint8Array | null>

export interface SourceTable {
  name: string
  columns: string[]
}

const BOOKKEEPING = 'schema_migrations'

/** Referenced tables come before the tables that refer to them. */
export function readTables(source: DatabaseSync): SourceTable[] {
  const names = texts(
    source,
    `select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name <> '${BOOKKEEPING}' order by name`,
  )
  const ordered = new Set<string>()
  const add = (name: string): void => {
    for (const target of texts(source, `select "table" as name from pragma_foreign_key_list('${name}')`)) {
      if (target !== name && !ordered.has(target)) add(target)
    }
    ordered.add(name)
  }
  for (const name of names) add(name)
  return [...ordered].map((name) => ({
    name,
    columns: texts(source, `select name from pragma_table_info('${name}') order by name`),
  }))
}

export function readMigrations(source: DatabaseSync): string[] {
  const isGateway = texts(source, `select name from sqlite_master where name = '${BOOKKEEPING}'`).length > 0
  return isGateway ? texts(source, `select name from ${BOOKKEEPING} order by name`) : []
}

export function* readBatches(source: DatabaseSync, { name, columns }: SourceTable, size: number): Generator<Row[]> {
  const select = `select ${columns.map((column) => `"${column}"`).join(', ')} from "${name}"`
  let batch: Row[] = []
  for (const row of source.prepare(select).iterate()) {
    batch.push(row as Row) // the driver rejects integers that a number cannot represent
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** From this commit on, no release starts on this file. */
export function markAsMoved(source: DatabaseSync): void {
  source.exec(`insert into ${BOOKKEEPING} (name) values ('${MOVED_AWAY}'); commit`)
}

function texts(source: DatabaseSync, select: string): string[] {
  return source
    .prepare(select)
    .all()
    .map(({ name }) => String(name))
}
