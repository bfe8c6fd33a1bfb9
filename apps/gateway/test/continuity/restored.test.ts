import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Health } from '@svc/api/info'
import type { LockerRecord } from '@svc/api/lockers'
import { poll } from '@svc/concurrency/retry'
import { createFreshDatabase, forEachDatabase, type TestDatabase } from '@svc/devnet/databases'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import type { Variables } from '@svc/http-service/config'
import type { ChainPayment } from '@svc/payments/payment'
import { lockerId, receiptId } from '@svc/protocol/ids'
import { quotedLeg } from '@svc/sales/read-payment'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { receiptHash } from '../../src/continuity/entries.ts'
import { readBackwards } from '../../src/continuity/logbook-files.ts'
import { rebuildReceipt } from '../../src/operations/rebuild-receipt.ts'
import { createClaims } from '../../src/purchases/claim-payments.ts'
import { newReceipt } from '../../src/purchases/new-receipt.ts'
import { findPayRequest } from '../../src/purchases/store.ts'
import { askToAttest, attest, statementsOf } from '../attestations/attest.ts'
import { ed25519Identity, expectRefusal, houseOf, type LockerHouse, type TestLocker } from '../auth/lockers.ts'
import { outcomeOf, startCommand } from '../bin/command.ts'
import { buy, type Market, openMarket, payReqId, type Shop } from '../purchases/market.ts'
import { copyDatabase, dropBackup } from './copy-database.ts'
import { healthIn } from './health.ts'
import { openPostgresLine } from './postgres-line.ts'

let market: Market
beforeAll(async () => {
  market = await openMarket()
})
afterAll(() => market.close())

interface Open {
  shop: Shop
  house: LockerHouse
  locker: TestLocker
}

/** The gateway of the story, which is opened again and again on one folder. */
function createStory(database: TestDatabase, folder: string, logbook = 'logbook') {
  const variables: Variables = {
    DATA_DIR: folder,
    DATABASE_URL: database.url,
    LOGBOOK_DIR: join(folder, logbook),
  }
  const owner = ed25519Identity()
  let known: { lockerId: string; receiptId: string } | null = null

  async function open(own: Variables = {}): Promise<Open> {
    const shop = await market.open({ ...variables, ...own })
    const house = houseOf(shop.gateway, market.clock)
    if (!known) {
      const made = await house.locker(owner)
      known = { lockerId: made.lockerId, receiptId: made.receiptId }
    }
    return { shop, house, locker: lockerOf(house, known) }
  }

  /** `house.locker` opens it, which a database that is behind refuses. */
  function lockerOf(house: LockerHouse, ids: { lockerId: string; receiptId: string }): TestLocker {
    const call: TestLocker['call'] = (ops, method, path, body, who = owner) =>
      house.call(who, { method, path: `/v1/lockers/${ids.lockerId}${path}`, body, ops, ...ids })
    const put: TestLocker['put'] = async (filename, bytes) => {
      const made = await call<{ upload_url: string }>(['locker:write'], 'POST', '/files', {
        filename,
        content_type: 'text/plain',
      })
      const { pathname } = new URL(made.body.upload_url)
      const init = { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: bytes as string }
      expect((await fetch(house.gateway.url + pathname, init)).status).toBe(200)
      const query = new URLSearchParams({ receipt_id: ids.receiptId, filename })
      expect((await house.send('POST', `/v1/files/confirm?${query}`)).status).toBe(200)
    }
    return { owner, ...ids, call, put }
  }

  const commandWith = (own: Record<string, string>, ...args: string[]) =>
    outcomeOf(
      startCommand(['continuity', ...args], {
        SVC_MODE: 'development',
        ...market.chains.variables,
        ...variables,
        ...own,
      }),
    )
  const command = (...args: string[]) => commandWith({}, ...args)

  return { open, command, commandWith, lockerOf }
}

