// The call that pays a leg on an EVM chain, and the check that a signed transaction makes it.

import { type EvmNetwork, NATIVE_ASSETS } from '@svc/api/networks'
import { paymentReference } from '@svc/protocol/ids'
import {
  concat,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  type Signature,
  serializeTransaction,
  stringToHex,
  type TransactionSerializable,
  type TransactionSerialized,
} from 'viem'
import { type InspectedPayment, other, type PayableLeg } from '../payer-node.ts'

export interface TransferCall {
  to: Hex
  value: bigint
  data: Hex
}

/** The reference of the quote follows the calldata. Hex is in lower case. */
export function transferCall({ asset, payTo, amount, payReqId }: PayableLeg): TransferCall {
  const recipient = payTo.toLowerCase() as Hex // an address, as every leg of this chain has
  const reference = stringToHex(paymentReference(payReqId))
  if (asset === NATIVE_ASSETS.evm) return { to: recipient, value: amount, data: reference }
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [recipient, amount] })
  return { to: asset.toLowerCase() as Hex, value: 0n, data: concat([transfer, reference]) }
}

/** Types that only make their one call. Others carry blobs, or let accounts act as contracts. */
const PLAIN_TYPES: readonly string[] = ['legacy', 'eip2930', 'eip1559']

/** All legs must be of the network. */
export async function inspectEvmPayment(
  network: EvmNetwork,
  transaction: string,
  legs: readonly PayableLeg[],
): Promise<InspectedPayment> {
  const raw = transaction.toLowerCase() as Hex // judged by the parser
  const parsed = parse(raw)
  if (!parsed) return { outcome: 'malformed' }
  const { type, chainId, to, value = 0n, data = '0x' } = parsed
  if (!PLAIN_TYPES.includes(type ?? '')) return other('it does more than pay')
  if (chainId !== network.chainId) return other(`it is not for chain ${network.chainId}`)
  if (!(await isSigned(raw))) return other('it is not signed')
  const calls = legs.map(transferCall)
  const isPayment = calls.some((call) => call.to === to?.toLowerCase() && call.value === value && call.data === data)
  if (!isPayment)
    return other('it does not pay the quoted amount to the quoted address with the reference of the quote')
  return { outcome: 'payment', tx: keccak256(raw), raw }
}

/** The library ignores bytes after a transaction, and zeros before its numbers: no chain accepts those. */
function parse(raw: Hex) {
  try {
    const transaction = parseTransaction(raw)
    const { r, s, v, yParity, ...unsigned } = transaction
    const signature = { r, s, v, yParity } as Signature // as it was read
    return serializeTransaction(unsigned as TransactionSerializable, signature) === raw ? transaction : null
  } catch {
    return null
  }
}

function isSigned(raw: Hex): Promise<boolean> {
  return recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized }).then(
    () => true,
    () => false,
  )
}
