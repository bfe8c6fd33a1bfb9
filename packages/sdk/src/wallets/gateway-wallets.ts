// Wallets that use the selling service as their node, because pages cannot reach a chain. The service reports fees,
// balances and lifetimes. The signed transaction is built here from the leg that the buyer sees.

import type { PaymentFacts } from '@svc/api/payment'
import { findPayment, paymentOutcome, preparePayment, sendPayment } from '@svc/api/payment'
import type { PaymentLeg } from '@svc/api/quote'
import { toBase58 } from '@svc/protocol/bytes'
import { solanaPayReference } from '@svc/protocol/ids'
import type { Client } from '../client.ts'
import { PaymentError } from '../errors.ts'
import type { Signer } from '../signers.ts'
import type { Hex } from './evm-hex.ts'
import { OWN_PAYMENT } from './objections.ts'
import type { Lifetime } from './solana-node.ts'
import type { SignedPayment, Wallet } from './wallet.ts'

/** The payment endpoints of another service, with the same requests. */
export interface PaymentEndpoints {
  preparePayment: At<typeof preparePayment>
  sendPayment: At<typeof sendPayment>
  paymentOutcome: At<typeof paymentOutcome>
  findPayment: At<typeof findPayment>
}
type At<E> = Omit<E, 'name' | 'path'> & { name: string; path: string }

export interface GatewayNode {
  client: Pick<Client, 'call'>
  /** Set if the service is not a gateway. */
  endpoints?: PaymentEndpoints
  /** Whether the gateway is on this machine or network. */
  isLocal: boolean
}

function endpointsOf({ endpoints }: GatewayNode): PaymentEndpoints {
  return endpoints ?? { preparePayment, sendPayment, paymentOutcome, findPayment }
}

/** A wallet without a key that looks up and resends payments, to resume a purchase before a wallet is connected. */
export function watchOnlyWallet(node: GatewayNode, namespace: Wallet['namespace'], address: string): Wallet {
  return {
    ...readsOf(node, namespace, address),
    findSent: namespace === 'solana' ? findSentBy(node) : unknowable,
    async sign() {
      throw new PaymentError('not_moved', `${address} is not connected`)
    },
  }
}

/** Receives the wire bytes of an unsigned transaction, and the leg that it pays. */
export type SignTransaction = (transaction: Uint8Array, leg: PaymentLeg) => Promise<Uint8Array>

/** On the primary chain, with a wallet that signs without sending. */
export function primaryWallet(node: GatewayNode, address: string, signTransaction: SignTransaction): Wallet {
  return {
    ...readsOf(node, 'solana', address),
    async sign(leg) {
      const { signedPayment } = await import('./solana-wallet.ts')
      const { transaction, lifetime } = await unsigned(node, leg, address)
      const { life, ...signed } = signedPayment(await signTransaction(transaction, leg), lifetime)
      return { ...signed, life: { ...life, pay_req_id: leg.extra.pay_req_id } }
    },
  }
}

export function primaryKeyWallet(node: GatewayNode, signer: Signer): Wallet {
  return primaryWallet(node, signer.address, async (transaction) => {
    const { signWith } = await import('./solana-wallet.ts')
    return signWith(signer, transaction)
  })
}

/** On the primary chain, with a wallet that sends what it signs; `signAndSend` returns the signature. */
export function primarySendingWallet(node: GatewayNode, address: string, signAndSend: SignTransaction): Wallet {
  return {
    ...readsOf(node, 'solana', address),
    findSent: findSentBy(node),
    async sign(leg) {
      const reference = solanaPayReference(leg.extra.pay_req_id)
      const { transaction, lifetime } = await unsigned(node, leg, address, reference)
      const tx = toBase58(await signAndSend(transaction, leg))
      const { lastValidBlockHeight, slot } = lifetime
      return sent(leg, tx, { lastValidBlockHeight: String(lastValidBlockHeight), slot: String(slot) })
    },
  }
}

export function evmKeyWallet(node: GatewayNode, privateKey: Hex, address: string): Wallet {
  return {
    ...readsOf(node, 'eip155', address),
    async sign(leg, maxFee) {
      const { accountOf, transactionHash } = await import('./evm-transaction.ts')
      const call = await evmCall(node, leg, address, maxFee)
      if (call.nonce === null) throw new PaymentError('not_moved', 'the gateway did not report the next nonce')
      const { block, ...request } = call
      const raw = await accountOf(privateKey).signTransaction({ ...request, nonce: call.nonce, type: 'eip1559' })
      const life = { nonce: String(call.nonce), block, pay_req_id: leg.extra.pay_req_id }
      return { tx: transactionHash(raw), raw, life }
    },
  }
}

/** A transaction for `eth_sendTransaction`, except that its numbers are not encoded. */
export type EvmRequest = Awaited<ReturnType<typeof evmCall>>

/**
 * On an EVM chain, with a wallet that sends what it signs; `send` returns the transaction id. The wallet chooses the
 * nonce and may reuse it to replace the transaction, so it is never certain that the payment will not land.
 */
