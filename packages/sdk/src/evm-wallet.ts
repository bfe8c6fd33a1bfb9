// Pays on an EVM chain: its coin or ERC-20 tokens, with the quote's id behind the calldata.

import type { PaymentLeg } from '@svc/api/quote'
import {
  type Address,
  concat,
  createPublicClient,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  keccak256,
  type LocalAccount,
  parseTransaction,
  stringToHex,
  zeroAddress,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { PaymentError } from './errors.ts'
import { evmFate } from './wallets/evm-fate.ts'
import { evmToken } from './wallets/evm-token.ts'
import { OTHER_CHAIN, shortage, strangeCoin } from './wallets/objections.ts'
import { isPrivateHost } from './wallets/private-host.ts'
import type { Wallet } from './wallets/wallet.ts'

const NATIVE_DECIMALS = 18
const LANDS_WITHIN_SECONDS = 60
/** Nodes take a second transaction of one nonce only for at least a tenth more. */
const replacing = (fee: bigint) => (fee * 9n) / 8n + 1n

/** Of a private key in hand, or a viem account that can sign transactions. */
export function evmWallet({ rpcUrl, account }: { rpcUrl: string; account: Hex | LocalAccount }): Wallet {
  const owner = typeof account === 'string' ? privateKeyToAccount(account) : account
  // Questions of one moment go out together, and one node answers them all.
  const node = createPublicClient({ transport: http(rpcUrl, { batch: true }), cacheTime: 0 })

  /** With all that it may cost. */
  async function priced(leg: PaymentLeg) {
    const call = evmTransfer(leg)
    const [gas, { maxFeePerGas, maxPriorityFeePerGas }] = await Promise.all([
      node.estimateGas({ account: owner.address, ...call }),
      node.estimateFeesPerGas(),
    ])
    return { ...call, gas, maxFeePerGas, maxPriorityFeePerGas }
  }

  async function signWith(leg: PaymentLeg, nonce: number | null, floor: { max: bigint; priority: bigint }) {
    const [chainId, block, nextNonce, call] = await Promise.all([
      node.getChainId(),
      node.getBlockNumber(),
      node.getTransactionCount({ address: owner.address, blockTag: 'pending' }),
      priced(leg).catch(refused),
    ])
    const request = {
      ...call,
      type: 'eip1559',
      chainId,
      nonce: nonce ?? nextNonce,
      maxFeePerGas: larger(call.maxFeePerGas, floor.max),
      maxPriorityFeePerGas: larger(call.maxPriorityFeePerGas, floor.priority),
    } as const
    const raw = await owner.signTransaction(request)
    return { tx: keccak256(raw), raw, life: { nonce: String(request.nonce), block: String(block) } }
  }

  return {
    namespace: 'eip155',
    address: owner.address.toLowerCase(),
    isLocal: isPrivateHost(rpcUrl),
    landsWithin: LANDS_WITHIN_SECONDS,

    async objection(leg) {
      const { network, asset, amount } = leg
      const standing = Promise.all([node.getChainId(), node.getBalance({ address: owner.address })])
      const [chainId, coins] = await standing.catch(silent)
      if (network !== `eip155:${chainId}`) return OTHER_CHAIN
      if (asset === zeroAddress) return objectionToCoin(leg, coins)
      const { symbol, decimals, held } = await evmToken(node, asset as Address, owner.address).catch(refused)
      const { extra } = leg
      if (symbol !== extra.name || decimals !== extra.decimals)
        return `is asked for ${extra.name} with ${extra.decimals} decimals, but ${asset} is ${symbol} with ${decimals}`
      const missing = shortage(symbol, decimals, BigInt(amount), held)
      return missing ?? shortage("of the network's coin", NATIVE_DECIMALS, await feeOf(leg), coins)
    },

    sign: (leg) => signWith(leg, null, { max: 0n, priority: 0n }),

    /** Of two transactions with one nonce, one can land. */
    signInstead(of, leg) {
      const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = parseTransaction(of.raw as Hex)
      const floor = { max: replacing(maxFeePerGas), priority: replacing(maxPriorityFeePerGas) }
      return signWith(leg, Number(of.life.nonce), floor)
    },

    async send({ raw }) {
      await node.sendRawTransaction({ serializedTransaction: raw as Hex })
    },

    fateOf: (payment) => evmFate(node, owner.address, payment),
  }

  /** Addresses of nodes often hold an access key: only the host is told. */
  function silent(cause: unknown): never {
    throw new PaymentError('not_moved', `the EVM node at ${new URL(rpcUrl).host} does not answer`, { cause })
  }

  async function objectionToCoin(leg: PaymentLeg, coins: bigint): Promise<string | null> {
    const { name } = leg.extra
    const amount = BigInt(leg.amount)
    const objection = strangeCoin(leg) ?? shortage(name, NATIVE_DECIMALS, amount, coins)
    return objection ?? shortage(name, NATIVE_DECIMALS, amount + (await feeOf(leg)), coins)
  }

  async function feeOf(leg: PaymentLeg): Promise<bigint> {
    const { gas, maxFeePerGas } = await priced(leg).catch(refused)
    return gas * maxFeePerGas
  }
}

/** The call that pays a leg; also for wallets that will only send it themselves. */
export function evmTransfer({ asset, amount, payTo, extra }: PaymentLeg): { to: Address; value: bigint; data: Hex } {
  const reference = stringToHex(extra.pay_req_id)
  const value = BigInt(amount)
  if (asset === zeroAddress) return { to: payTo as Address, value, data: reference }
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [payTo as Address, value] })
  return { to: asset as Address, value: 0n, data: concat([transfer, reference]) }
}

function refused(cause: unknown): never {
  const why = (cause as { shortMessage?: string }).shortMessage ?? String(cause)
  throw new PaymentError('not_moved', `the payment cannot be made: ${why}`, { cause })
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
