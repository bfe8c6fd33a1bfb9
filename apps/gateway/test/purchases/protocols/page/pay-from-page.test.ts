import { address, createSolanaRpc, getTransactionDecoder } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import type { FoundPayment, PaymentFacts } from '@svc/api/payment'
import type { PaymentLeg } from '@svc/api/quote'
import { connectAs } from '@svc/devnet/evm-chain/dev-client'
import { honestly, startFaultyNode, withBody, withResult } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { expectError, legOf, openMarket, PRODUCTION, payReqId } from '@svc/devnet/services/market'
import { toBase58 } from '@svc/protocol/bytes'
import { solanaPayReference } from '@svc/protocol/ids'
import { keccak256 } from 'viem'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EVM_PAYER, lifeOf, PRIMARY_PAYER, signOnEvm, signOnPrimary } from './signed-payments.ts'

const market = forAllTests(() => openMarket())
const nodes = {
  primary: forAllTests(() => startFaultyNode(market.chains.primary.url)),
  evm: forAllTests(() => startFaultyNode(market.chains.evm.url)),
}
const shop = forAllTests(() => {
  const urls = { PRIMARY_RPC_URLS: nodes.primary.url, EVM_RPC_URLS: nodes.evm.url }
  return market.open({ ...urls, RATE_LIMITS: 'address=10000/min' })
})

const ask = <Body>(step: string, body: object) => shop.send<Body>('POST', `/v1/storage/payment/${step}`, body)

function prepare({ network, asset, extra: { pay_req_id } }: PaymentLeg, payer?: string) {
  return ask<PaymentFacts>('prepare', { pay_req_id, network, asset, ...(payer && { payer }) })
}

async function factsOf(leg: PaymentLeg, payer: string): Promise<PaymentFacts> {
  const { status, body } = await prepare(leg, payer)
  expect([status, body]).toEqual([200, expect.objectContaining({ objection: null })])
  return body
}

const send = (leg: PaymentLeg, transaction: string) =>
  ask<{ tx: string }>('send', { pay_req_id: leg.extra.pay_req_id, transaction })

async function outcomeOf(leg: PaymentLeg, facts: PaymentFacts, tx: string) {
  const payer = facts.solana ? PRIMARY_PAYER.address : EVM_PAYER.address
  const { status, body } = await ask<{ outcome: string }>('outcome', {
    pay_req_id: leg.extra.pay_req_id,
    tx,
    payer,
    life: lifeOf(facts),
  })
  expect(status, JSON.stringify(body)).toBe(200)
  return body.outcome
}

const idOf = (transaction: string) =>
  transaction.startsWith('0x')
    ? keccak256(transaction as `0x${string}`)
    : toBase58(getTransactionDecoder().decode(Buffer.from(transaction, 'base64')).signatures[PRIMARY_PAYER.address]!)

const CHAINS = [
  ['SOL', 'primary-mainnet', PRIMARY_PAYER.address],
  ['USDC', 'primary-mainnet', PRIMARY_PAYER.address],
  ['MON', 'evm-mainnet', EVM_PAYER.address],
  ['USDC', 'evm-mainnet', EVM_PAYER.address],
] as const

const signed = (facts: PaymentFacts, leg: PaymentLeg) => (facts.solana ? signOnPrimary(facts, leg) : signOnEvm(facts))