async function healthOf({ shop }: Open): Promise<Health> {
  const { status, body } = await shop.get<Health>('/health')
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

function untilState({ shop }: Open, wanted: string): Promise<Health> {
  return healthIn(shop.gateway, wanted)
}

/** Changes a file and attests: the sequence and digest of the new statement. */
async function nextStatement({ house, locker }: Open, text: string) {
  await locker.put('a', text)
  const { attestation } = await attest(house, locker)
  const { body, statement_digest: digest } = attestation.envelope!
  return { sequence: body.sequence, previous: body.prev_statement_digest, digest, proofId: body.proof_id }
}

forEachDatabase('a restored database', (database) => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-restored-'))
  })
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true })
    await dropBackup(database)
  })

  it('T-37 T-85 T-109 T-180 T-181 ADD-29 only reads until it is healed; no number, payment or nonce is good twice', async () => {
    const story = createStory(database, folder)
    const before = await story.open()
    for (const text of ['1', '2', '3']) await nextStatement(before, text)
    const order = { units: 1, pay_asset: 'USDC', pay_network: 'primary-mainnet' }
    const quote = await before.shop.quote(order)
    const other = await before.shop.quote(order)
    await before.shop.stop()
    await copyDatabase(database, 'live')

    let now = await story.open()
    const lost = [await nextStatement(now, '4'), await nextStatement(now, '5')]
    expect(lost.map(({ sequence }) => sequence)).toEqual([4, 5])
    const paidBy = await market.pay(quote.accepts[0]!, { memo: null })
    const receipt = (await now.shop.confirm({ pay_req_id: payReqId(quote) }, paidBy)).body.receipt
    expect(receipt.tx_hash).toBe(paidBy)
    const lostWhole = await buyTwice(now)
    const bundles = await saveBundles(now, folder, [4, 5])
    const { lockerId, receiptId, owner } = now.locker
    const list = { path: `/v1/lockers/${lockerId}/files`, ops: ['locker:list'], lockerId, receiptId }
    const used = now.house.sign(owner, list)
    expect((await now.house.send('GET', list.path, undefined, used.headers)).status).toBe(200)

    // PostgreSQL is exchanged under the running gateway, as when a standby takes over that was behind.
    if (database.dialect === 'sqlite') await now.shop.stop()
    await copyDatabase(database, 'backup')
    if (database.dialect === 'sqlite') now = await story.open()
    const behind = await untilState(now, 'behind')

    expect(behind).toMatchObject({
      status: 'degraded',
      continuity: {
        missing_statements: 2,
        missing: lost.map(({ proofId, sequence, digest }) => ({
          proof_id: proofId,
          sequence,
          statement_digest: digest,
        })),
        missing_payments: 3,
        missing_revocations: 1,
        heal: expect.stringContaining('svc-gateway continuity'),
      },
    })
    expect(JSON.stringify(behind)).not.toContain(receiptId)
    expect((await now.shop.get('/health/ready')).status).toBe(200)
    const statements = await now.shop.get<{ statements: object[] }>(`/v1/storage/statements?receipt_id=${receiptId}`)
    expect(statements.body.statements).toHaveLength(3)
    expectRefusal(await askToAttest(now.house, now.locker), 503, 'database_behind')
    expectRefusal(await now.shop.get(`/v1/storage/dsse?receipt_id=${receiptId}`), 503, 'database_behind')
    expectRefusal(await now.shop.post('/v1/storage/request', { units: 1 }), 503, 'database_behind')
    expectRefusal(await now.shop.confirm({ pay_req_id: payReqId(quote) }, paidBy), 503, 'database_behind')
    const named = await now.locker.call(['locker:write'], 'POST', '/files', { filename: 'b' })
    expectRefusal(named, 503, 'database_behind')
    const replayed = await now.house.send('GET', list.path, undefined, used.headers)
    expectRefusal(replayed, 503, 'database_behind')
    market.clock.advance(31)
    expect((await now.house.call(owner, list)).status).toBe(200)
    expectRefusal(await now.house.send('GET', list.path, undefined, used.headers), 503, 'database_behind')

    const shown = await story.command('show')
    expect([shown.status, shown.stdout.split('\n').length], shown.stderr).toEqual([1, 8])
    const forged = join(folder, 'forged.json')
    await writeFile(forged, '{"envelope":{"body":{"sequence":4}},"files":[]}')
    const rebuilt = await story.command('rebuild', '--reason', 'restored the backup', forged, ...bundles)
    expect(rebuilt.stdout, rebuilt.stderr).toContain(`rebuilt statement 5 of ${lost[1]!.proofId}, anchored by`)
    expect(rebuilt.stdout).toContain('forged.json is not signed by a key of this gateway')
    expect(rebuilt.status).toBe(0)

    await untilState(now, 'current')
    const sixth = await nextStatement(now, '6')
    expect([sixth.sequence, sixth.previous]).toEqual([6, lost[1]!.digest])
    const rows = await statementsOf(now.house, now.locker)
    expect(rows.map(({ sequence, anchor }) => [sequence, anchor !== null])).toEqual(
      [1, 2, 3, 4, 5, 6].map((sequence) => [sequence, true]),
    )
    const [fifth] = await saveBundles(now, folder, [5])
    expect(await bundleIn(fifth!)).toMatchObject({
      ...(await bundleIn(bundles[1]!)),
      verification: { signature_valid: 'passed', anchor_confirmed: 'passed' },
    })

    // The transaction pays its own quote, which gets the same receipt again, however late, and no other.
    const stolen = await now.shop.confirm({ pay_req_id: payReqId(other) }, paidBy)
    expectRefusal(stolen, 402, 'payment_verification_failed')
    expect(JSON.stringify(stolen.body)).toContain('transaction_already_used')
    market.clock.advance(LATER_SECONDS)
    const again = await now.shop.confirm({ pay_req_id: payReqId(quote) }, paidBy)
    expect(again.body.receipt, JSON.stringify(again.body)).toEqual(receipt)
    await expectMadeAgain(now, lostWhole)
    await now.shop.stop()

    await copyDatabase(database, 'backup')
    const blind = await story.open({ LOGBOOK_DIR: 'off' })
    await expectRestored(story, blind, lostWhole, folder)
    await expectAccepted(story, blind, { sequence: 6, digest: sixth.digest })
  })

  it('T-37 ADD-29 what was committed right before a crash, and not noted, is noted at the next start', {
    tags: ['nightly'],
  }, async () => {
    const story = createStory(database, folder, 'logbook of the crash')
    const first = await story.open()
    await nextStatement(first, '1')
    await first.shop.stop()
    await copyDatabase(database, 'live')
    // As if the process had been killed between the commit and the note.
    const killed = await story.open({ LOGBOOK_DIR: 'off' })
    const unnoted = await nextStatement(killed, '2')
    await killed.shop.stop()
    const next = await story.open()
    await untilState(next, 'current')
    await next.shop.stop()
    await copyDatabase(database, 'backup')
    const restored = await story.open()
    const { continuity } = await untilState(restored, 'behind')
    expect(continuity?.missing).toMatchObject([{ sequence: 2, statement_digest: unnoted.digest }])
    await restored.shop.stop()
  })
})

