import { NATIVE_ASSETS } from '@svc/api/networks'
import type { Hex } from 'viem'
import type { Destination } from '../payment.ts'
import { AUTHORIZATION_USED, authorizationId } from './authorizations.ts'
import type { Log, Receipt, Transaction } from './rpc-answers.ts'

/** keccak256('Transfer(address,address,uint256)') */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

interface Arrival {
  received: bigint
  /** All accounts that paid some of it. */
  sources: readonly string[]
  /** The ids of the authorizations that paid some of it. */
  authorizations: readonly string[]
}

export function arrivalOf(receipt: Receipt, transaction: Transaction, destination: Destination): Arrival {
  const asset = destination.asset.toLowerCase()
  const payTo = destination.payTo.toLowerCase()
  if (asset === NATIVE_ASSETS.evm) return nativeArrival(transaction, payTo)
  const logs = receipt.logs.filter((log) => log.address === asset && !log.removed)
  const authorized = logs.flatMap((log, i) => readAuthorized(log, logs[i + 1], payTo))
  if (destination.authorization === undefined) return tokenArrival(logs, payTo, authorized)
  return authorizedArrival(authorized, destination.authorization)
}

/** Coins that a contract forwards do not count: neither the transaction nor a log shows them. */
function nativeArrival({ from, to, value }: Transaction, payTo: string): Arrival {
  return { received: to === payTo ? value : 0n, sources: [from], authorizations: [] }
}

/**
 * The payer is the owner of the tokens, not the sender of the transaction: relays send signed authorizations (AMB-75).
 */
function tokenArrival(logs: readonly Log[], payTo: string, authorized: readonly Authorized[]): Arrival {
  const transfers = logs.flatMap(readTransfer)
  const sum = (moved: readonly Transfer[]) => moved.reduce((total, { value }) => total + value, 0n)
  const incoming = transfers.filter((transfer) => reaches(transfer, payTo))
  const outgoing = transfers.filter(({ from, to }) => from === payTo && to !== payTo)
  return {
    received: sum(incoming) - sum(outgoing),
    sources: [...new Set(incoming.map(({ from }) => from))],
    authorizations: authorized.map(({ id }) => id),
  }
}

/** Ignores other payments in the same transaction (T-46). */
function authorizedArrival(authorized: readonly Authorized[], wanted: string): Arrival {
  const own = authorized.filter(({ id }) => id === wanted)
  return {
    received: own.reduce((total, { value }) => total + value, 0n),
    sources: [...new Set(own.map(({ from }) => from))],
    authorizations: [...new Set(own.map(({ id }) => id))],
  }
}

interface Transfer {
  from: string
  to: string
  value: bigint
}

interface Authorized extends Transfer {
  id: string
}

/** Anyone can make a transfer of zero in any name. */
function reaches({ from, to, value }: Transfer, payTo: string): boolean {
  return to === payTo && from !== payTo && value > 0n
}

/** The transfer of an authorization, if `next` is that transfer. */
function readAuthorized({ topics }: Log, next: Log | undefined, payTo: string): Authorized[] {
  const [event, authorizer, nonce] = topics
  if (event !== AUTHORIZATION_USED || !authorizer || !nonce || !next) return []
  const from = addressIn(authorizer)
  return readTransfer(next)
    .filter((transfer) => transfer.from === from && reaches(transfer, payTo))
    .map((transfer) => ({ ...transfer, id: authorizationId({ from, nonce }) }))
}

/** Tokens without amounts (ERC-721) have an event of the same name without data. */
function readTransfer({ topics, data }: Log): Transfer[] {
  const [event, from, to] = topics
  if (event !== TRANSFER || !from || !to || data.length !== 66) return []
  return [{ from: addressIn(from), to: addressIn(to), value: BigInt(data) }]
}

function addressIn(topic: Hex): string {
  return `0x${topic.slice(-40)}`
}