describe.each(CHAINS)('paying %s on %s from a page', (ticker, network, payer) => {
  it('ADD-24 a payment is prepared, sent, found landed and confirmed, and never requested twice', async () => {
    const quote = await shop.quote()
    const leg = legOf(quote, ticker, network)
    const facts = await factsOf(leg, payer)
    expect(facts.fee).toMatchObject(network === 'evm-mainnet' ? { ticker: 'MON' } : { ticker: 'SOL', amount: '5000' })
    expect(BigInt(facts.balances!.asset)).toBeGreaterThan(BigInt(leg.amount))
    expect(BigInt(facts.balances!.coin)).toBeGreaterThan(BigInt(facts.fee.amount))
    const transaction = await signed(facts, leg)
    const tx = idOf(transaction)
    expect(await outcomeOf(leg, facts, tx)).toBe('pending')
    expect((await send(leg, transaction)).body).toEqual({ tx })
    expect((await send(leg, transaction)).body).toEqual({ tx })
    await expect.poll(() => outcomeOf(leg, facts, tx), { interval: 0 }).toBe('landed')
    const choice = { pay_network: network, pay_asset: ticker }
    const { status, body } = await shop.confirm({ pay_req_id: payReqId(quote), ...choice }, tx)
    expect([status, body.receipt?.payer_pubkey]).toEqual([
      200,
      payer.toLowerCase() === payer ? payer : expect.anything(),
    ])

    expectError(await prepare(leg, payer), 402, 'payment_verification_failed', 'quote_already_paid')
    expect((await send(leg, transaction)).body).toEqual({ tx })
    const second = facts.solana
      ? await signOnPrimary(facts, leg, { memo: `again ${leg.extra.memo}` })
      : await signOnEvm(facts, { nonce: facts.eip155!.nonce! + 1 })
    expectError(await send(leg, second), 402, 'payment_verification_failed', 'quote_already_paid')
  })

  it('ADD-24 T-45 a payment dropped by a fork is pending, and pays once when the page sends it again', async () => {
    const isEvm = network === 'evm-mainnet'
    const { chain } = market.chains[isEvm ? 'evm' : 'primary']
    onTestFinished(() => chain.resume())
    const quote = await shop.quote()
    const leg = legOf(quote, ticker, network)
    const facts = await factsOf(leg, payer)
    const transaction = await signed(facts, leg)
    const tx = idOf(transaction)
    chain.hold()
    await send(leg, transaction)
    if (isEvm) await connectAs(EVM_PAYER, market.chains.evm.url).mine({ blocks: 1 })
    else market.clock.advance(0.8)
    await outcomeOf(leg, facts, tx)
    await chain.fork({ drop: [tx] })
    const confirm = () => shop.confirm({ pay_req_id: payReqId(quote), pay_network: network, pay_asset: ticker }, tx)
    expectError(await confirm(), 402, 'tx_not_found')
    expect(await outcomeOf(leg, facts, tx)).toBe('pending')
    expect((await send(leg, transaction)).body).toEqual({ tx })
    chain.resume()
    await expect.poll(() => outcomeOf(leg, facts, tx), { interval: 0 }).toBe('landed')
    expect((await confirm()).body).toMatchObject({ ok: true, idempotent: false })
  })

  it('ADD-24 the fee is known without a payer, and a payer without enough funds learns what is missing', async () => {
    const leg = legOf(await shop.quote(), ticker, network)
    const { body: open } = await prepare(leg)
    expect(open).toMatchObject({ balances: null, objection: null })
    expect(BigInt(open.fee.amount)).toBeGreaterThan(0n)
    const emptyWallet = network === 'evm-mainnet' ? `0x${'5a'.repeat(20)}` : toBase58(new Uint8Array(32).fill(9))
    const { status, body } = await prepare(leg, emptyWallet)
    expect([status, body.balances]).toEqual([200, { asset: '0', coin: '0' }])
    expect(body.objection).toMatch(new RegExp(`^needs [\\d.]+ ${ticker}, holds 0: [\\d.]+ ${ticker} is missing$`))
  })

  it('T-66 unknown quotes, wrong legs and expired quotes get their own errors, and a node failure is a 503', async () => {
    const quote = await shop.quote()
    const leg = legOf(quote, ticker, network)
    const facts = await factsOf(leg, payer)
    const transaction = await signed(facts, leg)
    const life = lifeOf(facts)
    const tx = idOf(transaction)
    const steps = (pay_req_id: string): [string, object][] => [
      ['prepare', { pay_req_id, network: leg.network, asset: leg.asset, payer }],
      ['send', { pay_req_id, transaction }],
      ['outcome', { pay_req_id, tx, payer, life }],
      ['find', { pay_req_id }],
    ]
    for (const [step, body] of steps('pr_00000000000000000000000000000000'))
      expectError(await ask(step, body), 404, 'pay_req_not_found')

    const other = { pay_req_id: payReqId(quote), network: leg.network, payer }
    expectError(await ask('prepare', { ...other, asset: 'dollars' }), 400, 'leg_not_in_quote')
    const invalidPayer = { ...other, asset: leg.asset, payer: 'somebody' }
    expectError(await ask('prepare', invalidPayer), 422, 'validation_error')
    const swapped = { pay_req_id: payReqId(quote), tx: 'x', payer, life }
    expectError(await ask('outcome', swapped), 422, 'validation_error')

    for (const node of Object.values(nodes)) node.behave(() => ({ status: 500, body: 'oops' }))
    for (const [step, body] of steps(payReqId(quote))) {
      const reply = await ask(step, body)
      expectError(reply, 503, 'chain_unavailable')
      expect(reply.headers.get('retry-after')).toBe('5')
    }
    for (const node of Object.values(nodes)) node.behave(honestly)

    market.clock.advance(301)
    const [preparing, sending, asking, finding] = steps(payReqId(quote)) as [
      [string, object],
      [string, object],
      [string, object],
      [string, object],
    ]
    expectError(await ask(...preparing), 410, 'quote_expired')
    expectError(await ask(...sending), 410, 'quote_expired')
    // The quote may have been paid in time.
    expect((await ask<{ outcome: string }>(...asking)).status).toBe(200)
    expect((await ask<FoundPayment>(...finding)).body).toEqual({ payment: null })
    market.clock.advance(86_400)
    expectError(await ask(...asking), 410, 'quote_expired')
    expectError(await ask(...finding), 410, 'quote_expired')
  })
})

