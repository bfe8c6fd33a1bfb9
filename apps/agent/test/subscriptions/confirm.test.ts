import { publishedBy } from '@svc/devnet/published'
import { paymentReference } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { isReceiptSignedBy, receiptClaim } from '@svc/protocol/receipt'
import { describe, expect, it } from 'vitest'
import { useAgentStack } from '../agent-stack.ts'
import { countPurchases, expectError, legOf, pay, payReqId, subscriptionApi } from '../subscription-api.ts'
import { ed25519Wallet, evmPayer, type Payer, primaryPayer } from '../wallets.ts'

const stack = useAgentStack()
const api = subscriptionApi(() => stack.agent)

const DAY = 86_400
const seconds = (time: string) => Date.parse(time) / 1000
const unixNow = () => stack.clock.now() / 1000

describe('AGENT-01 AGENT-03 SHAPE-43 a payment', () => {
  it.each([
    ['SOL', 'primary-mainnet', primaryPayer(0)],
    ['USDC', 'primary-mainnet', primaryPayer(1)],
    ['BETA', 'primary-mainnet', primaryPayer(2)],
    ['MON', 'evm-mainnet', evmPayer(0)],
    ['USDC', 'evm-mainnet', evmPayer(1)],
    ['WETH', 'evm-mainnet', evmPayer(2)],
  ])(
    'AGENT-01 AGENT-03 SHAPE-43 T-33 of %s on %s buys the payer thirty days and publishes only a reference',
    async (ticker, network, payer) => {
      const quote = await api.quote()
      const leg = legOf(quote, ticker, network)
      const tx = await pay(stack, leg, payer)
      const published = await publishedBy(stack.chains, tx)
      expect(published).toContain(paymentReference(payReqId(quote)))
      expect(published).not.toContain(payReqId(quote))
      const { status, headers, body } = await api.confirm({ quote, tx, identity: payer.identity, leg })
      expect([status, headers.get('cache-control')], JSON.stringify(body)).toEqual([200, 'no-store'])
      expect(body).toEqual({
        ok: true,
        idempotent: false,
        receipt_id: expect.stringMatching(/^rcpt_[0-9a-f]{32}$/),
        receipt: expect.objectContaining({
          receipt_id: body.receipt_id,
          pay_req_id: payReqId(quote),
          tx_hash: tx,
          payer_pubkey: payer.identity,
          pay_asset: ticker,
          network,
          paid_raw: leg.amount,
          units: 1,
        }),
        subscription: {
          subscription_id: expect.stringMatching(/^sub_[0-9a-f]{32}$/),
          identity: payer.identity,
          status: 'active',
          starts_at: '2026-09-01T12:00:00Z',
          expires_at: '2026-10-01T12:00:00Z',
        },
      })
    },
  )

  it('AGENT-01 AGENT-03 is receipted with the key in the discovery document', async () => {
    const payer = primaryPayer(3)
    const { receipt } = await stack.subscribe(payer)
    const { body: index } = await stack.send<{ signing_key: { public_key_hex: string } }>(
      'GET',
      '/.well-known/svc-agent.json',
    )
    const key = ed25519PublicKeyFromHex(index.signing_key.public_key_hex)!
    expect(isReceiptSignedBy(key, receipt)).toBe(true)
    expect(isReceiptSignedBy(key, { ...receipt, units: 2 })).toBe(false)
  })

  it('AGENT-03 counts without a memo, with the transaction in the body and the address in any letter case', async () => {
    const payer = evmPayer(3)
    const quote = await api.quote({ pay_network: 'evm-mainnet' })
    const tx = await pay(stack, quote.accepts[0]!, payer, { memo: null })
    const identity = `0x${payer.identity.slice(2).toUpperCase()}`
    const body = { pay_req_id: payReqId(quote), tx_sig: tx.toUpperCase().replace('0X', '0x') }
    const reply = await api.postConfirm(body, { 'x-svc-identity': identity })
    expect(reply.body).toMatchObject({ ok: true, subscription: { identity: payer.identity } })
  })
})

describe('AGENT-03 T-02 an identity that did not pay', () => {
  it.each([
    ['of somebody else', () => ed25519Wallet().identity],
    ['of the other chain', () => evmPayer(0).identity],
    ['of the treasury', () => String(stack.chains.agentVariables.PRIMARY_TREASURY)],
  ])('AGENT-03 T-02 %s gets a 403 and does not keep the payer from confirming', async (_, identity) => {
    const before = await countPurchases(stack)
    const payer = primaryPayer(0)
    const quote = await api.quote()
    const confirmation = { quote, tx: await pay(stack, quote.accepts[0]!, payer) }
    expectError(await api.confirm({ ...confirmation, identity: identity() }), 403, 'OWNER_IDENTITY_MISMATCH')
    expect(await countPurchases(stack)).toEqual(before)
    const { status, body } = await api.confirm({ ...confirmation, identity: payer.identity })
    expect([status, body.idempotent]).toEqual([200, false])
  })
})

