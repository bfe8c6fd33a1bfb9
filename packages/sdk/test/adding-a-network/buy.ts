// Sells on the networks that are declared next to it, buys there in every way that depends on the network, and prints
// the results. It is a separate process, because a declaration is read only once.

import './networks.ts'
import type { Network } from '@svc/api/networks'
import type { PaymentLeg } from '@svc/api/quote'
import type { X402Leg } from '@svc/api/x402'
import { DEV_PAYERS, DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { startEvmChain } from '@svc/devnet/evm-chain/start'
import { startLocalChains } from '@svc/devnet/local-chains'
import { startOidcIssuer, TEST_AUDIENCE } from '@svc/devnet/oidc-issuer'
import { payLeg } from '@svc/devnet/pay-leg'
import { DEMO_PAYERS, TREASURY } from '@svc/devnet/primary-chain/dev-accounts'
import { startPrimaryChain } from '@svc/devnet/primary-chain/start'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { fromBase58 } from '@svc/protocol/bytes'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createClient, memoryJournal, type Wallet } from '../../src/index.ts'
import { parseKey } from '../../src/node/index.ts'
import { evmKeyWallet, primaryKeyWallet } from '../../src/wallets/gateway-wallets.ts'
import { BASE, ECLIPSE } from './networks.ts'

const landing = 'at once'
const [chains, base, eclipse] = await Promise.all([
  startLocalChains({ landing }),
  startEvmChain({ port: 0, landing, network: BASE }),
  startPrimaryChain({ port: 0, landing, network: ECLIPSE }),
])
const issuer = await startOidcIssuer()
const gateway = await startTestGateway({
  ...chains.variables,
  BASE_RPC_URLS: base.url,
  BASE_TREASURY: DEV_TREASURY.address,
  ECLIPSE_RPC_URLS: eclipse.url,
  ECLIPSE_TREASURY: TREASURY.address,
  SPONSOR_OIDC: `issuer=${issuer.issuer},audience=${TEST_AUDIENCE},jwks=${issuer.jwksUrl},subject=sponsor`,
})

const [payer] = DEV_PAYERS as [(typeof DEV_PAYERS)[0] & object]
const [svmPayer] = DEMO_PAYERS as [(typeof DEMO_PAYERS)[0] & object]
const keypair = [...svmPayer.privateKeyBytes, ...(fromBase58(svmPayer.address, 32) as Uint8Array)]
const evmKey = parseKey(payer.privateKey, 'a key')
const svmKey = parseKey(JSON.stringify(keypair), 'a key')

const clientOf = ({ signer }: typeof evmKey) =>
  createClient({ baseUrl: gateway.url, signer, journal: memoryJournal(), onWarning: () => {} })
const pageNode = { client: clientOf(evmKey), isLocal: true }

/** Pays, confirms and opens a locker; then the gateway compares the receipt with the chain. */
async function buy(key: typeof evmKey, wallet: Wallet, asset: string) {
  const client = clientOf(key)
  const intent = `${asset} ${Math.random()}`
  const { receipt, receipt_id } = await client.buy({ units: 1, intent, wallet, asset })
  const { verified } = await client.checkPayment(receipt_id)
  return `${receipt.pay_asset} on ${receipt.network}, ${verified ? 'verified' : 'not verified'}`
}

/** The wallet of a page, which has this gateway as its node. */
function pageWallet({ family, caip2 }: Network): Wallet {
  const wallet =
    family === 'evm'
      ? evmKeyWallet(pageNode, payer.privateKey, payer.address.toLowerCase())
      : primaryKeyWallet(pageNode, svmKey.signer)
  return { ...wallet, network: caip2 }
}

const get = async (path: string) => (await fetch(gateway.url + path)).json()
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

