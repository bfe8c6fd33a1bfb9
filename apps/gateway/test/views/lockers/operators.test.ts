import { addOperator, removeOperator } from '@svc/api/lockers'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  openTestGateway,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { fromHex, toBase58 } from '@svc/protocol/bytes'
import { schemaCheck } from '@svc/service/http/validate'
import { beforeAll, describe, expect, it } from 'vitest'
import { provisionAt } from './provision.ts'

const newKey = () => ed25519Identity().identity
const newKeys = (count: number) => Array.from({ length: count }, newKey)
interface Changed {
  operators: string[]
  added?: boolean
  removed?: boolean
}

const add = (locker: TestLocker, body: unknown) => locker.call<Changed>(['locker:admin'], 'POST', '/operators', body)
const remove = (locker: TestLocker, pubkey: string) =>
  locker.call<Changed>(['locker:admin'], 'DELETE', `/operators/${pubkey}`)
const operatorsOf = async ({ call }: TestLocker) =>
  (await call<Changed>(['locker:read'], 'GET', '/record')).body.operators

forEachDatabase('operators', (database) => {
  const instance = forAllTests(() => openTestGateway({ DATABASE_URL: database.url }))
  const second = forAllTests(() => openTestGateway({ DATABASE_URL: database.url }))

  it('OPER-02 GEN-07 an owner adds and removes operators by their keys', async () => {
    const locker = await instance.locker(evmIdentity())
    const { lockerId: locker_id } = locker
    const [one, two] = [newKey(), newKey()]
    const added = (pubkey: string, operators: string[], added: boolean) =>
      [200, { ok: true, locker_id, pubkey, operators, added }] as const
    const removed = (pubkey: string, operators: string[]) =>
      [200, { ok: true, locker_id, pubkey, operators, removed: true }] as const
    const answerOf = async (answer: ReturnType<typeof add>) => {
      const { status, body, headers } = await answer
      expect(headers.get('cache-control')).toBe('no-store')
      const endpoint = body.removed ? removeOperator : addOperator
      expect(schemaCheck(endpoint.responses[200])(body)).toBeNull()
      return [status, body]
    }
    expect(await answerOf(add(locker, { pubkey: one }))).toEqual(added(one, [one], true))
    expect(await answerOf(add(locker, { pubkey: two, unknown: 1 }))).toEqual(added(two, [one, two], true))
    expect(await answerOf(add(locker, { pubkey: one }))).toEqual(added(one, [one, two], false))
    expect(await answerOf(remove(locker, one))).toEqual(removed(one, [two]))
    expect(await operatorsOf(locker)).toEqual([two])
    expect(await answerOf(remove(locker, two))).toEqual(removed(two, []))
  })

  it('OPER-02 removing an operator that is not registered is 404', async () => {
    const owner = ed25519Identity()
    const locker = await instance.locker(owner)
    const elsewhere = await instance.locker(owner, { operators: [ed25519Identity()] })
    const [registered] = (await operatorsOf(elsewhere)) as [string]
    for (const pubkey of [newKey(), registered, owner.identity, 'x', '%5B%5D', '__proto__', '%22']) {
      expectRefusal(await remove(locker, pubkey), 404, 'OPERATOR_NOT_FOUND')
    }
    expectRefusal(await remove(locker, '%00'), 422, 'validation_error')
    expect(await operatorsOf(elsewhere)).toEqual([registered])
  })

  it('OPER-01 operators added concurrently at two gateways are all registered', async () => {
    const locker = await instance.locker(ed25519Identity())
    const keys = newKeys(12)
    const elsewhere = inInstance(second, locker)
    const answers = await Promise.all(keys.map((pubkey, i) => add(i % 2 ? locker : elsewhere, { pubkey })))
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200))
    expect((await operatorsOf(locker)).sort()).toEqual(keys.sort())
    const removals = await Promise.all(keys.map((pubkey, i) => remove(i % 3 ? locker : elsewhere, pubkey)))
    expect(removals.map(({ status }) => status)).toEqual(Array(12).fill(200))
    expect(await operatorsOf(locker)).toEqual([])
  })

  it('OPER-01 a locker has at most 32 operators, even if more are added concurrently', async () => {
    const locker = await instance.locker(ed25519Identity())
    const elsewhere = inInstance(second, locker)
    const keys = newKeys(40)
    const answers = await Promise.all(keys.map((pubkey, i) => add(i % 2 ? locker : elsewhere, { pubkey })))
    const byStatus = Object.groupBy(answers, ({ status }) => status)
    expect([byStatus[200]?.length, byStatus[409]?.length]).toEqual([32, 8])
    const refused = await add(locker, { pubkey: newKey() })
    expectRefusal(refused, 409, 'OPERATOR_LIMIT_EXCEEDED')
    expect(refused.body).toMatchObject({ hint: expect.any(String), details: { limit: 32 } })
    const [first, ...rest] = (await operatorsOf(locker)) as [string, ...string[]]
    expect((await add(locker, { pubkey: first })).body).toMatchObject({ added: false })
    const atProvisioning = { operator_pubkey: newKey() }
    const provisioned = await provisionAt(instance, locker.owner, locker.receiptId, atProvisioning)
    expectRefusal(provisioned, 409, 'OPERATOR_LIMIT_EXCEEDED')
    await remove(locker, first)
    expect((await add(locker, { pubkey: first })).body.operators).toEqual([...rest, first])
  })

  it('OPER-06 removing an operator at one gateway takes effect immediately at another', async () => {
    const operator = ed25519Identity()
    const locker = await instance.locker(ed25519Identity(), { operators: [operator] })
    const elsewhere = inInstance(second, locker)
    const read = () => elsewhere.call(['locker:read'], 'GET', '/record', undefined, operator)
    expect((await read()).status).toBe(200)
    await remove(locker, operator.identity)
    expectRefusal(await read(), 403, 'SIGNATURE_INVALID')
    await add(locker, { pubkey: operator.identity })
    expect((await read()).status).toBe(200)
  })

  describe('invalid keys', () => {
    let locker: TestLocker
    beforeAll(async () => {
      locker = await instance.locker(ed25519Identity())
    })

    it.each<[string, unknown]>([
      ['missing', undefined],
      ['a list', [newKey()]],
      ['followed by a space', `${newKey()} `],
      ['an EVM address', evmIdentity().identity],
      ['a point of small order', toBase58(fromHex(`01${'00'.repeat(31)}`)!)],
    ])('OPER-01 ADD-04 an operator key that is %s is a 422', async (_, pubkey) => {
      const answer = await add(locker, { pubkey })
      expectRefusal(answer, 422, 'validation_error')
      const { detail } = answer.body as unknown as { detail: { loc: unknown[] }[] }
      for (const { loc } of detail) expect(loc).toEqual(['body', 'pubkey'])
      expect(await operatorsOf(locker)).toEqual([])
    })
  })
})

/** The same locker at another gateway. */
function inInstance(instance: TestGateway, { lockerId, receiptId, owner, put }: TestLocker): TestLocker {
  const base = `/v1/lockers/${lockerId}`
  return {
    lockerId,
    receiptId,
    owner,
    put,
    call: (ops, method, path, body, who = owner) =>
      instance.call(who, { method, path: base + path, body, ops, lockerId, receiptId }),
  }
}
