import { type Dialect, type SelectModifierNode, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { createSqliteDriver } from './sqlite-driver.ts'

export function createSqliteDialect(path: string): Dialect {
  return {
    createDriver: () => createSqliteDriver(path),
    createQueryCompiler: () => new Compiler(),
    createAdapter: () => new Adapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
}

class Adapter extends SqliteAdapter {
  // Our driver locks its one connection itself: Kysely's lock wakes every waiter at every release, lets newcomers
  // overtake, and would be held for as long as a stream is read.
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

class Compiler extends SqliteQueryCompiler {
  // `for update` has nothing to add here, since a transaction holds the write lock of the whole file; left out, the
  // same query runs on both engines.
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier !== 'ForUpdate') super.visitSelectModifier(node)
  }
}
