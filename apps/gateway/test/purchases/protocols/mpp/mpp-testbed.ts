// Stock clients of the Machine Payments Protocol with wallets on the local chains, and the messages they exchange.

import { address } from '@solana/kit'
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { EVM, PRIMARY } from '@svc/api/networks'
import type { Confirmation } from '@svc/api/purchases'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import type { LocalChains } from '@svc/devnet/local-chains'
import { payLeg } from '@svc/devnet/pay-leg'
import type { Reply, TestGateway } from '@svc/devnet/services/test-gateway'
import { Challenge, Credential, Method, z } from 'mppx'
import { evm, Mppx } from 'mppx/client'
import { privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'

export const PATH = '/v1/storage/request'

interface ChargeRequest {
  amount: string
  currency: string
  recipient: string
  externalId: string
  methodDetails: { decimals?: number; network?: string; chainId?: number; credentialTypes?: string[] }
}

export type ChargeChallenge = Challenge.Challenge<ChargeRequest & Record<string, unknown>>

export function challengesIn(headers: Headers): ChargeChallenge[] {
  return Challenge.fromHeadersList(headers) as ChargeChallenge[]
}

/** The challenges of a new quote. */
export async function challengesOf(shop: TestGateway, order: object = { units: 1 }): Promise<ChargeChallenge[]> {
  const { status, headers } = await shop.send('POST', PATH, order)
  expect(status).toBe(402)
  return challengesIn(headers)
}

/** The challenge to pay with a currency: `sol`, a mint or a contract. */
export function payableWith(challenges: readonly ChargeChallenge[], currency: string): ChargeChallenge {
  const found = challenges.find(({ request }) => request.currency === currency)
  if (!found) throw new Error(`no challenge for ${currency}`)
  return found
}

/** Pays from the contents of the challenge alone. Returns the transaction. */
export async function payChallenge(
  chains: LocalChains,
  { method, request }: ChargeChallenge,
  { payer = 1, memo = method === 'solana' ? request.externalId : null }: { payer?: number; memo?: string | null } = {},
): Promise<string> {
  const { amount, currency, recipient, methodDetails } = request
  const extra = { decimals: methodDetails.decimals ?? 9, pay_req_id: '' }
  if (method === 'evm')
    return payLeg(chains, { network: EVM.caip2, amount, asset: currency, payTo: recipient, extra }, { payer, memo })
  const isNative = currency === 'sol'
  const asset = isNative ? PRIMARY.nativeAsset : currency
  const payTo = isNative ? recipient : await tokenAccount(recipient, currency)
  return payLeg(chains, { network: PRIMARY.caip2, amount, asset, payTo, extra }, { payer, memo })
}

async function tokenAccount(owner: string, mint: string): Promise<string> {
  const [account] = await findAssociatedTokenPda({
    owner: address(owner),
    mint: address(mint),
    tokenProgram: TOKEN_PROGRAM_ADDRESS,
  })
  return account
}

/** The header that shows a transaction. */
export function shown(challenge: ChargeChallenge, tx: string): string {
  const payload =
    challenge.method === 'evm' ? { type: 'hash' as const, hash: tx } : { type: 'signature' as const, signature: tx }
  return Credential.serialize({ challenge, payload })
}

export function send(
  shop: TestGateway,
  authorization: string,
  order: object = { units: 1 },
): Promise<Reply<Confirmation>> {
  return shop.send<Confirmation>('POST', PATH, order, { authorization })
}

/** A stock client that pays on the primary chain itself, because the library has no method for that chain. */
export function solanaClient(chains: LocalChains) {
  const charge = Method.from({
    name: 'solana',
    intent: 'charge',
    schema: {
      credential: { payload: z.object({ type: z.literal('signature'), signature: z.string() }) },
      request: z.looseObject({ amount: z.string(), currency: z.string(), recipient: z.string() }),
    },
  })
  const paying = Method.toClient(charge, {
    async createCredential({ challenge }) {
      const asked = challenge as unknown as ChargeChallenge // the form in the method's specification
      return shown(asked, await payChallenge(chains, asked))
    },
  })
  return Mppx.create({ methods: [paying], polyfill: false })
}

/** A stock client with the library's own method for the EVM chain, which only signs. */
export function evmClient(payer = 1) {
  const account = privateKeyToAccount(DEV_PAYERS[payer]!.privateKey)
  const authorization = { name: 'USDC', version: '2' }
  return Mppx.create({ methods: [evm.charge({ account, authorization, networks: [EVM.chainId] })], polyfill: false })
}

export function ordering(order: object = { units: 1 }): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(order) }
}

/** Expects a refusal that does not make a client pay again. */
export function expectProblem({ status, headers, body }: Reply<unknown>, type: string, error: string) {
  expect([status, body]).toEqual([
    402,
    expect.objectContaining({
      type: `https://paymentauth.org/problems/${type}`,
      title: expect.any(String),
      status: 402,
      detail: expect.any(String),
      error,
      message: expect.any(String),
      request_id: expect.stringMatching(/^req_/),
    }),
  ])
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json/)
  expect(headers.get('payment-required')).toBeNull()
  expect(headers.get('payment-receipt')).toBeNull()
}
