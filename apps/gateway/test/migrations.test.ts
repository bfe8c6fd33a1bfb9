import { takingMigrations } from '@svc/devnet/taking-migrations'
import { expect, it } from 'vitest'
import { migrations } from '../src/db/migrations.ts'

it('ADD-31 a migration that takes something away says so', async () => {
  expect(await takingMigrations(migrations)).toEqual([])
})
