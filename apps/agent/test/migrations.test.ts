import { takingMigrations } from '@svc/devnet/taking-migrations'
import { expect, it } from 'vitest'
import { migrations } from '../src/db/migrations.ts'

/** After this one releases run side by side. */
const LAST_ALONE = '0006-bounds'

it('ADD-31 a migration that takes something away says so', async () => {
  const taking = await takingMigrations(migrations)
  expect(taking.filter((name) => name > LAST_ALONE)).toEqual([])
})
