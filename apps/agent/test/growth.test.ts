import { readFileSync } from 'node:fs'
import { forEachDatabase } from '@svc/devnet/databases'
import { tableNames } from '@svc/devnet/table-names'
import type { Kysely } from 'kysely'
import { expect, it } from 'vitest'
import { migrations } from '../src/db/migrations.ts'
import type { Schema } from '../src/db/schema.ts'

const GATEWAY_DOCUMENT = new URL('../../../docs/gateway.md', import.meta.url)

forEachDatabase('the tables of the agent service', (database) => {
  it('T-140 are all listed in docs/gateway.md with their bound or their sweep', async () => {
    const { db } = await database.open<Schema>(migrations)
    const [, section = ''] = readFileSync(GATEWAY_DOCUMENT, 'utf8').split('### Tables of the agent service\n')
    const rows = section.split('\n#')[0]!.split('\n')
    const listed = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name))
    expect(listed.sort()).toEqual((await tableNames(db as Kysely<unknown>)).sort())
  })
})
