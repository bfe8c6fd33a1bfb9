// The explanation of a refused request: what was signed, what arrived, and what to do.

import { forAllTests } from '@svc/devnet/for-tests'
import {
  ed25519Identity,
  evmIdentity,
  type Identity,
  openTestGateway,
  type SignedCall,
} from '@svc/devnet/services/test-gateway'
import { lockerId } from '@svc/protocol/ids'
import { describe, expect, it } from 'vitest'

const instance = forAllTests(() => openTestGateway())
const locker = forAllTests(() => instance.locker(ed25519Identity()))

interface Refusal {
  error: string
  message: string
  hint: string
  details: Record<string, unknown>
}

const now = () => Math.floor(instance.clock.now() / 1000)

async function refuse(changes: Partial<SignedCall> = {}, who: Identity = locker.owner): Promise<Refusal> {
  const ids = { lockerId: locker.lockerId, receiptId: locker.receiptId }
  const path = `/v1/lockers/${locker.lockerId}/files`
  const call = { method: 'POST', path, body: { filename: 'a' }, ops: ['locker:write'], ...ids, ...changes }
  const { status, body } = await instance.call<Refusal>(who, call)
  expect(status, JSON.stringify(body)).toBeGreaterThanOrEqual(400)
  return body
}

describe('a refused envelope', () => {
  it('ENV-14 ERR-13 states how many seconds ago it expired, and the time of the gateway', async () => {
    const { error, message, hint, details } = await refuse({ envelope: { iat: now() - 100, exp: now() - 40 } })
    expect([error, message]).toEqual(['EXPIRED_ENVELOPE', expect.stringContaining('expired 40 s ago')])
    expect(hint).toContain(new Date(now() * 1000).toISOString().slice(0, 19))
    expect(details).toMatchObject({ exp: now() - 40, gateway_time: now() })
  })

  it('ENV-05 ENV-06 states the signed and the received method or path', async () => {
    const method = await refuse({ envelope: { method: 'post' } })
    expect(method.details).toMatchObject({ signed_method: 'post', request_method: 'POST' })
    const path = `/v1/lockers/${locker.lockerId}/files`
    const proxied = await refuse({ envelope: { path: `/storage${path}` } })
    expect(proxied).toMatchObject({
      error: 'PATH_MISMATCH',
      details: { signed_path: `/storage${path}`, request_path: path },
    })
    expect(proxied.hint).toContain('proxy')
  })

  it('ENV-07 ERR-11 states the hash of the received body', async () => {
    const { error, details } = await refuse({ envelope: { body_sha256: '00'.repeat(32) } })
    expect(error).toBe('BODY_HASH_MISMATCH')
    expect(details).toMatchObject({ received_bytes: 16, received_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
  })

  it('ENV-09 ERR-12 lists missing ops', async () => {
    const { error, message, hint } = await refuse({ ops: ['locker:read'] })
    expect([error, hint]).toEqual(['MISSING_OPS', 'sign with ops: ["locker:write"]'])
    expect(message).toContain('needs locker:write, but the envelope has locker:read')
  })

  it('ENV-17 ERR-10 names the expected signer of a wrong signature, shortened', async () => {
    const { identity } = locker.owner
    const wrong = await refuse({}, ed25519Identity())
    const key = `${identity.slice(0, 6)}…${identity.slice(-4)}`
    expect(wrong).toMatchObject({
      error: 'SIGNATURE_INVALID',
      details: { expected_owner: key, owner_sig_alg: 'ed25519' },
    })
    expect(wrong.hint).toContain(key)
    expect(JSON.stringify(wrong)).not.toContain(identity)
    const form = await refuse({ headers: { 'x-svc-signature': 'abc' } })
    expect(form.hint).toContain('base58 of 64 bytes')
    const evm = await refuse({}, evmIdentity())
    expect(evm.details).toMatchObject({ owner_sig_alg: 'ed25519' })
  })

  it.each([
    ['ed25519', ed25519Identity],
    ['secp256k1', evmIdentity],
  ])('ENV-17 ERR-10 tells a caller who knows only the locker id nothing about its %s owner', async (_, newOwner) => {
    const other = await instance.locker(newOwner())
    const path = `/v1/lockers/${other.lockerId}/files`
    const wrong = await refuse({ path, lockerId: other.lockerId, receiptId: '' }, ed25519Identity())
    expect(wrong.error).toBe('SIGNATURE_INVALID')
    expect(wrong.hint).toBe(
      'sign the exact bytes of X-Svc-Envelope, decoded, with the key of the owner or of a registered operator; put the receipt_id into the envelope to learn whose key is expected',
    )
    expect(Object.keys(wrong.details).toSorted()).toEqual(['layer', 'next_best_method', 'recovery_hint'])
  })

  it('ENV-12 names the locker of the request when the envelope is for another', async () => {
    const { error, details } = await refuse({ lockerId: 'locker_000000000000', receiptId: '' })
    expect([error, details]).toMatchObject(['LOCKER_ID_MISMATCH', { expected: locker.lockerId }])
  })
})

it('LOCK-04 a caller who names the receipt learns that its locker is not open yet; others learn only that there is none', async () => {
  const owner = ed25519Identity()
  const receiptId = await instance.receipt(owner)
  const unopened = lockerId(receiptId)
  const path = `/v1/lockers/${unopened}/files`
  const named = await refuse({ path, lockerId: unopened, receiptId }, owner)
  expect(named).toMatchObject({ error: 'locker_not_found', details: { reason: 'not_provisioned' } })
  const unnamed = await refuse({ path, lockerId: unopened, receiptId: '' }, owner)
  expect(unnamed).toMatchObject({ error: 'locker_not_found', message: 'no locker has this id' })
  expect(unnamed.details).not.toHaveProperty('reason')
})
