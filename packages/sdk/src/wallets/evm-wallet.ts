// Pays on an EVM chain in its coin or ERC-20 tokens. The reference of the quote follows the calldata.

import type { PaymentLeg } from '@svc/api/quote'
import { utf8 } from '@svc/protocol/bytes'
import { PaymentError } from '../errors.ts'
import { isPrivateHost } from '../local-services.ts'
import { knownAsset } from '../money.ts'
import { transfer } from './erc20.ts'
import { type Hex, hexOf, ZERO_ADDRESS } from './evm-hex.ts'
import { connectEvm, type EvmCall } from './evm-node.ts'
import { evmOutcome } from './evm-outcome.ts'
import { accountOf, type EvmAccount, feesOf, transactionHash } from './evm-transaction.ts'
import { OTHER_CHAIN, OWN_PAYMENT, shortage, unknownCoin } from './objections.ts'
import { referenceOf, type SignedPayment, type Wallet } from './wallet.ts'

const NATIVE_DECIMALS = 18
export const LANDS_WITHIN_SECONDS = 60
/** The recipient may be a contract, as every token is. The payer pays for the gas that it uses. */
export const MAX_GAS = 1_000_000n
/** Nodes accept a replacement transaction only if it offers at least a tenth more. */
const replacing = (fee: bigint) => (fee * 9n) / 8n + 1n

/** A wallet of a private key or of a viem account that can sign transactions. */
export function evmWallet({ rpcUrl, account }: { rpcUrl: string; account: Hex | EvmAccount }): Wallet {
  const owner = typeof account === 'string' ? accountOf(account) : account
  const node = connectEvm(rpcUrl)

  /** The transaction with its gas limit and fees. */
  async function priced(leg: PaymentLeg) {
    const call = evmTransfer(leg)
    const [gas, fees] = await Promise.all([node.gas(owner.address, call), node.fees()])
    if (gas > MAX_GAS) throw new RangeError(`the payment would use ${gas} gas, far more than a transfer`)
    return { ...call, gas, ...fees }
  }

  async function signWith(leg: PaymentLeg, nonce: number | null, floor: Floor, maxFee: bigint | undefined) {
    const [chainId, block, nextNonce, call] = await Promise.all([
      node.chainId(),
      node.blockNumber(),
      node.nonce(owner.address, 'pending'),
      priced(leg).catch(refused),
    ])
    if (leg.network !== `eip155:${chainId}`) throw new PaymentError('not_moved', `${owner.address} ${OTHER_CHAIN}`)
    const offer = raised(call, floor)
    const most = maxFee === undefined ? offer.maxFeePerGas : maxFee / call.gas
    // Below the margin of fees above the base fee it would wait, perhaps until the quote has expired.
    if (most * 12n < offer.maxFeePerGas * 10n || most < floor.maxFeePerGas)
      throw new PaymentError('not_moved', 'the network charges more than was approved: try again')
    const request = {
      ...call,
      type: 'eip1559',
      chainId: Number(chainId),
      nonce: nonce ?? nextNonce,
      // The network's fee may have risen a little since it was approved.
      maxFeePerGas: smaller(offer.maxFeePerGas, most),
      maxPriorityFeePerGas: smaller(offer.maxPriorityFeePerGas, most),
    } as const
    const raw = await owner.signTransaction(request)
    return { tx: transactionHash(raw), raw, life: { nonce: String(request.nonce), block: String(block) } }
  }

  return {
    namespace: 'eip155',
    address: owner.address.toLowerCase(),
    isLocal: isPrivateHost(rpcUrl),
    landsWithin: LANDS_WITHIN_SECONDS,

    async objection(leg) {
      const { network, asset, amount, payTo } = leg
      const status = Promise.all([node.chainId(), node.balance(owner.address)])
      const [chainId, coins] = await status.catch(unreachable)
      if (network !== `eip155:${chainId}`) return OTHER_CHAIN
      if (payTo.toLowerCase() === owner.address.toLowerCase()) return OWN_PAYMENT
      if (asset === ZERO_ADDRESS) return objectionToCoin(leg, coins)
      const { symbol, decimals, balance } = await node.token(asset, owner.address).catch(refused)
      const { extra } = leg
      if (symbol !== extra.name || decimals !== extra.decimals)
        return `is asked for ${extra.name} with ${extra.decimals} decimals, but ${asset} is ${symbol} with ${decimals}`
      const missing = shortage(symbol, decimals, BigInt(amount), balance)
      return missing ?? shortage("of the network's coin", NATIVE_DECIMALS, await feeOf(leg), coins)
    },

    async fee(leg, instead) {
      const call = await priced(leg).catch(refused)
      const { maxFeePerGas } = raised(call, instead ? floorOver(instead) : NO_FLOOR)
      return { amount: call.gas * maxFeePerGas, ticker: coinOf(leg), decimals: NATIVE_DECIMALS }
    },

    sign: (leg, maxFee) => signWith(leg, null, NO_FLOOR, maxFee),

    /** Signs with the same nonce: only one of the two transactions can land. */
    signInstead: (of, leg, maxFee) => signWith(leg, Number(of.life.nonce), floorOver(of), maxFee),

    send: ({ raw }) => node.send(raw),
    outcomeOf: (payment) => evmOutcome(node, owner.address, payment),
  }

  /** The URL of a node often contains an access key, so the error names only its host. */
  function unreachable(cause: unknown): never {
    throw new PaymentError('not_moved', `the EVM node at ${new URL(rpcUrl).host} does not answer`, { cause })
  }

  async function objectionToCoin(leg: PaymentLeg, coins: bigint): Promise<string | null> {
    const { name } = leg.extra
    const amount = BigInt(leg.amount)
    const objection = unknownCoin(leg) ?? shortage(name, NATIVE_DECIMALS, amount, coins)
    return objection ?? shortage(name, NATIVE_DECIMALS, amount + (await feeOf(leg)), coins)
  }

  async function feeOf(leg: PaymentLeg): Promise<bigint> {
    const { gas, maxFeePerGas } = await priced(leg).catch(refused)
    return gas * maxFeePerGas
  }
}

interface Fees {
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** The minimum fees that a transaction must offer. */
type Floor = Fees
const NO_FLOOR: Floor = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }

function floorOver({ raw }: SignedPayment): Floor {
  const { maxFeePerGas, maxPriorityFeePerGas } = feesOf(raw)
  return { maxFeePerGas: replacing(maxFeePerGas), maxPriorityFeePerGas: replacing(maxPriorityFeePerGas) }
}

function raised(fees: Fees, floor: Floor): Fees {
  return {
    maxFeePerGas: larger(fees.maxFeePerGas, floor.maxFeePerGas),
    maxPriorityFeePerGas: larger(fees.maxPriorityFeePerGas, floor.maxPriorityFeePerGas),
  }
}

function coinOf({ network }: PaymentLeg): string {
  return knownAsset({ network, asset: ZERO_ADDRESS })?.ticker ?? "of the network's coin"
}

/** The call that pays a leg. Wallets that cannot sign without sending use it too. */
export function evmTransfer(leg: PaymentLeg): EvmCall {
  const { asset, amount, payTo } = leg
  const reference = hexOf(utf8(referenceOf(leg)))
  const value = BigInt(amount)
  if (asset === ZERO_ADDRESS) return { to: payTo as Hex, value, data: reference }
  return { to: asset as Hex, value: 0n, data: `${transfer(payTo, value)}${reference.slice(2)}` as Hex }
}

function refused(cause: unknown): never {
  throw new PaymentError('not_moved', `the payment cannot be made: ${(cause as Error).message}`, { cause })
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
