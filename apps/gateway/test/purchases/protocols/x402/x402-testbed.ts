// Starts a gateway that accepts signed payments on both local chains, opens stock x402 clients, and reads balances.

import { generateKeyPairSigner } from '@solana/kit'
import type { PaymentLeg } from '@svc/api/quote'
import type { X402Leg, X402Purchase, X402Quote } from '@svc/api/x402'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { DEV_PAYERS, DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs } from '@svc/devnet/evm-chain/dev-client'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import { DEMO_PAYERS, TREASURY, tokenAccountOf } from '@svc/devnet/primary-chain/dev-accounts'
import { call, signerOf } from '@svc/devnet/primary-chain/dev-client'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { type Reply, testGatewayOf } from '@svc/devnet/services/test-gateway'
import type { Variables } from '@svc/service/program/config'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { decodePaymentRequiredHeader, decodePaymentResponseHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import type { PaymentPayload, PaymentRequired, PaymentRequirements, SettleResponse } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import type { Overrides } from '../../../../src/context.ts'
import type { Gateway } from '../../../../src/gateway.ts'

export type Family = 'primary' | 'evm'
export const FAMILIES: readonly Family[] = ['primary', 'evm']
const CAIP2 = { primary: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', evm: 'eip155:143' } as const
const PATH = '/v1/x402/storage'

/** The price of one unit, in atomic units of USDC. */
export const PRICE = 250_000n

/** The payers' addresses. */
export const WALLETS: Record<Family, string> = {
  primary: DEMO_PAYERS[1]!.address,
  evm: DEV_PAYERS[1]!.address.toLowerCase(),
}

/** A stock client with a wallet on one chain. */
export async function walletOn(family: Family, chains: LocalChains, payer = 1): Promise<x402Client> {
  const client = new x402Client()
  return family === 'evm'
    ? client.register(CAIP2.evm, new ExactEvmScheme(privateKeyToAccount(DEV_PAYERS[payer]!.privateKey)))
    : client.register(
        CAIP2.primary,
        new ExactSvmScheme(await signerOf(DEMO_PAYERS[payer]!), { rpcUrl: chains.primary.url }),
      )
}

/** A stock client with a new, empty wallet. */
export async function newWallet(family: Family, chains: LocalChains): Promise<{ client: x402Client; address: string }> {
  const client = new x402Client()
  if (family === 'evm') {
    const account = privateKeyToAccount(generatePrivateKey())
    return { client: client.register(CAIP2.evm, new ExactEvmScheme(account)), address: account.address }
  }
  const signer = await generateKeyPairSigner()
  const scheme = new ExactSvmScheme(signer, { rpcUrl: chains.primary.url })
  return { client: client.register(CAIP2.primary, scheme), address: signer.address }
}

export async function buyWith(client: x402Client, url: string, order: object = { units: 1 }, headers = {}) {
  const buy = wrapFetchWithPayment(fetch, client)
  return buy(url + PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(order),
  })
}

export interface SignedHeader {
  /** The PAYMENT-SIGNATURE header of the stock client. */
  text: string
  payload: PaymentPayload
  quote: X402Quote
}

/** Signs the stock client's answer to the 402 without sending it. */
export async function signFor(
  client: x402Client,
  url: string,
  order: object = { units: 1 },
  sent: Record<string, string> = {},
): Promise<SignedHeader> {
  const { headers, body } = await post<X402Quote>(url, order, sent)
  const http = new x402HTTPClient(client)
  const required = http.getPaymentRequiredResponse((name) => headers.get(name))
  const payload = await http.createPaymentPayload(required)
  return { text: encodePaymentSignatureHeader(payload), payload, quote: body }
}

export const encoded = encodePaymentSignatureHeader

export function post<Body = X402Purchase>(url: string, order: unknown, headers: Record<string, string> = {}) {
  return testGatewayOf({ url }).send<Body>('POST', PATH, order, headers)
}

export function pay<Body = X402Purchase>(url: string, signature: string, order: object = { units: 1 }) {
  return post<Body>(url, order, { 'payment-signature': signature })
}

export function responseIn(headers: Headers): SettleResponse {
  return decodePaymentResponseHeader(headers.get('payment-response') ?? '')
}

/** Expects a permanent refusal that comes with a new offer; returns the offer. */
export function expectRefused(
  { status, headers, body }: Reply<unknown>,
  reason: string = expect.any(String),
): PaymentRequired {
  const details = expect.objectContaining({ reason })
  expect([status, body]).toEqual([402, expect.objectContaining({ error: 'payment_verification_failed', details })])
  expect(responseIn(headers)).toMatchObject({ success: false, transaction: '', errorReason: reason })
  const required = decodePaymentRequiredHeader(headers.get('payment-required') ?? '')
  expect(required).toMatchObject({ x402Version: 2, error: reason, resource: { url: expect.stringContaining(PATH) } })
  return required
}

export function legOn(family: Family, { accepts }: X402Quote): X402Leg {
  const leg = accepts.find(({ network }) => network === CAIP2[family])
  if (!leg) throw new Error(`no leg on ${family}`)
  return leg
}

/** The treasury's USDC in atomic units, after all sent transactions have landed. */
export async function treasuryUsdc(family: Family, chains: LocalChains): Promise<bigint> {
  await chains[family].chain.settle()
  if (family === 'evm') {
    const client = connectAs(DEV_TREASURY, chains.evm.url)
    const args = [DEV_TREASURY.address] as const
    return client.readContract({ address: TOKENS.USDC.address, abi: erc20Abi, functionName: 'balanceOf', args })
  }
  const account = await tokenAccountOf(TREASURY.address, 'USDC')
  const { result } = await call(chains.primary.url, 'getTokenAccountBalance', [account])
  return BigInt((result as { value: { amount: string } }).value.amount)
}

/** The treasury's USDC on both chains. */
export const treasuries = (chains: LocalChains) => Promise.all(FAMILIES.map((family) => treasuryUsdc(family, chains)))

export interface X402Testbed {
  chains: LocalChains
  gateway: Gateway
  url: string
  stop(): Promise<void>
}

export async function startX402Testbed(variables: Variables = {}, overrides?: Overrides): Promise<X402Testbed> {
  const chains = await startLocalChains()
  const gateway = await startTestGateway({ ...chains.variables, ...variables }, overrides)
  return {
    chains,
    gateway,
    url: gateway.url,
    async stop() {
      await gateway.stop()
      await chains.stop()
    },
  }
}

/** The header of a stock client that signs a changed leg and names the offered one. */
export async function signedFor(
  family: Family,
  testbed: X402Testbed,
  change: (leg: X402Leg) => X402Leg,
): Promise<string> {
  const { body } = await post<X402Quote>(testbed.url, { units: 1 })
  const accepted = asRequirements(legOn(family, body))
  const client = (await walletOn(family, testbed.chains)).setSpendControls(false)
  const accepts = [asRequirements(change(legOn(family, body)))]
  return encoded({ ...(await client.createPaymentPayload({ ...body, accepts })), accepted })
}

/** The library types a network as a string with a colon. */
export function asRequirements(leg: PaymentLeg | X402Leg): PaymentRequirements {
  return leg as PaymentRequirements
}
