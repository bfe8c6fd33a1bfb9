import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { LockerRecord } from '@svc/api/lockers'
import type { EvidenceBundle } from '@svc/api/proofs'
import { readJournal } from '@svc/database/journal/journal'
import { openDatabase } from '@svc/database/open'
import { createFreshDatabase, forEachDatabase, type TestDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { buy, openMarket, payReqId } from '@svc/devnet/services/market'
import { ed25519Identity, expectRefusal, type TestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import type { ChainPayment } from '@svc/payments/payment'
import { quotedLeg } from '@svc/payments/selling/confirm'
import { lockerId, receiptId } from '@svc/protocol/ids'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'
import { claim } from '../../src/purchases/claim.ts'
import { findPayRequest } from '../../src/purchases/store.ts'
import { askToAttest, attest, statementsOf } from '../evidence/attest.ts'
import { startCommand } from '../gateway-process.ts'
import { copyDatabase, dropBackup } from './copy-database.ts'
import { openFaultyPostgresProxy } from './faulty-postgres-proxy.ts'
import { healthIn } from './health.ts'

const ORDER = { units: 1, pay_asset: 'USDC', pay_network: 'primary-mainnet' }
const market = forAllTests(() => openMarket())

/** A gateway that is reopened on one database, and a locker of it. */
async function createStory({ url }: Pick<TestDatabase, 'url'>) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-restored-'))
  const variables = { DATA_DIR: folder, DATABASE_URL: url, LOGBOOK_DIR: join(folder, 'logbook') }
  const owner = ed25519Identity()
  let receiptId: string | undefined
  const open = (own: Record<string, string> = {}) => market.open({ ...variables, ...own })
  return {
    folder,
    owner,
    open,
    /** Changes a file and attests. Returns the sequence and digest of the new statement. */
    async nextStatement(shop: TestGateway, text: string) {
      const locker = await shop.locker(owner, receiptId === undefined ? {} : { receiptId })
      receiptId = locker.receiptId
      await locker.put('a', text)
      const { body, statement_digest: digest } = (await attest(shop, locker)).attestation.envelope!
      return { sequence: body.sequence, previous: body.prev_statement_digest, digest, proofId: body.proof_id }
    },
    ids: () => ({ receiptId: receiptId!, lockerId: lockerId(receiptId!) }),
    start(own: Record<string, string>, ...args: string[]) {
      const env = { SVC_MODE: 'development', ...market.chains.variables, ...variables, ...own }
      return startCommand(['replay', ...args], env)
    },
    command(own: Record<string, string>, ...args: string[]) {
      return this.start(own, ...args).ended
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

type Story = Awaited<ReturnType<typeof createStory>>
type Quote = Awaited<ReturnType<TestGateway['quote']>>

async function bundleOf(shop: TestGateway, story: Story, sequence: number): Promise<EvidenceBundle> {
  const query = `receipt_id=${story.ids().receiptId}&sequence=${sequence}`
  const { status, body } = await shop.send<EvidenceBundle>('GET', `/v1/storage/evidence-bundle?${query}`)
  expect(status).toBe(200)
  return body
}

const PAYMENTS = '/v1/internal/operations/payments'

/** Refunds a payment: the refund is decided first, and sent a moment later. */
async function refundOne(shop: TestGateway): Promise<{ network: string; tx: string; refund_tx: string }> {
  const [leg] = (await shop.quote(ORDER)).accepts
  const tx = await market.pay(leg!)
  const named = { network: ORDER.pay_network, tx }
  const order = { ...named, asset: 'USDC', amount_raw: leg!.amount, reason: 'paid by mistake' }
  const refund_tx = [...tx].reverse().join('')
  for (const sent of [{}, { refund_tx }]) {
    const { status, body } = await shop.send('POST', `${PAYMENTS}/refund`, { ...order, ...sent })
    expect([status, body]).toMatchObject([200, { changed: true }])
  }
  return { ...named, refund_tx }
}

/** Buys a locker and its renewal, and closes its public link. */
async function buyTwice(shop: TestGateway) {
  const payer = ed25519Identity(DEMO_PAYERS[0]!.privateKeyBytes)
  const first = await buy(market, shop, { units: 2, provider: 'storj' })
  const locker = await shop.locker(payer, { receiptId: first.receipt_id })
  const closed = await locker.call(['locker:admin'], 'POST', '/public-link', { action: 'close' })
  expect(closed.status, JSON.stringify(closed.body)).toBe(200)
  const renewal = await buy(market, shop, { units: 1, extends: first.receipt_id })
  const second = await market.pay(first.quote.accepts[0]!)
  const secondPayment = await shop.confirm({ pay_req_id: payReqId(first.quote) }, second)
  expect(secondPayment.body).toMatchObject({ details: { noted_for_refund: true } })
  const { body: record } = await locker.call<LockerRecord>(['locker:read'], 'GET', '/record')
  return { payer, first, renewal, record, second }
}

forEachDatabase('a restored database', (database) => {
  describe('from its loss to its end', { shuffle: false }, () => {
    let story: Story
    let now: TestGateway
    let lost: Awaited<ReturnType<Story['nextStatement']>>[]
    let sixth: (typeof lost)[number]
    let bundles: EvidenceBundle[]
    let bought: Awaited<ReturnType<typeof buyTwice>>
    /** Two quotes, of which the first is paid, and a used envelope. */
    let quote: Quote
    let other: Quote
    let paidBy: string
    let receipt: object
    let refunded: Awaited<ReturnType<typeof refundOne>>
    let list: { path: string; ops: string[]; lockerId: string; receiptId: string }
    let used: Record<string, string>
    beforeAll(async () => {
      story = await createStory(database)
      const before = await story.open()
      for (const text of ['1', '2', '3']) await story.nextStatement(before, text)
      quote = await before.quote(ORDER)
      other = await before.quote(ORDER)
      await before.close()
      await copyDatabase(database, 'live')

      now = await story.open()
      lost = [await story.nextStatement(now, '4'), await story.nextStatement(now, '5')]
      paidBy = await market.pay(quote.accepts[0]!, { memo: null })
      receipt = (await now.confirm({ pay_req_id: payReqId(quote) }, paidBy)).body.receipt
      bought = await buyTwice(now)
      refunded = await refundOne(now)
      bundles = await Promise.all([4, 5].map((number) => bundleOf(now, story, number)))
      list = { path: `/v1/lockers/${story.ids().lockerId}/files`, ops: ['locker:list'], ...story.ids() }
      used = now.sign(story.owner, list).headers
      expect((await now.send('GET', list.path, undefined, used)).status).toBe(200)

      // PostgreSQL is replaced under the running gateway, as when a lagging standby takes over.
      if (database.dialect === 'sqlite') await now.close()
      await copyDatabase(database, 'backup')
      if (database.dialect === 'sqlite') now = await story.open()
    })
    afterAll(async () => {
      await now.close()
      await story.remove()
      await dropBackup(database)
    })

    it('T-37 ADD-29 reports what is missing, and serves only reads', async () => {
      const behind = await healthIn(now.gateway, 'behind')
      const missing = lost.map(({ proofId, sequence, digest }) => {
        return { proof_id: proofId, sequence, statement_digest: digest }
      })
      const counts = { missing_statements: 2, missing_payments: 6, missing_revocations: 1, missing_others: 3 }
      const heal = expect.stringContaining('svc-gateway replay')
      expect(behind).toMatchObject({ status: 'degraded', continuity: { ...counts, missing, heal } })
      expect(missing.map(({ sequence }) => sequence)).toEqual([4, 5])
      const { receiptId } = story.ids()
      expect(JSON.stringify(behind)).not.toContain(receiptId)
      expect((await now.send('GET', '/health/ready')).status).toBe(200)
      const { body } = await now.send<{ statements: object[] }>('GET', `/v1/storage/statements?receipt_id=${receiptId}`)
      expect(body.statements).toHaveLength(3)
      const unknown = await now.send<{ hint: string }>('GET', `/v1/receipts/${bought.first.receipt_id}/verify`)
      expect([unknown.status, unknown.body.hint]).toEqual([404, expect.stringContaining('do not pay again')])
      expectRefusal(await askToAttest(now, { owner: story.owner, receiptId }), 503, 'database_behind')
      expectRefusal(await now.send('GET', `/v1/storage/dsse?receipt_id=${receiptId}`), 503, 'database_behind')
      expectRefusal(await now.send('POST', '/v1/storage/request', { units: 1 }), 503, 'database_behind')
      expectRefusal(await now.confirm({ pay_req_id: payReqId(quote) }, paidBy), 503, 'database_behind')
    })

    it('T-37 T-14 accepts no nonce twice', async () => {
      expectRefusal(await now.send('GET', list.path, undefined, used), 503, 'database_behind')
      market.clock.advance(31)
      expect((await now.call(story.owner, list)).status).toBe(200)
      expectRefusal(await now.send('GET', list.path, undefined, used), 503, 'database_behind')
    })

    it('T-161 ADD-29 is complete after one command, which can be killed and repeated', async () => {
      const shown = await story.command({}, 'show')
      expect(shown.code, shown.stderr).toBe(1)
      for (const line of [
        '3 × receipt',
        '2 × refund',
        '1 × unclaimed payment',
        '1 × locker',
        '1 × change of access',
        '2 × statement',
        '12 missing',
      ])
        expect(shown.stdout).toContain(line)
      expect((await story.command({})).stderr).toContain('--reason needs at least 3 characters')
      const killed = story.start({}, '--reason', 'restored the backup')
      await killed.kill()
      for (const _ of ['first', 'second']) {
        const replayed = await story.command({}, '--reason', 'restored the backup')
        expect(replayed, replayed.stdout).toMatchObject({ code: 0 })
        expect(replayed.stdout).toContain('The database has all that this gateway has signed.')
      }
      await healthIn(now.gateway, 'current')
    })

    it('T-37 signs no sequence twice, and has every statement with its files and its anchor', async () => {
      sixth = await story.nextStatement(now, '6')
      expect([sixth.sequence, sixth.previous]).toEqual([6, lost[1]!.digest])
      await expect
        .poll(async () => (await statementsOf(now, story.ids())).filter(({ anchor }) => anchor !== null).length)
        .toBe(6)
      const { envelope, files, anchor } = bundles[1]!
      const verification = { signature_valid: 'passed', anchor_confirmed: 'passed' }
      const { tx, slot } = anchor!
      expect(await bundleOf(now, story, 5)).toMatchObject({ envelope, files, anchor: { tx, slot }, verification })
    })

    it('T-161 T-205 has every receipt, refund and payment to return unchanged, and no other quote claims its payment', async () => {
      const { refund_tx, ...of } = refunded
      const { body } = await now.send('GET', `${PAYMENTS}?${new URLSearchParams(of)}`)
      expect(body).toMatchObject({ refund: { refund_tx } })
      const { db } = now.gateway.context.database
      const unclaimed = db.selectFrom('unclaimed_payments').select(['tx', 'reason'])
      expect(await unclaimed.execute()).toEqual([{ tx: bought.second, reason: 'quote_already_paid' }])
      const stolen = await now.confirm({ pay_req_id: payReqId(other) }, paidBy)
      expectRefusal(stolen, 402, 'payment_verification_failed')
      expect(JSON.stringify(stolen.body)).toContain('transaction_already_used')
      const again = await now.confirm({ pay_req_id: payReqId(quote) }, paidBy)
      expect(again.body, JSON.stringify(again.body)).toMatchObject({ idempotent: true, receipt })
    })

    it('T-161 has the lockers that were bought and renewed, with their terms and their access', async () => {
      const { payer, first, renewal, record } = bought
      for (const { quote, tx, receipt } of [first, renewal])
        expect((await now.confirm({ pay_req_id: payReqId(quote) }, tx)).body.receipt).toEqual(receipt)
      const locker = await now.locker(payer, { receiptId: first.receipt_id })
      const { body } = await locker.call<LockerRecord>(['locker:read'], 'GET', '/record')
      expect(body).toEqual(record)
      for (const { receipt_id } of [first, renewal]) {
        expect((await now.send('GET', `/v1/receipts/${receipt_id}/verify`)).body).toMatchObject({ valid: true })
        expect((await now.send('GET', `/v1/receipts/${receipt_id}/verify-payment`)).body).toMatchObject({
          verified: true,
        })
      }
    })

    it('T-37 ADD-29 without a journal, the chain alone shows what is missing, and the losses can be accepted', async () => {
      await now.close()
      await copyDatabase(database, 'backup')
      now = await story.open({ LOGBOOK_DIR: 'off' })
      const health = await healthIn(now.gateway, 'behind')
      expect(health.continuity).toMatchObject({ logbook: 'off', missing_payments: 0 })
      expect(health.continuity?.missing.map(({ sequence }) => sequence)).toEqual([4, 5, 6])
      const of = { owner: story.owner, receiptId: story.ids().receiptId }
      expectRefusal(await askToAttest(now, of), 503, 'database_behind')
      const accepted = await story.command({ LOGBOOK_DIR: 'off' }, '--reason', 'the disk is gone', '--accept')
      expect(accepted, accepted.stdout).toMatchObject({ code: 0 })
      expect(accepted.stdout).toContain('accepted as lost: the last statements of 1 proofs')
      await healthIn(now.gateway, 'current')
      market.clock.advance(31)
      const next = await story.nextStatement(now, '7')
      expect([next.sequence, next.previous]).toEqual([7, sixth.digest])
      expect((await healthIn(now.gateway, 'current')).continuity).toMatchObject({ missing: [] })
    })
  })
})

it('T-37 ADD-29 a change committed right before a crash is written to the journal at the next start', {
  tags: ['nightly'],
}, async () => {
  const fresh = await createFreshDatabase('sqlite')
  onTestFinished(fresh.drop)
  const database = { url: fresh.url, dialect: 'sqlite' } as const
  const story = await createStory(database)
  onTestFinished(story.remove)
  const first = await story.open()
  await story.nextStatement(first, '1')
  await first.close()
  await copyDatabase(database, 'live')
  // As if the process had been killed between the commit and the journal.
  const killed = await story.open()
  const unwritten = await story.nextStatement(killed, '2')
  await killed.close()
  await rm(join(story.folder, 'logbook'), { recursive: true })
  const { db, close } = await openDatabase<Schema>({ url: fresh.url, migrations })
  await writable(db).insertInto('journal_pending').values({ kind: 'statement', key: unwritten.digest }).execute()
  await writable(db).deleteFrom('journal_files').execute()
  await close()
  const next = await story.open()
  await healthIn(next.gateway, 'current')
  await next.close()
  await copyDatabase(database, 'backup')
  const restored = await story.open()
  const { continuity } = await healthIn(restored.gateway, 'behind')
  expect(continuity?.missing).toMatchObject([{ sequence: 2, statement_digest: unwritten.digest }])
  await restored.close()
})

describe('T-37 a commit whose answer was lost', () => {
  let folder: string
  let proxy: Awaited<ReturnType<typeof openFaultyPostgresProxy>>
  let shop: TestGateway
  let close: () => Promise<void>
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-unanswered-'))
    const database = await createFreshDatabase('postgres')
    proxy = await openFaultyPostgresProxy(database.url)
    shop = await market.open({ DATABASE_URL: proxy.url, LOGBOOK_DIR: folder, PUBLISH: 'on_request' })
    close = async () => {
      await shop.close()
      await proxy.close()
      await database.drop()
      await rm(folder, { recursive: true })
    }
  })
  afterAll(() => close())

  /** Whether the journal has an entry with a key that begins so. */
  const isWritten = async (wanted: string) => {
    const { folder: journal, sealing } = shop.gateway.context.continuity.location!
    for await (const read of readJournal(journal, sealing, new Map()))
      if ('entry' in read && read.entry.includes(`"key":"${wanted}`)) return true
    return false
  }
  const paid = async () => {
    const quote = await shop.quote(ORDER)
    return { quote, tx: await market.pay(quote.accepts[0]!) }
  }
  type Paid = Awaited<ReturnType<typeof paid>>
  const idOf = ({ quote, tx }: Paid) => receiptId(payReqId(quote), tx)

  it('T-37 reaches the journal by a comparison, when a confirmation is not repeated', async () => {
    const left = await paid()
    proxy.loseCommitOf('receipts')
    expect((await shop.confirm({ pay_req_id: payReqId(left.quote) }, left.tx)).status).toBe(503)
    await expect.poll(() => isWritten(idOf(left))).toBe(true)
  })

  it('T-37 reaches the journal before a second claim is answered', async () => {
    const { context } = shop.gateway
    const one = await paid()
    const leg = quotedLeg(one.quote.accepts[0]!)
    const payment = (await context.sales.reader(leg.network).read(one.tx, leg)) as ChainPayment
    const request = await findPayRequest(context.database.db, payReqId(one.quote))
    const proof = { tx: payment.tx, kind: 'single', payment, quotes: [{ request: request!, leg }] } as const
    proxy.loseCommitOf('receipts')
    await expect(claim(context, proof)).rejects.toThrow()
    expect((await claim(context, proof))[0].isNew).toBe(false)
    expect(await isWritten(idOf(one))).toBe(true)
  })

  it('T-37 reaches the journal before a repeated refund is answered', async () => {
    const { tx, quote } = await paid()
    const { amount } = quotedLeg(quote.accepts[0]!)
    const order = { network: ORDER.pay_network, tx, asset: 'USDC', amount_raw: `${amount}`, reason: 'paid by mistake' }
    proxy.loseCommitOf('refunds')
    expect((await shop.send('POST', '/v1/internal/operations/payments/refund', order)).status).toBe(503)
    const again = await shop.send('POST', '/v1/internal/operations/payments/refund', order)
    expect(again).toMatchObject({ status: 200, body: { changed: false } })
    expect(await isWritten(`${ORDER.pay_network} ${tx} 0`)).toBe(true)
  })

  it('T-37 reaches the journal before a payment lookup is answered', async () => {
    const one = await paid()
    proxy.loseCommitOf('receipts')
    expect((await shop.confirm({ pay_req_id: payReqId(one.quote) }, one.tx)).status).toBe(503)
    const query = `network=${ORDER.pay_network}&tx=${one.tx}`
    const found = await shop.send('GET', `/v1/internal/operations/payments?${query}`)
    expect(found.body).toMatchObject({ receipts: [{ receipt_id: idOf(one) }] })
    expect(await isWritten(idOf(one))).toBe(true)
  })

  it('T-37 reaches the journal before a repeated locker creation is answered', async () => {
    const owner = ed25519Identity()
    const receiptId = await shop.receipt(owner)
    proxy.loseCommitOf('lockers')
    await expect(shop.locker(owner, { receiptId })).rejects.toThrow('503')
    const locker = await shop.locker(owner, { receiptId })
    expect(await isWritten(locker.lockerId)).toBe(true)
  })

  it('T-37 reaches the journal before a repeated attestation is answered', async () => {
    const locker = await shop.locker(ed25519Identity())
    await locker.put('a', '1')
    proxy.loseCommitOf('statements')
    expect((await askToAttest(shop, locker)).status).toBe(503)
    const [statement] = await statementsOf(shop, locker)
    expect((await attest(shop, locker)).attestation.envelope?.statement_digest).toBe(statement!.statement_digest)
    expect(await isWritten(statement!.statement_digest!)).toBe(true)
  })
})
