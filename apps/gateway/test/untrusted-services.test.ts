// Services that a gateway calls and does not trust. Each is real, behind a proxy that distorts its answers.

import type { Socket } from 'node:net'
import { DISTORTIONS, STALLS } from '@svc/devnet/distortions'
import { type FaultyProxy, startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { startGcsServer } from '@svc/devnet/providers/gcs/start'
import { gcsUrl } from '@svc/devnet/providers/store-urls'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { testKey } from '@svc/protocol/test/transparency/keys'
import { type Checkpoint, readCheckpoint, signCheckpoint } from '@svc/protocol/transparency/checkpoint'
import { leafHash } from '@svc/protocol/transparency/tree'
import { expect, it, onTestFinished } from 'vitest'
import { askWitness } from '../src/publication/log/witnesses/ask-witness.ts'
import { newFolder } from './adapters/http/object-stores.ts'
import { attest } from './evidence/attest.ts'
import { startTestWitness } from './publication/log/witnesses/test-witness.ts'

async function proxyOf(url: string): Promise<FaultyProxy> {
  const proxy = await startFaultyProxy(url)
  onTestFinished(proxy.stop)
  return proxy
}

it('T-139 a witness cosigns this checkpoint or counts as failed, however its answers are distorted', async () => {
  const log = testKey('log.example/lying', 'log')
  const witness = await startTestWitness('one.example')
  onTestFinished(witness.stop)
  witness.trust(log.key)
  const proxy = await proxyOf(/http:[^ ]+(?=\/w\/)/.exec(witness.line)![0])
  const askable = { name: 'one.example', key: witness.key, url: `${proxy.url}/w` }

  async function ask(entry: string, timeoutMs: number) {
    witness.forget()
    const root = leafHash(Buffer.from(entry))
    const note = await signCheckpoint(log.key, { size: 1, root }, log.sign)
    const checkpoint = readCheckpoint(note) as Checkpoint
    const question = { checkpoint, note, knownSize: 0, prove: async () => [] }
    return (await askWitness(askable, { ...question, signal: AbortSignal.timeout(timeoutMs) })).outcome
  }

  for (const [name, distort] of Object.entries(DISTORTIONS)) {
    expect(await ask(`before ${name}`, 60_000)).toBe('cosigned')
    proxy.always(/./, { distort })
    expect(await ask(`while it ${name}`, name in STALLS ? 200 : 60_000), name).toBe('failed')
    proxy.behave()
  }
})

it('T-139 a provider that never answers delays only requests that need it', async () => {
  const gcs = await startGcsServer({ folder: await newFolder() })
  onTestFinished(gcs.stop)
  const provider = await proxyOf(gcs.url)
  const instance = await openTestGateway({
    LOCAL_PROVIDERS: 'storj',
    GCS: gcsUrl({ ...gcs, url: provider.url }),
  })
  onTestFinished(instance.close)
  const slow = await instance.locker(ed25519Identity(), { provider: 'gcs' })
  const other = await instance.locker(ed25519Identity(), { provider: 'storj' })
  await slow.put('first.txt', 'one')

  const openSockets: Socket[] = []
  provider.always(/./, { distort: (socket) => void openSockets.push(socket) })
  let isDone = false
  const waiting = slow.put('second.txt', 'two').finally(() => {
    isDone = true
  })
  waiting.catch(() => {})
  await expect.poll(() => openSockets.length).toBeGreaterThan(0)

  await other.put('a.txt', 'three')
  await attest(instance, other)
  const list = await other.call<{ files: unknown[] }>(['locker:list'], 'GET', '/files')
  expect([list.status, list.body.files.length]).toEqual([200, 1])
  // These requests do not need the provider.
  expect((await slow.call(['locker:list'], 'GET', '/files')).status).toBe(200)
  expect((await instance.send('GET', '/health')).status).toBe(200)
  expect(isDone).toBe(false)

  provider.behave()
  for (const socket of openSockets) socket.destroy()
  await waiting.catch(() => {})
  await slow.put('third.txt', 'four')
})
