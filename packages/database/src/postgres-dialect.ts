import { type Dialect, PostgresDialect } from 'kysely'
import pg from 'pg'
import { PostgresCursorDriver } from './postgres-cursor-driver.ts'
import { parseSafeNumber } from './safe-number.ts'

const connectionTimeoutMs = 10_000

export function createPostgresDialect(url: string): Dialect {
  const types = new pg.TypeOverrides()
  types.setTypeParser(pg.types.builtins.INT8, parseSafeNumber)
  types.setTypeParser(pg.types.builtins.NUMERIC, parseSafeNumber)
  const pool = new pg.Pool({
    connectionString: url,
    types,
    keepAlive: true,
    connectionTimeoutMillis: connectionTimeoutMs,
  })
  // An idle connection that the server ends is replaced at the next query; without a listener it would end the process.
  pool.on('error', () => {})

  const dialect = new PostgresDialect({ pool })
  return {
    createDriver: () => new PostgresCursorDriver({ pool }),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  }
}