describe('the outcome of a payment', () => {
  it('ADD-24 is failed or expired on the primary chain only when no money can have moved', async () => {
    const leg = legOf(await shop.quote(), 'SOL')
    const facts = await factsOf(leg, PRIMARY_PAYER.address)
    const unsent = await signOnPrimary(facts, leg)
    const failing = await signOnPrimary(facts, leg, { amount: 10n ** 18n })
    const rpc = createSolanaRpc(market.chains.primary.url)
    const options = { encoding: 'base64', skipPreflight: true } as const
    await rpc.sendTransaction(failing as Parameters<typeof rpc.sendTransaction>[0], options).send()
    await expect.poll(() => outcomeOf(leg, facts, idOf(failing)), { interval: 0 }).toBe('failed')
    expect(await outcomeOf(leg, facts, idOf(unsent))).toBe('pending')
    market.clock.advance(120)
    // One node has pruned the block time, and another lags behind its own earlier answer.
    const error = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32001, message: 'pruned' } })
    const lag = ({ context, ...answer }: { context: object }) => ({ ...answer, context: { ...context, slot: 1 } })
    for (const fault of [withBody('getBlockTime', error), withResult('getSignatureStatuses', lag)]) {
      nodes.primary.behave(fault)
      expect(await outcomeOf(leg, facts, idOf(unsent))).toBe('pending')
    }
    nodes.primary.behave(honestly)
    expect(await outcomeOf(leg, facts, idOf(unsent))).toBe('expired')
    expectError(await send(leg, unsent), 402, 'payment_verification_failed', 'would_fail')
  })

  it('ADD-24 is failed or expired on the EVM chain only when no money can have moved', async () => {
    const leg = legOf(await shop.quote(), 'USDC', 'evm-mainnet')
    const facts = await factsOf(leg, EVM_PAYER.address)
    const unsent = await signOnEvm(facts)
    expect(await outcomeOf(leg, facts, idOf(unsent))).toBe('pending')
    // With too little gas for the transfer, the chain includes the transaction and it reverts.
    const reverting = await signOnEvm(facts, { gas: 25_000n })
    await connectAs(EVM_PAYER, market.chains.evm.url)
      .sendRawTransaction({ serializedTransaction: reverting })
      .catch(() => {})
    nodes.evm.behave(async ({ honest }) => ({ body: withoutOldBlocks(await honest()) }))
    await expect.poll(() => outcomeOf(leg, facts, idOf(reverting)), { interval: 0 }).toBe('failed')
    expect(await outcomeOf(leg, facts, idOf(unsent))).toBe('pending')
    nodes.evm.behave(honestly)
    expect(await outcomeOf(leg, facts, idOf(unsent))).toBe('expired')
    expectError(await send(leg, unsent), 402, 'payment_verification_failed', 'would_fail')
  })
})

