import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forEachDatabase } from '@svc/devnet/databases'
import { freePort } from '@svc/devnet/free-port'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { startProcess } from '@svc/devnet/start-process'
import { expect, it, onTestFinished } from 'vitest'
import { expectChain, queueToAttest, statusOf } from './attest.ts'

const PROGRAM = new URL('./programs/attest-until-killed.ts', import.meta.url)

forEachDatabase('a gateway that is killed in the middle of attesting', (database) => {
  it('STATE-09 EVID-10 leaves its job to another gateway, which makes exactly one statement', {
    tags: ['nightly'],
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-killed-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const variables = { DATABASE_URL: database.url, STORAGE_DIR: join(folder, 'files'), STATEMENT_KEY: '07'.repeat(32) }
    const successor = await openTestGateway(variables)
    onTestFinished(successor.close)
    const locker = await successor.locker(ed25519Identity())
    await locker.put('a', 'a')
    await queueToAttest(successor, locker)

    const victim = startProcess(PROGRAM, {
      args: [String(successor.clock.now())],
      env: {
        ...variables,
        SVC_MODE: 'development',
        HOST: '127.0.0.1',
        PORT: String(await freePort()),
        DATA_DIR: folder,
        LOG_LEVEL: 'silent',
      },
    })
    await victim.waitForLine(/reading/)
    const { queue } = successor.gateway.context
    expect((await queue.counts()).attest).toMatchObject({ running: 1 })
    await victim.kill()

    // No gateway takes over the job before its lease ends.
    await queue.drain()
    expect(await statusOf(successor, locker)).toMatchObject({ status: 'pending' })
    // First the lease ends, then the delay after a failed run.
    for (let hour = 0; hour < 2; hour++) {
      successor.clock.advance(3600)
      await queue.drain()
    }
    expect(await statusOf(successor, locker)).toMatchObject({ status: 'computed', sequence: 1 })
    expect(await expectChain(successor, locker)).toHaveLength(1)
    expect((await queue.counts()).attest).toEqual({ waiting: 0, delayed: 0, running: 0, dead: 0 })
  })
})
