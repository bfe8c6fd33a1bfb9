// The SQLite file that is moved, read by the only connection to it.

import type { DatabaseSync } from 'node:sqlite'
import { MOVED_AWAY } from '@svc/database/migrate'

export type Row = Record<string, string | number | Uint8Array | null>

export interface SourceTable {
  name: string
  columns: string[]
}

const BOOKKEEPING = 'schema_migrations'

/** Tables that others refer to come before those that refer to them. */
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
    batch.push(row as Row) // integers beyond those that a number holds are refused by the driver
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** From its commit on no release starts on this file. */
export function markAsMoved(source: DatabaseSync): void {
  source.exec(`insert into ${BOOKKEEPING} (name) values ('${MOVED_AWAY}'); commit`)
}

function texts(source: DatabaseSync, select: string): string[] {
  return source
    .prepare(select)
    .all()
    .map(({ name }) => String(name))
}