/** Fails the last call of the batch, which asks for the block of the signing. */
function withoutOldBlocks(body: string): string {
  const answers: unknown = JSON.parse(body)
  if (!Array.isArray(answers) || answers.length < 4) return body
  const { id } = answers[3]
  return JSON.stringify([...answers.slice(0, 3), { jsonrpc: '2.0', id, error: { code: -32000, message: 'pruned' } }])
}

describe('a transaction sent from the page', () => {
  const payer = PRIMARY_PAYER.address

  it('T-66 pays a leg of the quote on the primary chain and does nothing else', async () => {
    const [quote, foreign] = [await shop.quote(), await shop.quote()]
    const leg = legOf(quote, 'SOL')
    const token = legOf(quote, 'USDC')
    const facts = await factsOf(leg, payer)
    const gift = getTransferSolInstruction({
      source: { address: address(payer) } as never,
      destination: address(DEMO_PAYERS[1]!.address),
      amount: 1n,
    })
    const table = address(toBase58(new Uint8Array(32).fill(7)))
    const refused: [string, Parameters<typeof signOnPrimary>[2], PaymentLeg?][] = [
      ['an extra transfer', { change: (own) => [...own, { ...gift, accounts: own[0]!.accounts! }] }],
      ['nothing but a memo', { change: (own) => own.slice(1) }],
      ['no memo', { memo: null }],
      ['the memo of another quote', { memo: legOf(foreign, 'SOL').extra.memo! }],
      ['two memos', { memo: `${leg.extra.memo} ${legOf(foreign, 'SOL').extra.memo}` }],
      ['too little', { amount: BigInt(leg.amount) - 1n }],
      ['too much', { amount: BigInt(leg.amount) + 1n }],
      ['another destination', { payTo: DEMO_PAYERS[1]!.address }],
      ['the token to the wallet', { payTo: leg.payTo }, token],
      ['the reference of a phone', { reference: solanaPayReference(payReqId(quote)) }],
      ['a lookup table', { lookupTables: { [table]: [address(leg.payTo)] } }],
      ['another program', { change: (own) => [...own, { programAddress: table, data: new Uint8Array([1]) }] }],
    ]
    for (const [what, options, paid = leg] of refused) {
      const reply = await send(leg, await signOnPrimary(facts, paid, options))
      expect([what, reply.status, reply.body]).toMatchObject([what, 402, { details: { reason: 'not_this_payment' } }])
      expectError(reply, 402, 'payment_verification_failed')
    }
    const valid = await signOnPrimary(facts, leg)
    const bytes = Buffer.from(valid, 'base64')
    const forged = Buffer.from(bytes)
    forged[10]! ^= 1
    expectError(await send(leg, forged.toString('base64')), 402, 'payment_verification_failed', 'not_this_payment')
    const unreadable = [
      bytes.subarray(0, -1),
      Buffer.concat([bytes, Buffer.of(0)]),
      Buffer.alloc(1233, 1),
      Buffer.from('hello there'),
    ]
    for (const garbage of unreadable) expectError(await send(leg, garbage.toString('base64')), 400, 'malformed_payment')
    expectError(await send(leg, `${valid}===`), 422, 'validation_error')
    expectError(await send(leg, 'A'.repeat(4097)), 422, 'validation_error')
    expectError(await send(leg, 'A'.repeat(100_000)), 413, 'body_too_large')
    const rpc = createSolanaRpc(market.chains.primary.url)
    const named = await rpc.getSignaturesForAddress(address(solanaPayReference(payReqId(quote)))).send()
    expect(named).toEqual([])
  })

  it('T-66 may be a legacy transaction, and may contain harmless instructions that wallets add', async () => {
    const leg = legOf(await shop.quote(), 'USDC')
    const facts = await factsOf(leg, payer)
    const budget = {
      programAddress: address('ComputeBudget111111111111111111111111111111'),
      data: new Uint8Array([2, 64, 13, 3, 0]),
    }
    const lighthouse = (data: number[]) => ({
      programAddress: address('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'),
      data: new Uint8Array(data),
    })
    // The gateway accepts this instruction, but the local chain lacks its program.
    const asserting = await signOnPrimary(facts, leg, { change: (own) => [...own, lighthouse([5, 0])] })
    expectError(await send(leg, asserting), 402, 'payment_verification_failed', 'would_fail')
    const writing = await signOnPrimary(facts, leg, { change: (own) => [...own, lighthouse([0, 0])] })
    expectError(await send(leg, writing), 402, 'payment_verification_failed', 'not_this_payment')
    const legacy = await signOnPrimary(facts, leg, { version: 'legacy', change: (own) => [budget, ...own] })
    const { status, body } = await send(leg, legacy)
    expect([status, body]).toEqual([200, { tx: idOf(legacy) }])
    await expect.poll(() => outcomeOf(leg, facts, body.tx), { interval: 0 }).toBe('landed')
  })

  it('T-66 pays a leg of the quote on the EVM chain and does nothing else', async () => {
    const [quote, foreign] = [await shop.quote(), await shop.quote()]
    const leg = legOf(quote, 'USDC', 'evm-mainnet')
    const facts = await factsOf(leg, EVM_PAYER.address)
    const foreignFacts = await factsOf(legOf(foreign, 'USDC', 'evm-mainnet'), EVM_PAYER.address)
    const { data } = facts.eip155!
    const changes = [
      { to: `0x${'11'.repeat(20)}` },
      { to: null },
      { value: 1n },
      { data: foreignFacts.eip155!.data },
      { data: data.slice(0, 138) },
      { data: data.replace('a9059cbb', '095ea7b3') },
      { data: `${data}00` },
      { chainId: 1 },
      { type: 'eip7702', authorizationList: [] },
    ]
    for (const change of changes) {
      const reply = await send(leg, await signOnEvm(facts, change as Parameters<typeof signOnEvm>[1]))
      expect([change, reply.status]).toEqual([change, 402])
      expectError(reply, 402, 'payment_verification_failed', 'not_this_payment')
    }
    const valid = await signOnEvm(facts)
    for (const garbage of ['0x', '0x00', '0x02c0', valid.slice(0, -2), `${valid}00`])
      expect((await send(leg, garbage)).status, garbage).toBeGreaterThanOrEqual(400)
    expect((await send(leg, '0x02c0')).status).toBe(400)
    const nonce = await connectAs(EVM_PAYER, market.chains.evm.url).getTransactionCount({ address: EVM_PAYER.address })
    expect(nonce).toBe(facts.eip155!.nonce)
    expect((await send(leg, valid.toUpperCase().replace('0X', '0x'))).body).toEqual({ tx: keccak256(valid) })
  })
})

