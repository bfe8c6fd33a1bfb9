import { LockerList } from '@svc/api/lockers'
import { forEachDatabase } from '@svc/devnet/databases'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  type Identity,
  openTestGateway,
  type SignedCall,
  type TestGateway,
} from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { lockerId } from '@svc/protocol/ids'
import { schemaCheck } from '@svc/service/http/validate'
import { ExplainNode, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operatedBy, purchasesOf } from '../../src/lockers/store.ts'

const OPS = ['locker:list']

/** A request for the lockers of the signer, unless the call names others. */
function listCall({ gateway }: TestGateway, { identity }: Identity, query = '', more: Partial<SignedCall> = {}) {
  const call: SignedCall = { path: `/v1/lockers?wallet=${identity}${query}`, ops: OPS, ...more }
  return { ...call, envelope: { aud: gateway.url, ...more.envelope } }
}

const list = (instance: TestGateway, who: Identity, query?: string, more?: Partial<SignedCall>) =>
  instance.call<LockerList>(who, listCall(instance, who, query, more))
const receiptsOf = async (instance: TestGateway, who: Identity) =>
  (await list(instance, who)).body.lockers.map(({ receipt_id }) => receipt_id)

forEachDatabase('the lockers of a wallet', (database) => {
  let instance: TestGateway
  beforeAll(async () => {
    instance = await openTestGateway({ DATABASE_URL: database.url })
  })
  afterAll(() => instance.close())

  it.each([
    ['Ed25519', ed25519Identity],
    ['EVM', evmIdentity],
  ])('ADD-16 include all that an %s key paid for, opened or not, newest first', async (_, createOwner) => {
    const owner = createOwner()
    await instance.locker(ed25519Identity())
    const opened = await instance.locker(owner, { tags: ['name:photos'], provider: 'storj' })
    await opened.put('a', 'abc')
    instance.clock.advance(1)
    const unopened = await instance.receipt(owner, { provider: 'mongodb' })
    const { status, body, headers } = await list(instance, owner)
    expect([status, headers.get('cache-control'), headers.get('access-control-allow-origin')]).toEqual([
      200,
      'no-store',
      '*',
    ])
    expect(schemaCheck(LockerList)(body)).toBeNull()
    const of = { role: 'owner', owner: owner.identity }
    expect(body).toMatchObject({
      wallet: owner.identity,
      count: 2,
      lockers: [
        { ...of, receipt_id: unopened, locker_id: lockerId(unopened), opened: false, provider: 'mongodb', tags: [] },
        { ...of, receipt_id: opened.receiptId, opened: true, provider: 'storj', tags: ['name:photos'] },
      ],
    })
    const [newest, oldest] = body.lockers
    expect(newest).toMatchObject({ created_at: null, expires_at: null, file_count: 0, terms: null })
    expect(oldest).toMatchObject({ created_at: oldest!.paid_at, file_count: 1, total_bytes: 3 })
    expect(oldest!.terms?.storage_limit_bytes).toBeGreaterThan(3)
  })

  it('ADD-16 T-55 include those that a key operates, as long as it does', async () => {
    const [operator, owner] = [ed25519Identity(), evmIdentity()]
    const own = await instance.locker(operator)
    instance.clock.advance(1)
    const operated = await instance.locker(owner, { operators: [ed25519Identity(), operator] })
    const { body } = await list(instance, operator)
    expect(body.lockers).toMatchObject([
      { receipt_id: operated.receiptId, role: 'operator', owner: owner.identity },
      { receipt_id: own.receiptId, role: 'owner' },
    ])
    const { identity } = operator
    await operated.call(['locker:admin'], 'DELETE', `/operators/${identity}`)
    expect(await receiptsOf(instance, operator)).toEqual([own.receiptId])
    await operated.call(['locker:admin'], 'POST', '/operators', { pubkey: identity })
    await operated.call(['locker:admin'], 'POST', '/operators', { pubkey: identity })
    expect(await receiptsOf(instance, operator)).toEqual([operated.receiptId, own.receiptId])
    // Removes the operator as a process of an earlier release would.
    const { db } = instance.gateway.context.database
    await writable(db)
      .updateTable('lockers')
      .set({ operators: '[]' })
      .where('locker_id', '=', operated.lockerId)
      .execute()
    expect(await receiptsOf(instance, operator)).toEqual([own.receiptId])
  })

  it('ADD-16 are listed once when the owner is an operator too', async () => {
    const owner = ed25519Identity()
    const { receiptId } = await instance.locker(owner, { operators: [owner] })
    expect((await list(instance, owner)).body.lockers).toMatchObject([{ receipt_id: receiptId, role: 'owner' }])
  })

  it('ADD-16 T-55 come in pages without gap or repetition, and no cursor contains a receipt id', async () => {
    const wallet = ed25519Identity()
    const made: string[] = []
    for (let second = 0; second < 3; second++) {
      for (let i = 0; i < 2; i++) {
        made.push(await instance.receipt(wallet))
        made.push((await instance.locker(ed25519Identity(), { operators: [wallet] })).receiptId)
      }
      instance.clock.advance(1)
    }
    const listed: string[] = []
    const cursors: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await list(instance, wallet, `&limit=5${cursor && `&cursor=${cursor}`}`)
      listed.push(...body.lockers.map(({ receipt_id }) => receipt_id))
      if (body.next_cursor === undefined) break
      cursor = body.next_cursor
      cursors.push(Buffer.from(cursor, 'base64url').toString())
    }
    expect(listed).toHaveLength(made.length)
    expect(new Set(listed)).toEqual(new Set(made))
    expect(cursors).toHaveLength(2)
    for (const receipt of listed) expect(cursors.some((cursor) => cursor.includes(receipt))).toBe(false)
    const bySecond = (receipt: string) => Math.floor(made.indexOf(receipt) / 4)
    expect(listed.map(bySecond)).toEqual(listed.map(bySecond).toSorted((a, b) => b - a))
  })

  it('T-55 ENV-13 an envelope works once, in any spelling of the wallet', async () => {
    const owner = evmIdentity()
    const { headers } = instance.sign(owner, listCall(instance, owner))
    const send = (wallet: string) => instance.send('GET', `/v1/lockers?wallet=${wallet}`, undefined, headers)
    expect((await send(owner.identity)).status).toBe(200)
    const upper = `0x${owner.identity.slice(2).toUpperCase()}`
    for (const wallet of [owner.identity, upper]) expectRefusal(await send(wallet), 403, 'NONCE_REPLAYED')
    const again = { envelope: { nonce: 'ab'.repeat(16) } }
    const mixed = { ...owner, identity: upper }
    expect((await list(instance, mixed, '', again)).body.wallet).toBe(owner.identity)
    expectRefusal(await list(instance, owner, '', again), 403, 'NONCE_REPLAYED')
  })
})

