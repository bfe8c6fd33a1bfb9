import type { Log, Receipt, Transaction } from '@svc/chains/evm/rpc-answers'
import type { Hex } from 'viem'
import { EVM } from '../networks.ts'
import type { Destination } from '../payment.ts'

/** keccak256('Transfer(address,address,uint256)') */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

interface Arrival {
  received: bigint
  /** Everybody it came from. */
  sources: readonly string[]
}

export function arrivalOf(receipt: Receipt, transaction: Transaction, destination: Destination): Arrival {
  const asset = destination.asset.toLowerCase()
  const payTo = destination.payTo.toLowerCase()
  return asset === EVM.nativeAsset ? nativeArrival(transaction, payTo) : tokenArrival(receipt.logs, asset, payTo)
}

/** What a contract passes on does not count: neither the transaction nor a log shows it. */
function nativeArrival({ from, to, value }: Transaction, payTo: string): Arrival {
  return { received: to === payTo ? value : 0n, sources: [from] }
}

/** The payer is the owner of the tokens, not the sender of the transaction: relays send signed authorizations (AMB-75). */
function tokenArrival(logs: readonly Log[], asset: string, payTo: string): Arrival {
  const transfers = logs.filter((log) => log.address === asset && !log.removed).flatMap(readTransfer)
  const sum = (moved: readonly Transfer[]) => moved.reduce((total, { value }) => total + value, 0n)
  // Anybody can make a transfer of zero in any name.
  const incoming = transfers.filter(({ from, to, value }) => to === payTo && from !== payTo && value > 0n)
  const outgoing = transfers.filter(({ from, to }) => from === payTo && to !== payTo)
  return { received: sum(incoming) - sum(outgoing), sources: [...new Set(incoming.map(({ from }) => from))] }
}

interface Transfer {
  from: string
  to: string
  value: bigint
}

/** Tokens without amounts (ERC-721) have an event of the same name, without data. */
function readTransfer({ topics, data }: Log): Transfer[] {
  const [event, from, to] = topics
  if (event !== TRANSFER || !from || !to || data.length !== 66) return []
  return [{ from: addressIn(from), to: addressIn(to), value: BigInt(data) }]
}

function addressIn(topic: Hex): string {
  return `0x${topic.slice(-40)}`
}
