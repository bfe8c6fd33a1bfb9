import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openLocalProvider } from '../src/local/open.ts'
import { watchHealth } from '../src/watch-health.ts'

async function openLocal() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-health-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return openLocalProvider({ folder })
}

it('VER-20 a provider that is slow when the gateway starts is up as soon as its first check ends', {
  tags: ['nightly'],
}, async () => {
  const local = await openLocal()
  const answer = Promise.withResolvers<boolean>()
  let checks = 0
  const check = () => {
    checks++
    return answer.promise
  }
  const { health } = watchHealth(new Map([['gcs', { ...local, check }]]), () => 0)
  // A caller does not wait for the whole time of the check.
  expect((await health()).get('gcs')).toBe(false)
  answer.resolve(true)
  await expect.poll(async () => (await health()).get('gcs')).toBe(true)
  expect(checks).toBe(1)
})

it('VER-20 a provider that fails when the gateway starts is checked again after a second', async () => {
  const local = await openLocal()
  const answers = [false, true, false]
  let now = 0
  const check = async () => answers.shift() ?? false
  const { health } = watchHealth(new Map([['gcs', { ...local, check }]]), () => now)
  const isUp = async () => (await health()).get('gcs')
  expect(await isUp()).toBe(false)
  now += 999
  expect(await isUp()).toBe(false)
  now += 1
  expect(await isUp()).toBe(true)
  now += 9_999
  expect(await isUp()).toBe(true)
  now += 1
  expect(await isUp()).toBe(false)
})

it('T-139 a provider that hangs does not delay the health report, and counts as down after its timeout', {
  tags: ['nightly'],
}, async () => {
  const local = await openLocal()
  let now = 0
  let isHanging = false
  const release = Promise.withResolvers<boolean>()
  const hanging = { ...local, check: () => (isHanging ? release.promise : local.check()) }
  const { health } = watchHealth(
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
