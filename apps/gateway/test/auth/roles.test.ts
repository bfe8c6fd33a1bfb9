import { forAllTests } from '@svc/devnet/for-tests'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  type Identity,
  openTestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { OPS } from '@svc/protocol/names'
import { describe, expect, it } from 'vitest'

const EVERY_OP = [...OPS]
const instance = forAllTests(() => openTestGateway())

const OWNERS = [
  ['Ed25519', ed25519Identity],
  ['EVM', evmIdentity],
] as const

const read = (locker: TestLocker, who: Identity, ops = ['locker:read']) =>
  locker.call<{ error?: string; operators: string[] }>(ops, 'GET', '/record', undefined, who)
const add = (locker: TestLocker, { identity }: Identity, who = locker.owner) =>
  locker.call(EVERY_OP, 'POST', '/operators', { pubkey: identity }, who)
const remove = (locker: TestLocker, { identity }: Identity, who = locker.owner) =>
  locker.call(EVERY_OP, 'DELETE', `/operators/${identity}`, undefined, who)

describe.each(OWNERS)('a locker of an %s owner', (_, createOwner) => {
  it('OPER-03 ERR-14 lets only the owner manage the locker, whatever ops an operator claims', async () => {
    const owner = createOwner()
    const operator = ed25519Identity()
    const locker = await instance.locker(owner, { operators: [operator] })
    const { lockerId, receiptId } = locker
    const ids = { lockerId, receiptId, ops: EVERY_OP, method: 'POST' }
    const provisioning = { ...ids, path: '/v1/storage/signed_provision', body: { receipt_id: receiptId } }
    const ownersOnly = [
      { ...ids, path: '/v1/storage/refresh', body: {} },
      provisioning,
      { ...provisioning, path: '/v1/storage/provision' },
      { ...ids, path: `/v1/lockers/${lockerId}/operators`, body: { pubkey: ed25519Identity().identity } },
      { ...ids, path: `/v1/lockers/${lockerId}/operators/${operator.identity}`, method: 'DELETE' },
    ]
    for (const call of ownersOnly) {
      const before = await read(locker, owner)
      expectRefusal(await instance.call(operator, call), 403, 'OWNER_REQUIRED')
      expect((await read(locker, owner)).body).toEqual(before.body)
      expect((await instance.call(owner, call)).status).toBe(200)
    }
  })

  it('OPER-06 ERR-15 refuses keys that are not registered', async () => {
    const locker = await instance.locker(createOwner(), { operators: [ed25519Identity()] })
    for (const unregistered of [ed25519Identity(), evmIdentity()]) {
      expectRefusal(await read(locker, unregistered), 403, 'SIGNATURE_INVALID')
      expectRefusal(await add(locker, unregistered, unregistered), 403, 'SIGNATURE_INVALID')
      const file = { filename: 'a' }
      const answer = await locker.call<{ message: string }>(['locker:write'], 'POST', '/files', file, unregistered)
      expectRefusal(answer, 403, 'SIGNATURE_INVALID')
      expect(answer.body.message).toBe('signature does not verify under the owner or any registered operator key')
    }
  })

  it('OPER-04 T-28 gives operators no access to other lockers of the same owner', async () => {
    const owner = createOwner()
    const operator = ed25519Identity()
    const locker = await instance.locker(owner, { operators: [operator] })
    const other = await instance.locker(owner)
    for (let i = 0; i < 2; i++) {
      // A valid signature of the operator or the owner just before changes nothing.
      expect((await read(locker, operator)).status).toBe(200)
      expectRefusal(await read(other, operator), 403, 'SIGNATURE_INVALID')
      expect((await read(other, owner)).status).toBe(200)
    }
  })
})

describe('a signature algorithm that does not match the owner', () => {
  it('ENV-11 never accepts secp256k1 for the locker of an Ed25519 owner', async () => {
    const owner = ed25519Identity()
    const locker = await instance.locker(owner, { operators: [ed25519Identity()] })
    expectRefusal(await read(locker, evmIdentity()), 403, 'SIGNATURE_INVALID')
    expectRefusal(await read(locker, { ...owner, sigAlg: 'secp256k1' }), 403, 'SIGNATURE_INVALID')
  })

  it('ENV-11 accepts ed25519 for the locker of an EVM owner only from an operator', async () => {
    const owner = evmIdentity()
    const operator = ed25519Identity()
    const locker = await instance.locker(owner, { operators: [operator] })
    expectRefusal(await read(locker, { ...owner, sigAlg: 'ed25519' }), 403, 'SIGNATURE_INVALID')
    expectRefusal(await read(locker, { ...operator, sigAlg: 'secp256k1' }), 403, 'SIGNATURE_INVALID')
    expectRefusal(await add(locker, ed25519Identity(), operator), 403, 'OWNER_REQUIRED')
  })
})

describe('an owner that is also an operator', () => {
  it('OPER-07 treats an owner that is an operator of its own locker as the owner', async () => {
    const owner = ed25519Identity()
    const locker = await instance.locker(owner, { operators: [owner] })
    const added = await add(locker, ed25519Identity())
    expect(added.status).toBe(200)
    expect((await remove(locker, owner)).status).toBe(200)
    expect((await add(locker, ed25519Identity())).status).toBe(200)
  })

  it('T-28 treats an owner that is an operator of another locker as an operator there', async () => {
    const [owner, friend] = [ed25519Identity(), ed25519Identity()]
    const own = await instance.locker(friend)
    const locker = await instance.locker(owner, { operators: [friend] })
    expect((await add(own, ed25519Identity())).status).toBe(200)
    expectRefusal(await add(locker, ed25519Identity(), friend), 403, 'OWNER_REQUIRED')
  })
})

it('T-28 the gateway does not mix up lockers that are looked up in one batch', async () => {
  const lockers = await Promise.all(Array.from({ length: 30 }, () => instance.locker(ed25519Identity())))
  const own = lockers.map((locker) => read(locker, locker.owner))
  const others = lockers.map((locker, i) => read(locker, lockers[(i + 1) % lockers.length]!.owner))
  const refusals = lockers.map(({ owner }, i) => {
    const lockerId = `locker_${String(i).padStart(12, '0')}`
    return instance.call(owner, { path: `/v1/lockers/${lockerId}/record`, ops: ['locker:read'], lockerId })
  })
  for (const [i, { body }] of (await Promise.all(own)).entries()) {
    expect(body).toMatchObject({ locker_id: lockers[i]!.lockerId, owner: lockers[i]!.owner.identity })
  }
  for (const answer of await Promise.all(others)) expectRefusal(answer, 403, 'SIGNATURE_INVALID')
  for (const answer of await Promise.all(refusals)) expectRefusal(answer, 404, 'locker_not_found')
})
