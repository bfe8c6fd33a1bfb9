import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { expect, it, onTestFinished } from 'vitest'

const taker = fileURLToPath(new URL('./programs/take-limits.ts', import.meta.url))

forEachDatabaseInGate('three processes with one database', (database) => {
  it('T-10 together admit exactly the limit of each of twenty keys', { tags: ['nightly'] }, async () => {
    const takers = Array.from({ length: 3 }, () => startTaker(database.url))
    for (const { nextLine } of takers) expect(await nextLine()).toBe('ready')
    for (const { begin } of takers) begin()
    const counts = await Promise.all(takers.map(({ nextLine }) => nextLine()))
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(200)
  })
})

function startTaker(url: string): { begin(): void; nextLine(): Promise<string | undefined> } {
  const child = spawn(process.execPath, [taker, url, '1800000000000'], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill())
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    begin: () => void child.stdin.write('begin\n'),
    nextLine: async () => (await lines.next()).value,
  }
}
