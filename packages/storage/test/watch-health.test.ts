import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openLocalProvider } from '../src/local/open.ts'
import { watchHealth } from '../src/watch-health.ts'

it('T-31 a provider that hangs does not delay the health report, and counts as down after its timeout', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-health-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const local = await openLocalProvider({ folder })
  let now = 0
  let isHanging = false
  const release = Promise.withResolvers<boolean>()
  const hanging = { ...local, check: () => (isHanging ? release.promise : local.check()) }
  const health = watchHealth(
    new Map([
      ['gcs', hanging],
      ['mongodb', local],
    ]),
    () => now,
  )
  const bothUp = { gcs: true, mongodb: true }
  expect(Object.fromEntries(await health())).toEqual(bothUp)
  isHanging = true
  now += 11_000
  expect(Object.fromEntries(await health())).toEqual(bothUp)
  await expect.poll(async () => Object.fromEntries(await health())).toEqual({ gcs: false, mongodb: true })
  release.resolve(true)
})
