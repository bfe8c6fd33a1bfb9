import { forEachDatabase } from '@svc/devnet/databases'
import { createLog } from '@svc/service/program/log'
import { expect, it } from 'vitest'
import { createGaps } from '../../src/continuity/gaps.ts'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'

forEachDatabase('the gaps of a database', (database) => {
  it('T-37 the chain is read again for a server that answers during the read', async () => {
    const { db } = await database.openMigrated<Schema>(migrations)
    const questions: PromiseWithResolvers<[]>[] = []
    const nodes = {
      history: () => {
        const question = Promise.withResolvers<[]>()
        questions.push(question)
        return question.promise
      },
      wire: async () => null,
    }
    const publications = { nodes, signer: 'the publication key' }
    const gaps = createGaps({ db, journal: null, publications, log: createLog('silent') })

    const first = gaps.check()
    await expect.poll(() => questions.length).toBe(1)
    gaps.forgetChain()
    questions[0]!.resolve([])
    await first
    expect(gaps.isChainRead()).toBe(false)

    const second = gaps.check()
    await expect.poll(() => questions.length).toBe(2)
    questions[1]!.resolve([])
    await second
    expect(gaps.isChainRead()).toBe(true)
    await gaps.check()
    expect(questions).toHaveLength(2)
  })
})
