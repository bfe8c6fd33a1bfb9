// The parts that a gateway asks and does not believe, each real, with answers that are distorted on their way.

import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { DISTORTIONS, STALLS } from '@svc/devnet/distortions'
import { type FaultyProxy, startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { startHttpServer } from '@svc/devnet/http-server'
import { startOidcIssuer } from '@svc/devnet/oidc-issuer'
import { startGcsServer } from '@svc/devnet/providers/gcs/start'
import { fromHex, toHex } from '@svc/protocol/bytes'
import { ed25519PublicKey, ed25519Signer } from '@svc/protocol/keys'
import { type Checkpoint, readCheckpoint, signCheckpoint } from '@svc/transparency/checkpoint'
import { testKey } from '@svc/transparency/test/keys'
import { leafHash } from '@svc/transparency/tree'
import { expect, it, onTestFinished } from 'vitest'
import { openSigner } from '../src/keys/signers/signer.ts'
import { askWitness } from '../src/log/witnesses/ask-witness.ts'
import { attest } from './attestations/attest.ts'
import { ed25519Identity, openLockerHouse } from './auth/lockers.ts'
import { createTestVerifier, outcome } from './auth/oidc-verifier.ts'
import { startTestWitness } from './log/witnesses/test-witness.ts'
import { newFolder } from './transfers/object-stores.ts'

async function proxyOf(url: string): Promise<FaultyProxy> {
  const proxy = await startFaultyProxy(url)
  onTestFinished(proxy.stop)
  return proxy
}

it('T-136 a signature is one that holds, or the signer cannot be used, whatever becomes of its answers', {
  tags: ['nightly'],
}, async () => {
  const key = ed25519Signer(new Uint8Array(32).fill(0x53))
  const server = await startHttpServer(async (request, response) => {
    const { message_hex } = JSON.parse(await text(request)) as { message_hex: string }
    response.end(JSON.stringify({ signature_hex: toHex(key.sign(fromHex(message_hex) as Uint8Array)) }))
  })
  onTestFinished(server.stop)
  const verifier = ed25519PublicKey(key.publicKey)!
  // Together: those that stall take five seconds each.
  const attacks = Object.entries(DISTORTIONS).map(async ([name, distort]) => {
    const proxy = await proxyOf(server.url)
    const signer = openSigner({ signer: proxy.url, publicKeyHex: toHex(key.publicKey), token: null })
    const sign = async (words: string) => {
      const message = Buffer.from(words)
      return verifier.verify(message, await signer.sign(message))
    }
    expect(await sign('before')).toBe(true)
    proxy.always(/./, { distort })
    const result = await sign('meanwhile').catch((error: { code: string }) => error.code)
    expect([true, 'signing_key_unavailable'], name).toContain(result)
    proxy.behave()
    expect(await sign('after'), `after ${name}`).toBe(true)
  })
  await Promise.all(attacks)
})

it('T-136 a cosignature is one of this checkpoint, or the witness has failed, whatever becomes of its answers', async () => {
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

it('T-136 a token is checked with true keys, or the identity provider cannot be asked', {
  tags: ['nightly'],
}, async () => {
  const issuer = await startOidcIssuer()
  onTestFinished(issuer.stop)
  const proxy = await proxyOf(new URL(issuer.jwksUrl).origin)
  const jwksUrl = proxy.url + new URL(issuer.jwksUrl).pathname
  const verify = async (jwksTimeoutMs: number) => {
    const verifier = createTestVerifier(issuer, { jwksUrl, now: Date.now, jwksTimeoutMs, jwksCooldownMs: 0 })
    return outcome(verifier.verify(`Bearer ${issuer.token()}`))
  }
  for (const [name, distort] of Object.entries(DISTORTIONS)) {
    proxy.always(/./, { distort })
    expect(['sponsor', 'identity_provider_unavailable'], name).toContain(await verify(name in STALLS ? 200 : 60_000))
    proxy.behave()
    expect(await verify(60_000), `after ${name}`).toBe('sponsor')
  }
})

it('T-139 a provider that never answers holds up nobody who does not need it', async () => {
  const gcs = await startGcsServer({ folder: await newFolder() })
  onTestFinished(gcs.stop)
  const provider = await proxyOf(gcs.url)
  const house = await openLockerHouse({
    LOCAL_PROVIDERS: 'storj',
    GCS_BUCKET: gcs.bucket,
    GCS_CREDENTIALS: gcs.keyFile,
    GCS_ENDPOINT: provider.url,
    GCS_IAM_ENDPOINT: provider.url,
  })
  onTestFinished(house.close)
  const slow = await house.locker(ed25519Identity(), { provider: 'gcs' })
  const other = await house.locker(ed25519Identity(), { provider: 'storj' })
  await slow.put('first.txt', 'one')

  const held: Socket[] = []
  provider.always(/./, { distort: (socket) => void held.push(socket) })
  let isDone = false
  const waiting = slow.put('second.txt', 'two').finally(() => {
    isDone = true
  })
  waiting.catch(() => {})
  await expect.poll(() => held.length).toBeGreaterThan(0)

  await other.put('a.txt', 'three')
  await attest(house, other)
  const list = await other.call<{ files: unknown[] }>(['locker:list'], 'GET', '/files')
  expect([list.status, list.body.files.length]).toEqual([200, 1])
  // Of the same locker: what does not need the provider.
  expect((await slow.call(['locker:list'], 'GET', '/files')).status).toBe(200)
  expect((await house.send('GET', '/health')).status).toBe(200)
  expect(isDone).toBe(false)

  provider.behave()
  for (const socket of held) socket.destroy()
  await waiting.catch(() => {})
  await slow.put('third.txt', 'four')
})