export function evmSendingWallet(
  node: GatewayNode,
  address: string,
  send: (request: EvmRequest) => Promise<string>,
): Wallet {
  return {
    ...readsOf(node, 'eip155', address),
    findSent: unknowable,
    async sign(leg, maxFee) {
      const request = await evmCall(node, leg, address, maxFee)
      return sent(leg, await send(request), { nonce: UNKNOWN, block: request.block })
    },
  }
}

function sent({ extra }: PaymentLeg, tx: string, life: Record<string, string>): SignedPayment {
  return { tx, raw: '', life: { ...life, pay_req_id: extra.pay_req_id } }
}

type Reads = Omit<Wallet, 'sign'>

function readsOf(node: GatewayNode, namespace: Wallet['namespace'], address: string): Reads {
  const { client, isLocal } = node
  return {
    namespace,
    address,
    isLocal,
    landsWithin: namespace === 'solana' ? 120 : 60,
    async objection(leg) {
      if (leg.payTo.toLowerCase() === address.toLowerCase()) return OWN_PAYMENT
      return (await factsOf(node, leg, address)).objection
    },
    async fee(leg) {
      const { amount, ticker, decimals } = (await factsOf(node, leg, address)).fee
      return { amount: BigInt(amount), ticker, decimals }
    },
    async send({ raw, life }) {
      if (raw === '') return
      await client.call(endpointsOf(node).sendPayment, {
        body: { pay_req_id: life.pay_req_id as string, transaction: raw },
      })
    },
    async outcomeOf({ tx, raw, life }) {
      const { pay_req_id, nonce, block, lastValidBlockHeight, slot } = life as Record<string, string>
      const known = nonce && block ? { nonce, block } : { lastValidBlockHeight, slot }
      const body = {
        pay_req_id: pay_req_id as string,
        tx,
        payer: address,
        life: known as { nonce: string; block: string },
      }
      const { outcome } = (await client.call(endpointsOf(node).paymentOutcome, { body })).body
      // A wallet that sends itself may replace its transaction with one that pays the same, or may have given it
      // another lifetime. So an expired transaction does not mean that the payment has failed.
      return outcome === 'expired' && raw === '' ? 'pending' : outcome
    },
  }
}

/** The gateway finds payments with the Solana Pay reference of the quote. A phone may have paid another leg. */
function findSentBy(node: GatewayNode) {
  return async (leg: PaymentLeg): Promise<SignedPayment | null> => {
    const { pay_req_id, name } = leg.extra
    const { payment } = (await node.client.call(endpointsOf(node).findPayment, { body: { pay_req_id } })).body
    if (payment?.pay_asset !== name) return null
    return sent(leg, payment.tx, { lastValidBlockHeight: UNKNOWN, slot: '0' })
  }
}

/** EVM chains have no index of transactions that name a quote. */
async function unknowable(): Promise<null> {
  return null
}

/** A height that no chain reaches. */
const UNKNOWN = '9'.repeat(15)

async function factsOf(node: GatewayNode, leg: PaymentLeg, payer: string): Promise<PaymentFacts> {
  const { network, asset, extra } = leg
  const body = { pay_req_id: extra.pay_req_id, network, asset, payer }
  return (await node.client.call(endpointsOf(node).preparePayment, { body })).body
}

async function unsigned(node: GatewayNode, leg: PaymentLeg, address: string, reference?: string) {
  const [{ unsignedPayment }, { solana }] = await Promise.all([
    import('./solana-wallet.ts'),
    factsOf(node, leg, address),
  ])
  if (!solana) throw new PaymentError('not_moved', 'the gateway did not report how long a payment can land')
  const { blockhash, last_valid_block_height, slot } = solana
  const lifetime: Lifetime = {
    blockhash: blockhash as Lifetime['blockhash'],
    lastValidBlockHeight: BigInt(last_valid_block_height),
    slot: BigInt(slot),
  }
  return { transaction: await unsignedPayment(address, leg, lifetime, reference), lifetime }
}

async function evmCall(node: GatewayNode, leg: PaymentLeg, address: string, maxFee: bigint | undefined) {
  const [{ evmTransfer, MAX_GAS }, { eip155 }] = await Promise.all([
    import('./evm-wallet.ts'),
    factsOf(node, leg, address),
  ])
  if (!eip155 || leg.network !== `eip155:${eip155.chain_id}`)
    throw new PaymentError('not_moved', 'the node of the gateway is on another chain than the quote')
  const gas = BigInt(eip155.gas)
  const maxFeePerGas = BigInt(eip155.max_fee_per_gas)
  const maxPriorityFeePerGas = BigInt(eip155.max_priority_fee_per_gas)
  if (gas > MAX_GAS) throw new PaymentError('not_moved', `the payment would use ${gas} gas, far more than a transfer`)
  if (maxFee !== undefined && gas * maxFeePerGas > (maxFee * 12n) / 10n)
    throw new PaymentError('not_moved', 'the network charges more than was approved: try again')
  const { chain_id: chainId, nonce, block } = eip155
  return { ...evmTransfer(leg), chainId, gas, maxFeePerGas, maxPriorityFeePerGas, nonce, block }
}