it('T-160 what was committed without an answer is noted when that is learnt: by a retry, a second claim or a comparison', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-unanswered-'))
  const database = await createFreshDatabase('postgres')
  const line = await openPostgresLine(database.url)
  const shop = await market.open({ DATABASE_URL: line.url, LOGBOOK_DIR: folder, ATTEST_PUSH: 'false' })
  const { context } = shop.gateway
  const house = houseOf(shop.gateway, market.clock)
  const isNoted = async (wanted: string) => {
    for await (const { pages } of readBackwards(folder))
      for await (const page of pages()) if (page.some(({ entry }) => Object.values(entry).includes(wanted))) return true
    return false
  }
  const order = { units: 1, pay_asset: 'USDC', pay_network: 'primary-mainnet' }
  const paid = async () => {
    const quote = await shop.quote(order)
    return { quote, tx: await market.pay(quote.accepts[0]!) }
  }

  // A confirmation that nobody repeats.
  const left = await paid()
  line.loseCommitOf('receipts')
  expect((await shop.confirm({ pay_req_id: payReqId(left.quote) }, left.tx)).status).toBe(503)
  const hashOf = (of: typeof left) => receiptHash(receiptId(payReqId(of.quote), of.tx))
  const noted = async () => (await isNoted(hashOf(left))) || null
  expect(await poll(noted, { intervalMs: 100, timeoutMs: 60_000 })).toBe(true)

  // Two that share a commit.
  const claim = createClaims(context)
  const two = [await paid(), await paid()]
  const claims = two.map(async ({ quote, tx }) => {
    const leg = quotedLeg(quote.accepts[0]!)
    const payment = (await context.sales.reader(leg.network).read(tx, leg)) as ChainPayment
    const request = await findPayRequest(context.database.db, payReqId(quote))
    return { receipt: await newReceipt(context, request!, leg, payment), request: request!, payment }
  })
  const ready = await Promise.all(claims)
  line.loseCommitOf('receipts')
  const claimed = await Promise.all(ready.map(claim))
  expect(claimed.map(({ isNew }) => isNew)).toEqual([false, false])
  for (const each of two) expect(await isNoted(hashOf(each))).toBe(true)

  // A statement, and who asks for it again.
  const locker = await house.locker(ed25519Identity())
  await locker.put('a', '1')
  line.loseCommitOf('statements')
  expect((await askToAttest(house, locker)).status).toBe(503)
  const [statement] = await statementsOf(house, locker)
  expect((await attest(house, locker)).attestation.envelope?.statement_digest).toBe(statement!.statement_digest)
  expect(await isNoted(statement!.statement_digest!)).toBe(true)

  await shop.stop()
  await line.close()
  await database.drop()
  await rm(folder, { recursive: true })
})

