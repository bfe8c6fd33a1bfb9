import { fileURLToPath } from 'node:url'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { openTestGateway } from '@svc/devnet/services/test-gateway'
import { LAUNCHER, startProcess } from '@svc/devnet/start-process'
import { toHex } from '@svc/protocol/bytes'
import { expect, it } from 'vitest'
import { addStatements, logReader, type SeenHead } from './log-reader.ts'

const PROGRAM = fileURLToPath(new URL('./programs/publish-until-killed.ts', import.meta.url))
const LOG_KEY = '0a'.repeat(32)

/** The steps of writing 300 more entries: two tiles of level 0, one of level 1, and the entry bundles. */
const STEPS: [step: string, passes: number][] = [
  ['begin', 0],
  ['place', 0],
  ['before tile', 0],
  ['after tile', 0],
  ['after tile', 2],
  ['after tile', 4],
  ['sign', 0],
  ['before checkpoint', 0],
  ['after checkpoint', 0],
  ['before remove', 0],
  ['after remove', 0],
]

forEachDatabase('a writer that is killed', (database) => {
  const instance = forAllTests(() => openTestGateway({ DATABASE_URL: database.url, LOG_KEY }))

  function publishElsewhere(step: string, passes: number) {
    const { config, logIdentity: identity } = instance.gateway.context
    const env = {
      DATABASE_URL: database.url,
      LOG_STORE: config.transparency.folder,
      LOG_KEY,
      LOG_ORIGIN: identity.key.name,
    }
    return startProcess(LAUNCHER, { args: [PROGRAM, step, String(passes)], env }).ended
  }

  it('T-114 leaves no fork at any step, because the next writer continues with the same bytes', async () => {
    const { context, url } = instance.gateway
    const reader = logReader(url, context.logIdentity.key)
    const { db } = context.database
    const digests = await addStatements(db, 10)
    await context.publishLog()
    const seen: SeenHead[] = [await reader.head()]
    for (const [step, passes] of STEPS) {
      digests.push(...(await addStatements(db, 300)))
      expect(await publishElsewhere(step, passes), `${step} ${passes}`).toMatchObject({ signal: 'SIGKILL', stderr: '' })
      // A reader sees the previous log or the complete new one.
      const between = await context.publishedLog.newest()
      expect(await reader.entries(between!)).toEqual(digests.slice(0, between!.size))
      seen.push(between!)
      digests.push(...(await addStatements(db, 1)))
      // PostgreSQL notices only after a moment that the writer is gone.
      const sizePublished = () => context.publishLog().then(async () => (await reader.head()).size)
      await expect.poll(sizePublished).toBe(digests.length)
      const head = await reader.head()
      seen.push(head)
      expect(await reader.entries(head), step).toEqual(digests)
    }
    const last = seen.at(-1)!
    for (const head of seen) await reader.expectGrown(head, last)
    const recorded = await db.selectFrom('log_checkpoints').select(['size', 'root']).execute()
    const roots = new Map(recorded.map(({ size, root }) => [size, root]))
    for (const { size, root } of seen) expect(roots.get(size)).toBe(toHex(root))
    for (const { size, root } of recorded) await reader.expectGrown({ size, root: Buffer.from(root, 'hex') }, last)
  })
})
