import { forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'

const instance = forEachTest(() => openTestGateway({ RATE_LIMITS: 'address=5/min' }))

it('T-10 the gateway refuses an address with too many bad signatures before it checks another one', async () => {
  const owner = ed25519Identity()
  const unknownKey = ed25519Identity()
  const locker = await instance.locker(owner)
  const read = (who = owner) => locker.call<{ error?: string }>(['locker:read'], 'GET', '/record', undefined, who)
  for (let i = 0; i < 5; i++) expectRefusal(await read(unknownKey), 403, 'SIGNATURE_INVALID')
  const refused = await read(unknownKey)
  expectRefusal(refused, 429, 'RATE_LIMITED')
  expect(refused.headers.get('retry-after')).toBe('12')
  expectRefusal(await read(), 429, 'RATE_LIMITED')
  instance.clock.advance(12)
  expect((await read()).status).toBe(200)
})

it('T-10 the gateway does not count good signatures against the limit on bad ones', async () => {
  const owner = ed25519Identity()
  const locker = await instance.locker(owner)
  for (let i = 0; i < 10; i++) expect((await locker.call(['locker:read'], 'GET', '/record')).status).toBe(200)
})

it('T-35 T-10 the gateway refuses an address with too many unusable bodies before it parses another one', async () => {
  const order = (body: unknown) => instance.send<{ error?: string }>('POST', '/v1/x402/storage', body)
  for (let i = 0; i < 5; i++) expectRefusal(await order({ units: 'many' }), 422, 'validation_error')
  for (const body of [{ units: 'many' }, { units: 1 }]) {
    const refused = await order(body)
    expectRefusal(refused, 429, 'RATE_LIMITED')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  instance.clock.advance(12)
  expect((await order({ units: 1 })).status).not.toBe(429)
})

it('T-35 the gateway refuses a body of too many tags without reading it', async () => {
  const tags = { units: 1, tags: Array<number>(100_000).fill(1) }
  const refused = await instance.send('POST', '/v1/x402/storage', tags)
  expectRefusal(refused, 413, 'body_too_large')
})
