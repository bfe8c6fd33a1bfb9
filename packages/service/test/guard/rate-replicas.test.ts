import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { startProcess } from '@svc/devnet/start-process'
import { expect, it } from 'vitest'

const taker = new URL('./programs/take-limits.ts', import.meta.url)

forEachDatabaseInGate('three processes with one database', (database) => {
  it('T-10 together admit exactly the limit of each of twenty keys', { tags: ['nightly'] }, async () => {
    const takers = Array.from({ length: 3 }, () => startProcess(taker, { args: [database.url, '1800000000000'] }))
    for (const { waitForLine } of takers) await waitForLine(/ready/)
    for (const { stdin } of takers) stdin.write('begin\n')
    const counts = await Promise.all(takers.map(({ waitForLine }) => waitForLine(/^\d+$/)))
    expect(counts.reduce((sum, [count]) => sum + Number(count), 0)).toBe(200)
  })
})