/** Signs an authorization (EIP-3009), which the gateway sends. */
async function buyBySignature() {
  const { accepts } = (await (await post('/v1/x402/storage', { units: 1 })).json()) as { accepts: X402Leg[] }
  const accepted = accepts.find(({ network }) => network === BASE.caip2) as X402Leg
  const { name, version } = accepted.extra
  const value = BigInt(accepted.amount)
  const [from, to] = [payer.address, accepted.payTo as typeof payer.address]
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + 300)
  const nonce = generatePrivateKey()
  const signature = await privateKeyToAccount(payer.privateKey).signTypedData({
    domain: { name, version: String(version), chainId: BASE.chainId, verifyingContract: accepted.asset as typeof to },
    types: { TransferWithAuthorization: AUTHORIZATION },
    primaryType: 'TransferWithAuthorization',
    message: { from, to, value, validAfter: 0n, validBefore, nonce },
  })
  const authorization = { from, to, value: String(value), validAfter: '0', validBefore: String(validBefore), nonce }
  const payment = { x402Version: 2, accepted, payload: { signature, authorization } }
  const paid = await post('/v1/x402/storage', { units: 1 }, { 'payment-signature': btoa(JSON.stringify(payment)) })
  const { receipt, ...body } = (await paid.json()) as { receipt?: { network: string; pay_asset: string } }
  return receipt ? `${receipt.pay_asset} on ${receipt.network}` : body
}

const AUTHORIZATION = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const

/** A sponsor names a transaction, and no network. */
async function buySponsored(network: Network, owner_identity: string) {
  const { accepts } = (await (await post('/v1/storage/request', { units: 1 })).json()) as { accepts: PaymentLeg[] }
  const leg = accepts.find((one) => one.network === network.caip2) as PaymentLeg
  const tx_sig = await payLeg({ evm: base, primary: eclipse }, leg)
  const body = { pay_req_id: leg.extra.pay_req_id, tx_sig, owner_identity }
  const confirmed = await post('/v1/storage/sponsored-confirm', body, { authorization: `Bearer ${issuer.token()}` })
  const { receipt, ...answer } = (await confirmed.json()) as { receipt?: { network: string; pay_asset: string } }
  return receipt ? `${receipt.pay_asset} on ${receipt.network}` : answer
}

async function quoted(pay_network: string) {
  const { accepts } = (await (await post('/v1/storage/request', { units: 1, pay_network })).json()) as {
    accepts: PaymentLeg[]
  }
  return accepts.map(({ network, extra }) => `${extra.name} on ${network}${extra.solana_pay ? ', by phone' : ''}`)
}

const evmWallet = await evmKey.wallet(base.url)
const svmWallet = await svmKey.wallet(eclipse.url)
const result = {
  checks: (await get('/health')).checks,
  networks: (await get('/.well-known/svc.json')).payment.networks,
  described: Object.keys((await get('/openapi.json')).components.schemas.Health.properties.checks.properties),
  quotes: [await quoted('base-mainnet'), await quoted('base-sepolia'), await quoted(ECLIPSE.caip2)],
  bought: [
    await buy(evmKey, evmWallet, 'USDC'),
    await buy(evmKey, evmWallet, 'ETH'),
    await buy(evmKey, pageWallet(BASE), 'USDC'),
    await buy(svmKey, svmWallet, 'USDC'),
    await buy(svmKey, svmWallet, 'GAS'),
    await buy(svmKey, pageWallet(ECLIPSE), 'USDC'),
    await buy(evmKey, await evmKey.wallet(chains.evm.url), 'USDC'),
  ],
  signed: await buyBySignature(),
  sponsored: [await buySponsored(BASE, payer.address), await buySponsored(ECLIPSE, svmPayer.address)],
  held: await Promise.all(
    gateway.context.sales.treasuries.map(async ({ network, legs, balances }) => {
      const amounts = await balances.read(legs)
      return [network.name, legs.flatMap(({ of }, i) => (amounts[i] ? [of.ticker] : []))]
    }),
  ),
}
await gateway.stop()
await Promise.all([chains.stop(), base.stop(), eclipse.stop(), issuer.stop()])
console.log(`result ${JSON.stringify(result)}`)