/** Longer than a payment may be confirmed after its quote. */
const LATER_SECONDS = 25 * 3600

/** A locker and its renewal, bought after the backup, with its public link closed. */
async function buyTwice({ shop, house }: Open) {
  const payer = ed25519Identity(DEMO_PAYERS[0]!.privateKeyBytes)
  const first = await buy(market, shop, { units: 2, provider: 'storj' })
  const locker = await house.locker(payer, { receiptId: first.receipt_id })
  const closed = await locker.call(['locker:admin'], 'POST', '/public-link', { action: 'close' })
  expect(closed.status, JSON.stringify(closed.body)).toBe(200)
  const renewal = await buy(market, shop, { units: 1, extends: first.receipt_id })
  const { body: record } = await locker.call<LockerRecord>(['locker:read'], 'GET', '/record')
  return { payer, first, renewal, record }
}

type LostWhole = Awaited<ReturnType<typeof buyTwice>>

/** By whoever confirms again, though quote and receipt are lost: the same receipts, and a locker with the same terms. */
async function expectMadeAgain({ shop, house }: Open, { payer, first, renewal, record }: LostWhole) {
  const confirm = ({ quote, tx }: LostWhole['first']) => shop.confirm({ pay_req_id: payReqId(quote) }, tx)
  expectRefusal(await confirm({ ...first, tx: renewal.tx }), 404, 'pay_req_not_found')
  expectRefusal(await confirm(renewal), 404, 'locker_not_found')
  const [made, second] = await Promise.all([confirm(first), confirm(first)])
  for (const { body } of [made, second]) expect(body.receipt, JSON.stringify(body)).toEqual(first.receipt)
  const locker = await house.locker(payer, { receiptId: first.receipt_id })
  const renewed = await confirm(renewal)
  expect(renewed.body.receipt, JSON.stringify(renewed.body)).toEqual(renewal.receipt)
  const { body } = await locker.call<LockerRecord>(['locker:read'], 'GET', '/record')
  const { provider, terms, public_link } = record
  expect(body).toMatchObject({ provider, terms, public_link })
  for (const { receipt_id } of [first, renewal]) {
    expect((await shop.get(`/v1/receipts/${receipt_id}/verify`)).body).toMatchObject({ valid: true })
    expect((await shop.get(`/v1/receipts/${receipt_id}/verify-payment`)).body).toMatchObject({ verified: true })
  }
}

