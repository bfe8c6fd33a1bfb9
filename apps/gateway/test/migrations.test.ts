import { destructiveMigrations } from '@svc/devnet/destructive-migrations'
import { expect, it } from 'vitest'
import { migrations } from '../src/db/migrations.ts'

it('ADD-31 a migration that removes something is marked as such', async () => {
  expect(await destructiveMigrations(migrations)).toEqual([])
})