it('T-02 a stranger who confirms another payment with their own quote buys the days for the payer', async () => {
  const payer = evmPayer(1)
  const [quote, strangers] = [await api.quote(), await api.quote()]
  const leg = legOf(quote, 'USDC', 'evm-mainnet')
  const tx = await pay(stack, leg, payer, { memo: null })
  const { body } = await api.confirm({ quote: strangers, tx, identity: payer.identity, leg })
  expect(body.subscription).toMatchObject({ identity: payer.identity, status: 'active' })
  const own = await api.confirm({ quote, tx, identity: payer.identity, leg })
  expectError(own, 402, 'payment_verification_failed', 'transaction_already_used')
})

describe('AGENT-03 PAY-51 a repeated confirmation', () => {
  it('AGENT-03 PAY-51 ADD-13 returns the first answer for its transaction or signature, and extends nothing', async () => {
    const payer = primaryPayer(1)
    const quote = await api.quote()
    const tx = await pay(stack, quote.accepts[0]!, payer)
    const { body: first } = await api.confirm({ quote, tx, identity: payer.identity })
    const before = await countPurchases(stack)
    const again = await api.confirm({ quote, tx, identity: payer.identity })
    expect([again.status, again.body]).toEqual([200, { ...first, idempotent: true }])
    const other = await pay(stack, quote.accepts[0]!, payer)
    const refused = await api.confirm({ quote, tx: other, identity: payer.identity })
    expectError(refused, 402, 'payment_verification_failed', 'quote_already_paid')
    expect(JSON.stringify(refused.body)).not.toContain(first.receipt_id)
    const { confirm_url, pay_req_id } = quote.extensions.svc.info
    const signedBy = async ({ signer }: Payer, url: string) => {
      const body = { pay_req_id, payer_signature: await signer.sign(receiptClaim(url, pay_req_id)) }
      return api.postConfirm(body, { 'x-svc-identity': payer.identity })
    }
    const signed = await signedBy(payer, confirm_url)
    expect([signed.status, signed.body]).toEqual([200, { ...first, idempotent: true }])
    const forgeries = [
      await signedBy(primaryPayer(2), confirm_url),
      await signedBy(payer, 'https://gateway.example/v1/storage/confirm'),
    ]
    for (const forged of forgeries) expectError(forged, 402, 'payment_verification_failed', 'quote_already_paid')
    expect(await countPurchases(stack)).toEqual(before)
  })

  it('AGENT-03 PAY-51 by another identity answers 403 and reveals nothing of the receipt', async () => {
    const payer = primaryPayer(2)
    const quote = await api.quote()
    const tx = await pay(stack, quote.accepts[0]!, payer)
    const { body: purchase } = await api.confirm({ quote, tx, identity: payer.identity })
    const reply = await api.confirm({ quote, tx, identity: ed25519Wallet().identity })
    expectError(reply, 403, 'OWNER_IDENTITY_MISMATCH')
    for (const secret of [purchase.receipt_id, payer.identity, purchase.subscription.subscription_id])
      expect(JSON.stringify(reply.body)).not.toContain(secret)
  })

  it('AGENT-03 PAY-51 long afterwards shows what the payment bought, and that it has expired', async () => {
    const payer = evmPayer(2)
    const quote = await api.quote({ pay_network: 'evm-mainnet' })
    const confirmation = { quote, tx: await pay(stack, quote.accepts[0]!, payer), identity: payer.identity }
    const { body: first } = await api.confirm(confirmation)
    stack.clock.advance(400 * DAY)
    const { body: later } = await api.confirm(confirmation)
    expect(later).toEqual({
      ...first,
      idempotent: true,
      subscription: { ...first.subscription, status: 'expired' },
    })
    expectError(await api.confirm({ ...confirmation, identity: evmPayer(0).identity }), 403, 'OWNER_IDENTITY_MISMATCH')
  })
})

describe('SHAPE-43 a second purchase', () => {
  it('SHAPE-43 adds thirty days to a subscription that is active', async () => {
    const payer = primaryPayer(0)
    const { subscription: first } = await stack.subscribe(payer)
    stack.clock.advance(10 * DAY)
    const { subscription: second } = await stack.subscribe(payer)
    expect(second.starts_at).toBe(first.starts_at)
    expect(seconds(second.expires_at)).toBe(seconds(first.expires_at) + 30 * DAY)
    expect(second.subscription_id).toBe(first.subscription_id)
  })

  it('SHAPE-43 starts at its confirmation when the subscription has expired', async () => {
    const payer = primaryPayer(1)
    const { subscription: first } = await stack.subscribe(payer)
    stack.clock.advance(45 * DAY)
    const { subscription: second } = await stack.subscribe(payer)
    expect(seconds(second.starts_at)).toBe(unixNow())
    expect(seconds(second.expires_at)).toBe(unixNow() + 30 * DAY)
    expect(second.subscription_id).toBe(first.subscription_id)
  })
})
