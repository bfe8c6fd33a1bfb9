import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProcess } from '@svc/devnet/start-process'
import { expect, it, onTestFinished } from 'vitest'
import { findAlarms } from '../../src/alarms/store.ts'
import { readConfig } from '../../src/config.ts'
import { startWitness } from '../../src/start-witness.ts'
import { startTestGateway } from './test-gateway.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url)

it('T-106 a killed monitor resumes without skipping or repeating findings', {
  tags: ['nightly'],
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-monitor-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const gateway = await startTestGateway('killed.example')
  onTestFinished(() => gateway.stop())
  const issuedAtUnix = Math.floor(Date.now() / 1000) - 60
  for (let i = 0; i < 600; i++) {
    const isWrong = i === 205 || i === 505
    gateway.attest(i % 100, { issuedAtUnix, ...(isWrong && { previousDigest: 'ee'.repeat(32) }) })
  }
  await gateway.publish()
  await writeFile(join(folder, 'logs.txt'), `${gateway.line}\n`)
  const variables = { DATA_DIR: folder, HOST: '127.0.0.1', PORT: '0', MONITOR_ANCHOR_SECONDS: '0' }

  // Killed while it waits for the second page.
  const asked = Promise.withResolvers<void>()
  gateway.instead.set('/v1/log/statements?from=256&', () => asked.resolve())
  const killed = startProcess(MAIN, { env: variables })
  await asked.promise
  await killed.kill()
  gateway.instead.clear()

  const { config, secrets } = readConfig({ ...variables, MONITOR_SECONDS: '0', LOG_LEVEL: 'silent' })
  const witness = await startWitness(config, secrets)
  onTestFinished(() => witness.stop())
  const { db } = witness.context.database
  const progress = () => db.selectFrom('monitored_logs').select('judged').execute()
  const alarmed = async () => (await findAlarms(db, 20)).map(({ message }) => message.split(':')[0]).toReversed()
  expect([await progress(), await alarmed()]).toEqual([[{ judged: 256 }], ['entry 205']])
  await witness.monitor.round()
  expect([await progress(), await alarmed()]).toEqual([[{ judged: 600 }], ['entry 205', 'entry 505']])
})
