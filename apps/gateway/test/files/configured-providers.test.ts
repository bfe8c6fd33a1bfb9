// One gateway with all providers, configured by settings as an admin does it.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isSlow, PROVIDERS } from '@svc/api/providers'
import { forAllTests } from '@svc/devnet/for-tests'
import { LOCAL_STORES } from '@svc/devnet/providers/local-stores'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { publicBytes } from '../adapters/http/sessions/sessions.ts'
import { manifestOf } from './confirm/confirm.ts'

const instance = forAllTests(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-providers-'))
  const started = await Promise.all(
    PROVIDERS.map(async (name) => ({ name, ...(await LOCAL_STORES[name](join(folder, name))) })),
  )
  const opened = await openTestGateway({
    LOCAL_PROVIDERS: '',
    STAGING_DIR: join(folder, 'staging'),
    ...Object.fromEntries(started.map(({ name, url }) => [name.toUpperCase(), url])),
  })
  async function close() {
    await opened.close()
    for (const store of started) await store.stop()
    await rm(folder, { recursive: true })
  }
  return { ...opened, folder, close }
})

async function staged(): Promise<number> {
  const entries = await readdir(join(instance.folder, 'staging'), { recursive: true, withFileTypes: true })
  return entries.filter((one) => one.isFile()).length
}

it.each(PROVIDERS)('FILE-01 FILE-30 %s stores a file, and removes its bytes where it can', async (provider) => {
  const isStaged = isSlow(provider)
  const locker = await instance.locker(ed25519Identity(), { provider })
  const refOf = async () => (await manifestOf(locker)).files[0]!.provider_ref
  const expectReadable = async () =>
    expect(`${await publicBytes(instance, locker, 'a.txt')}`).toBe(`kept at ${provider}`)
  await locker.put('a.txt', `kept at ${provider}`)
  await expectReadable()
  expect([await refOf(), await staged()]).toEqual([null, isStaged ? 1 : 0])
  for (let runs = 0; isStaged && runs < 5 && (await refOf()) === null; runs++) {
    await instance.gateway.context.queue.drain()
    instance.clock.advance(3600)
  }
  if (isStaged) expect(await refOf()).toMatch(/^[\w?=-]{43,}$/)
  expect(await staged()).toBe(0)
  await expectReadable()
  const { body } = await locker.call<object>(['locker:write'], 'DELETE', '/files/a.txt')
  expect(body).toMatchObject({ deleted: true, bytes_removed: !isStaged })
})