/** By the operator, who has the receipts and nothing else. */
async function expectRestored(
  story: ReturnType<typeof createStory>,
  { shop }: Open,
  { first, renewal }: LostWhole,
  folder: string,
): Promise<void> {
  const { context } = shop.gateway
  expect(await rebuildReceipt(context, first.receipt, undefined)).toContain('name the provider with --provider')
  const forged = { ...first.receipt, units: 1000 }
  const files = await Promise.all(
    [renewal.receipt, forged, first, first.receipt].map(async (content, i) => {
      const path = join(folder, `receipt-${i}.json`)
      await writeFile(path, JSON.stringify(content))
      return path
    }),
  )
  const order = ['rebuild', '--reason', 'no logbook', '--provider', 'storj', ...files]
  const { stdout, stderr } = await story.commandWith({ LOGBOOK_DIR: 'off' }, ...order)
  const lines = stdout.split('\n').filter((line) => line.includes('receipt'))
  expect(
    lines.map((line) => line.replace(/.*receipt-/, 'receipt-')),
    stderr,
  ).toEqual([
    `restored receipt ${first.receipt_id} of ${lockerId(first.receipt_id)}`,
    `restored receipt ${renewal.receipt_id} of ${lockerId(first.receipt_id)}`,
    'receipt-1.json is not signed by a key of this gateway',
  ])
  for (const { receipt_id, receipt } of [first, renewal])
    expect((await shop.get(`/v1/receipts/${receipt_id}`)).body).toEqual(receipt)
  const lockers = context.database.db.selectFrom('lockers').select(['provider', 'terms'])
  const { provider, terms } = await lockers.where('receipt_id', '=', first.receipt_id).executeTakeFirstOrThrow()
  expect(provider).toBe('storj')
  expect(JSON.parse(terms).file_limit).toBe(first.quote.extensions.svc.terms.file_limit)
}

/** Set back once more, without bundles: without a logbook the chain alone shows it, and what is lost is accepted. */
async function expectAccepted(
  story: ReturnType<typeof createStory>,
  blind: Open,
  newest: { sequence: number; digest: string },
): Promise<void> {
  const seen = await untilState(blind, 'behind')
  expect(seen.continuity).toMatchObject({ logbook: 'off', missing_payments: 0 })
  expect(seen.continuity?.missing.map(({ sequence }) => sequence)).toEqual([4, 5, 6])
  expectRefusal(await askToAttest(blind.house, blind.locker), 503, 'database_behind')
  await blind.shop.stop()

  const now = await story.open()
  await untilState(now, 'behind')
  const accepted = await story.command('accept', '--reason', 'no bundles are left')
  expect(accepted, accepted.stderr).toMatchObject({ status: 0 })
  await untilState(now, 'current')
  market.clock.advance(31)
  const next = await nextStatement(now, '7')
  expect([next.sequence, next.previous]).toEqual([newest.sequence + 1, newest.digest])
  expect((await healthOf(now)).continuity).toMatchObject({ state: 'current', missing: [] })
  await now.shop.stop()
}

/** What a verifier reads; the gateway's own opinion and its list of keys may change. */
async function bundleIn(path: string): Promise<object> {
  const { signing_keys: _keys, ...bundle } = JSON.parse(await readFile(path, 'utf8'))
  return bundle
}

async function saveBundles({ shop, locker }: Open, folder: string, sequences: number[]): Promise<string[]> {
  return Promise.all(
    sequences.map(async (sequence) => {
      const query = `receipt_id=${locker.receiptId}&sequence=${sequence}`
      const { status, body } = await shop.get<object>(`/v1/storage/evidence-bundle?${query}`)
      expect(status).toBe(200)
      const path = join(folder, `bundle-${sequence}-${Date.now()}.json`)
      await writeFile(path, JSON.stringify(body))
      return path
    }),
  )
}