describe('coins for the demo wallet', () => {
  const newcomers = [
    ['solana', 'SOL', 'primary-mainnet', toBase58(new Uint8Array(32).fill(21))],
    ['eip155', 'MON', 'evm-mainnet', `0x${'21'.repeat(20)}`],
  ] as const

  it.each(newcomers)(
    'ADD-24 a gateway on local chains gives %s coins to pay with',
    async (namespace, coin, network, to) => {
      const reply = await shop.send('POST', '/dev/chains/faucet', { namespace, address: to })
      expect([reply.status, reply.body]).toEqual([200, { given: { [coin]: expect.any(String), USDC: '100' } }])
      const quote = await shop.quote()
      for (const ticker of [coin, 'USDC']) await factsOf(legOf(quote, ticker, network), to)
      const nobody = await shop.send('POST', '/dev/chains/faucet', { namespace, address: 'nobody' })
      expectError(nobody, 422, 'validation_error')
    },
  )

  it.each([
    ['in production', PRODUCTION],
    ['with a chain elsewhere', { EVM_RPC_URLS: 'https://rpc.example' }],
  ])('T-66 the faucet does not exist %s', async (_, variables) => {
    const other = await market.open(variables)
    const gift = { namespace: 'solana', address: PRIMARY_PAYER.address }
    expectError(await other.send('POST', '/dev/chains/faucet', gift), 404, 'not_found')
  })
})