describe('a list of lockers', () => {
  let instance: TestGateway
  const owner = ed25519Identity()
  let receiptId: string
  beforeAll(async () => {
    instance = await openTestGateway()
    receiptId = await instance.receipt(owner)
  })
  afterAll(() => instance.close())

  it.each([
    ['receipts_payer (payer', purchasesOf],
    ['locker_operators_newest (operator', operatedBy],
  ])('ADD-16 is found by the index %s), independent of a million others', async (index, find) => {
    const explain = ExplainNode.create(undefined, sql`query plan`.toOperationNode())
    const explained = writable(instance.gateway.context.database.db).withPlugin({
      transformQuery: ({ node }) => ({ ...node, explain }),
      transformResult: async ({ result }) => result,
    })
    const plan = await find(explained, 'nobody', { confirmedAt: '~', receiptId: '' }, 1)
    const [first = '', ...others] = plan.map((line) => (line as unknown as { detail: string }).detail)
    expect(first).toContain(`INDEX ${index}=? AND (confirmed_at,receipt_id)<(?,?))`)
    expect(others.filter((line) => !/^SEARCH \w+ USING (COVERING )?INDEX|^CORRELATED/.test(line))).toEqual([])
  })

  const refused = async (who: Identity, query: string, more: Partial<SignedCall>, status: number, code: string) => {
    const answer = await list(instance, who, query, more)
    expectRefusal(answer, status, code)
    expect(JSON.stringify(answer.body)).not.toContain(receiptId)
  }

  it('T-55 is returned only to the wallet that signed', async () => {
    const path = `/v1/lockers?wallet=${owner.identity}`
    expectRefusal(await instance.send('GET', path), 401, 'MISSING_ENVELOPE')
    for (const otherWallet of [ed25519Identity(), evmIdentity()])
      await refused(otherWallet, '', { path }, 403, 'SIGNATURE_INVALID')
    const evm = { envelope: { sig_alg: 'secp256k1' as const } }
    await refused(owner, '', evm, 403, 'SIGNATURE_INVALID')
    await refused(owner, '', { path: `/v1/lockers?wallet=${'1'.repeat(32)}` }, 403, 'SIGNATURE_INVALID')
  })

  it.each([
    ['another op', { ops: ['locker:read'] }, 403, 'MISSING_OPS'],
    ['a locker', { lockerId: 'locker_000000000000' }, 401, 'LOCKER_ID_MISMATCH'],
    ['a receipt', { receiptId: `rcpt_${'0'.repeat(32)}` }, 401, 'RECEIPT_ID_MISMATCH'],
    ['another gateway', { envelope: { aud: 'https://other.example' } }, 403, 'AUDIENCE_MISMATCH'],
    ['several gateways', { envelope: { aud: ['http://localhost'] } }, 403, 'AUDIENCE_MISMATCH'],
  ] as const)('T-55 ENV-12 is refused when the envelope is for %s', async (_, more, status, code) => {
    await refused(owner, '', more as Partial<SignedCall>, status, code)
  })

  it.each([
    ['&limit=1001', 'limit'],
    ['&cursor=AAAA', 'cursor'],
    [`&cursor=${Buffer.from(`x rcpt_${'0'.repeat(16)}`).toString('base64url')}`, 'cursor'],
  ])('GEN-08 is refused with 422 and the name of the field for %s', async (query, field) => {
    const answer = await list(instance, owner, query)
    expectRefusal(answer, 422, 'validation_error')
    expect(answer.body).toMatchObject({ detail: [{ loc: ['query', field] }] })
  })
})

it('T-55 LIM-11 listing is limited for an address that changes keys, and for a key', async () => {
  const instance = await openTestGateway({ RATE_LIMITS: 'address=5/min,signer=3/min' })
  const owner = ed25519Identity()
  const statuses = async (who: () => Identity, count: number) => {
    const answers: number[] = []
    for (let i = 0; i < count; i++) answers.push((await list(instance, who())).status)
    return answers
  }
  expect(await statuses(() => owner, 4)).toEqual([200, 200, 200, 429])
  instance.clock.advance(60)
  const { db } = instance.gateway.context.database
  await writable(db).deleteFrom('nonces').execute()
  expect(await statuses(ed25519Identity, 7)).toEqual([200, 200, 200, 200, 200, 429, 429])
  expect(await db.selectFrom('nonces').selectAll().execute()).toHaveLength(5)
  await instance.close()
})
